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

import numpy as np
import pytest

from slow_stratego import SlowGame
from stratkit.engine import Batch, Game
from stratkit.engine.stratego import Position, Variant, legal_moves
from stratkit.notation.fenfs import parse_fenfs, position
from stratkit.notation.squares import parse_move

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


class Stage:
    """One game, in the engine and in the slow twin."""

    def __init__(self, start: Position, rules: dict[str, int]) -> None:
        self.variant: Variant = start.variant
        game = Game(start.variant.name, rules)
        self.batch = Batch(game, 1)
        self.batch.start(0, start.to_bytes())
        self.twin = SlowGame.at(start, rules["two_squares"], bool(rules["more_squares"]))

    def legal(self) -> list[tuple[int, int]]:
        moves = self.twin.moves() if not self.ending() else {}
        expected = [(a, b) for a in moves for b in moves[a]]
        assert legal_moves(self.batch, 0) == expected
        return expected

    def ending(self) -> str:
        name = self.batch.game.endings[self.batch.endings()[0]]
        assert name == self.twin.ending()[0]
        return name

    def play(self, from_: int, to: int) -> None:
        assert (from_, to) in self.legal()
        framed, side = self.twin.framed, self.twin.side
        for square in (from_, to):
            self.batch.apply(np.array([framed(side, square)], np.int32))
        self.twin.play(from_, to)

    def legal_without_rules(self) -> list[tuple[int, int]]:
        return Position.from_bytes(self.variant, self.batch.save(0)).legal()


def perform(scene: Scene) -> dict[str, int]:
    """Plays a scene; returns how often each word occurred."""
    words = {line[0]: line[1:] for line in scene.lines}
    start = position(parse_fenfs(" ".join(words["position"])))
    rules = USUAL | {k: int(v) for k, v in (word.split("=") for word in words.get("rules", []))}
    stage = Stage(start, rules)
    told = dict.fromkeys(("play", "allowed", "forbidden", "ends"), 0)
    for word, *arguments in scene.lines:
        if word in ("position", "rules"):
            continue
        told[word] += 1
        if word == "ends":
            assert stage.ending() == arguments[0]
            continue
        for text in arguments:
            move = parse_move(text, stage.variant.width, stage.variant.height)
            if word == "play":
                stage.play(*move)
            elif word == "allowed":
                assert move in stage.legal(), text
            else:
                assert move not in stage.legal(), text
                assert move in stage.legal_without_rules(), f"{text} is illegal in any case"
    return told


@pytest.mark.parametrize("scene", scenes(), ids=lambda scene: scene.name)
def test_scene(scene: Scene) -> None:
    assert scene.title, "a scene says what it shows"
    told = perform(scene)
    assert told["play"] and told["allowed"] + told["forbidden"] + told["ends"]


def test_there_are_scenes_of_both_rules() -> None:
    names = [scene.name.rpartition("-")[0] for scene in scenes()]
    assert names.count("two_squares") >= 15 and names.count("more_squares") >= 15
