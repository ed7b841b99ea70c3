"""What an error offers instead of a word that is wrong."""

from __future__ import annotations

import pytest

from running import click_command, here
from stratkit.engine import game_names
from stratkit.errors import FEW, SYNONYMS, nearest, nearest_or_all
from stratkit.learn.algorithm_kinds import ALGORITHMS
from stratkit.models.shipped import SHIPPED
from stratkit.netnames import NETS

OPTIONS = ["-n", "--seed", "--lr", "--batch", "--target-rate", "--steps", "--no-wait", "--device"]


@pytest.mark.parametrize(
    ("word", "choices", "meant"),
    [
        ("chek", ["check", "convert"], "check"),
        ("kunh", game_names(), "kuhn"),
        ("Barrage", game_names(), "barrage"),
        ("nte", ["name", "net"], "net"),
        ("--sede", OPTIONS, "--seed"),
        ("--target_rate", OPTIONS, "--target-rate"),
        ("--learning-rate", OPTIONS, "--lr"),
        ("learning_rate", ["target_rate", "lr"], "lr"),
        ("--games", OPTIONS, "-n"),
        ("--gpu", OPTIONS, "--device"),
        ("gpu", ["cpu", "cuda"], "cuda"),
        ("stratego", game_names(), "classic"),
        ("moves", ["check", "convert", "legal", "show"], "legal"),
    ],
)
def test_what_is_near_is_offered(word: str, choices: list[str], meant: str) -> None:
    assert nearest(word, choices) == f" (did you mean {meant!r}?)" == nearest_or_all(word, choices)


@pytest.mark.parametrize(
    ("word", "choices"),
    [
        ("resnet", NETS),
        ("nobody", ["bot.py", "random"]),
        ("target", ["online", "average"]),
        ("chess", game_names()),
        ("dqn", ALGORITHMS),
    ],
)
def test_what_is_not_near_is_not_offered_but_few_words_are_listed(
    word: str, choices: list[str]
) -> None:
    assert nearest(word, choices) == ""
    assert nearest_or_all(word, choices) == f": choose one of {', '.join(choices)}"


def test_many_words_are_not_listed() -> None:
    many = [f"player{i:03}" for i in range(FEW + 1)]
    assert nearest_or_all("x", many) == nearest_or_all("x", []) == ""
    assert nearest_or_all("x", many[1:]).endswith(f", player{FEW:03}")


def test_every_synonym_is_one_of_a_word_that_exists() -> None:
    """Of an option, a subcommand, a game, a network or a word of an option."""
    known = {*game_names(), *SHIPPED, "cuda", *click_command("fenfs").commands}  # type: ignore[attr-defined]
    for name in ("deploy-gen", "match", "rate", "selfplay", "train"):
        names = [word for param in click_command(name).params for word in param.opts]
        known |= {word.strip("-") for word in names}
    known |= {"jobs"}  # of fenfs check
    assert {name for names in SYNONYMS.values() for name in names} <= known
    assert not SYNONYMS.keys() & {*game_names(), "rnad", "mmd", *NETS}


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (
            "train - --out x --learning-rate 3",
            "no such option: --learning-rate (did you mean '--lr'?)",
        ),
        (
            "train - --out x --net rise:13x256",
            "channels come first, and are no fewer than the blocks, "
            "as in rise:256x13: 'rise:13x256'",
        ),
        ("train - --out x --net resnet", "'resnet': choose one of plain, fromto, rise, alphaze, "),
        ("selfplay --game stratego -n 1", "unknown game 'stratego' (did you mean 'classic'?)"),
        ("selfplay --game chess -n 1", "unknown game 'chess': choose one of classic, barrage, "),
        ("fenfs moves", "no such command: moves (did you mean 'legal'?)"),
        ("match random heuristic --games 4", "no such option: --games (did you mean '-n'?)"),
        ("match random fish --game mini -n 2 -o x", "'fish': choose one of random, heuristic, "),
    ],
)
def test_the_commands_offer_it(line: str, said: str) -> None:
    done = here(*line.split())
    assert done.status in (1, 2) and said in done.error_line
