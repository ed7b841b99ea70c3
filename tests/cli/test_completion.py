"""What the shells ask at a Tab, in click's words, and what they are answered."""

from __future__ import annotations

import pytest

from running import COMMANDS, Done, run
from stratkit.cli.options import GAMES
from stratkit.engine import game_names


def asked(shell: str, words: str, last: str) -> list[str]:
    """The lines of the answer to the words of a command line of which `last` is not complete."""
    name, *before = words.split()
    count = str(len(before) + 1) if shell != "fish" else last
    line = f"{words} {last}"
    done = completing(name, f"{shell}_complete", COMP_WORDS=line, COMP_CWORD=count)
    assert (done.status, done.err) == (0, "")
    return done.out.splitlines()


def completing(name: str, what: str, **environment: str) -> Done:
    variable = f"_{name}_COMPLETE".upper().replace("-", "_")
    # Loading numpy would take longer than a person waits for a Tab.
    done = run(name, fresh=True, **environment, **{variable: what}, PYTHONPROFILEIMPORTTIME="1")
    times = done.err.splitlines()
    loaded = {line.rpartition("|")[2].strip() for line in times if line.startswith("import time:")}
    assert not loaded & {"numpy", "torch", "cffi", "zstandard", "msgspec", "matplotlib", "tqdm"}
    rest = [line for line in times if not line.startswith("import time:")]
    return Done(done.status, done.data, "\n".join(rest))


@pytest.mark.parametrize("name", COMMANDS)
def test_options_are_completed(name: str) -> None:
    assert asked("bash", name, "--hel") == ["plain,--help"]


@pytest.mark.parametrize(
    ("words", "last", "offered"),
    [
        ("selfplay --game", "m", ["plain,mini", "plain,micro"]),
        ("selfplay --game mini --setups", "a", ["file,a"]),
        ("selfplay --game mini --policy", "", ["file,", "plain,random", "plain,heuristic"]),
        ("deploy-gen --game mini --from", "m", ["file,m", "plain,model:"]),
        (
            "deploy-gen --game mini --from",
            "b",
            ["file,b", "plain,barrage", "plain,barrage-easy"],
        ),
        ("deploy-gen --game mini --from", "d", ["file,d"]),  # dice-v1 places no pieces
        ("exploit", "k", ["plain,kuhn"]),
        ("exploit kuhn", "r", ["file,r", "plain,random"]),
        ("exploit kuhn", "un", ["file,un", "plain,uniform"]),
        ("train --net", "p", ["plain,plain", "plain,paper", "plain,pbs"]),
        ("match random", "h", ["file,h", "plain,heuristic", "plain,human", "plain,hands="]),
        ("match random", "net=online,me", ["file,net=online,me", "plain,net=online,memory="]),
        ("rate", "games", ["file,games"]),
        ("stratkit export", "cl", ["file,cl", "plain,classic", "plain,classic-easy"]),
        ("rate --table", "m", ["plain,meetings"]),
        ("fenfs convert --result red", "--t", ["plain,--to"]),
        ("fenfs check", "x", ["file,x"]),
    ],
)
def test_words_and_files_are_completed(words: str, last: str, offered: list[str]) -> None:
    assert asked("bash", words, last) == offered


def test_other_shells() -> None:
    assert asked("zsh", "match random", "he") == ["file", "he", "_", "plain", "heuristic", "_"]
    assert asked("fish", "match random", "he") == ["file,he", "plain,heuristic"]
    assert completing("match", "zsh_source").out.startswith("#compdef match\n")
    assert (
        "complete --no-files --command deploy-gen " in completing("deploy-gen", "fish_source").out
    )


def test_the_games_that_are_offered_are_those_of_the_engine() -> None:
    assert [name for name in game_names() if not name.endswith(":")] == list(GAMES)
