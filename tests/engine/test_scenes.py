"""Scenes for every sentence of the repetition rules, played in the engine and in the slow twin.

The scenes are in scenes/*.txt, separated by empty lines. A scene is a comment, which says what the
rule says, and then:

    position FENFS            where it begins; the board tells the variant
    rules two_squares=5 ...   if they are not the usual ones (two_squares=3 more_squares=1)
    play C2C3 D6D5 ...        moves; `play` and the lines below may follow each other in any order
    allowed C3C4 ...          these moves are legal now
    forbidden C3C2 ...        these are not, and it is a repetition rule that forbids them
    ends no_legal_move        the game is over
"""

from __future__ import annotations

import pathlib
from dataclasses import dataclass, field

import pytest

from stratkit.engine.stratego import Position
from stratkit.notation.fenfs import parse_fenfs, position
from stratkit.notation.squares import parse_move
from twins import Twins

FOLDER = pathlib.Path(__file__).parent / "scenes"
USUAL = {"two_squares": 3, "more_squares": 1}


@dataclass
class Scene:
    name: str
    title: str
    lines: list[list[str]] = field(default_factory=list)


def scenes() -> list[Scene]:
    found = []
    for path in sorted(FOLDER.glob("*.txt")):
        for number, paragraph in enumerate(path.read_text().strip().split("\n\n")):
            lines = paragraph.splitlines()
            title = " ".join(line.strip("# ") for line in lines if line.startswith("#"))
            words = [line.split() for line in lines if not line.startswith("#")]
            if words:  # the file's own heading has none
                found.append(Scene(f"{path.stem}-{number}", title, words))
    return found


def is_legal_without_rules(twins: Twins, move: tuple[int, int]) -> bool:
    return move in Position.from_bytes(twins.slow.variant, twins.batch.save(0)).legal()


def perform(scene: Scene) -> dict[str, int]:
    """Plays a scene; returns how often each word occurred."""
    words = {line[0]: line[1:] for line in scene.lines}
    start = position(parse_fenfs(" ".join(words["position"])))
    rules = USUAL | {k: int(v) for k, v in (word.split("=") for word in words.get("rules", []))}
    twins = Twins(start.variant.name, rules, start)
    told = dict.fromkeys(("play", "allowed", "forbidden", "ends"), 0)
    for word, *arguments in scene.lines:
        if word in ("position", "rules"):
            continue
        told[word] += 1
        running = twins.compare()
        if word == "ends":
            assert not running and [twins.slow.ending()[0]] == arguments
            continue
        for text in arguments:
            move = parse_move(text, start.variant.width, start.variant.height)
            legal = move in twins.moves()
            if word == "forbidden":
                assert not legal, text
                assert is_legal_without_rules(twins, move), f"{text} is illegal in any case"
            else:
                assert legal, text
            if word == "play":
                twins.ply(*move)
                twins.compare()
    return told


@pytest.mark.parametrize("scene", scenes(), ids=lambda scene: scene.name)
def test_scene(scene: Scene) -> None:
    assert scene.title, "a scene says what it shows"
    told = perform(scene)
    assert told["play"] and told["allowed"] + told["forbidden"] + told["ends"]


def test_there_are_scenes_of_both_rules() -> None:
    names = [scene.name.rpartition("-")[0] for scene in scenes()]
    assert names.count("two_squares") >= 15 and names.count("more_squares") >= 15
