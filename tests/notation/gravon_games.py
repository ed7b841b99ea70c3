"""Games made up for tests, and Gravon's two forms written out."""

from __future__ import annotations

import random
from xml.sax.saxutils import escape, quoteattr

import numpy as np

from stratkit.engine.arbiter import Arbiter
from stratkit.engine.stratego import NO_PIECE, VARIANTS, Position, Variant, free_game
from stratkit.notation.gravon_words import KINDS, REASONS
from stratkit.notation.setups import Setup, field_text
from stratkit.notation.squares import square_text

GSN_WINNERS = {0: 0, 1: 1, None: 2}
XML_WINNERS = {0: 1, 1: 2, None: 3}


def random_setup(variant: Variant, rng: random.Random) -> Setup:
    pieces = [type_ for type_, count in enumerate(variant.counts) for _ in range(count)]
    pieces += [NO_PIECE] * (int(variant.places.sum()) - len(pieces))
    rng.shuffle(pieces)
    setup = np.full(variant.zone, NO_PIECE, np.uint8)
    setup[variant.places] = pieces
    return setup


def free_arbiter(variant: Variant, red: Setup, blue: Setup) -> Arbiter:
    """A game without repetition rules and draw limits, as old logs have them."""
    return Arbiter(free_game(variant.name), Position.of_setups(variant, red, blue))


class MadeUp:
    """A game of random legal moves, with what a log says about it."""

    def __init__(self, kind: str, seed: int, plies: int = 30) -> None:
        rng = random.Random(seed)
        self.kind = kind
        self.variant = VARIANTS[KINDS[kind]]
        self.setups = (random_setup(self.variant, rng), random_setup(self.variant, rng))
        self.players = ("Red <Nick>", 'Blue "vs" & Co')
        self.moves: list[str] = []
        game = free_arbiter(self.variant, *self.setups)
        self.positions = [game.position()]
        while len(self.moves) < plies and not game.ending:
            from_, to = rng.choice(game.legal())
            game.move(from_, to)
            self.moves.append(f"{square_text(from_, 10)}-{square_text(to, 10)}")
            self.positions.append(game.position())
        codes = {"": 4, "flag_captured": 1, "no_legal_move": 0, "no_movable_pieces": 2}
        self.ending, self.winner = codes[game.ending], game.winner
        self.reason = REASONS[self.ending]

    @property
    def field(self) -> str:
        return field_text(self.variant, *self.setups)

    def gsn(self, end: str = "\n", bom: bool = False, version: int = 1) -> bytes:
        red, blue = self.players
        result = f"{red} vs {blue} result {self.ending} winner {GSN_WINNERS[self.winner]}"
        head = [f"#X38FA11 Stratego-Notation v{version}", f"type {list(KINDS).index(self.kind)}"]
        lines = [*head, self.field, *self.moves, "END", result]
        return b"\xef\xbb\xbf" * bom + "".join(line + end for line in lines).encode()

    def xml(self) -> bytes:
        lines = ['<?xml version="1.0" encoding="UTF-8"?>', "<stratego>"]
        lines += [f" <game type={quoteattr(self.kind)}>", f'  <field content="{self.field}"/>']
        for number, move in enumerate(self.moves, 1):
            source, target = move.split("-")
            lines.append(f'  <move id="{number}" source="{source}" target="{target}"/>')
        lines += [f'  <player id="{n}">{escape(p)}</player>' for n, p in enumerate(self.players, 1)]
        winner = XML_WINNERS[self.winner]
        lines.append(f'  <result type="{self.ending}" winner="{winner}"/>')
        return "\n".join([*lines, " </game>", "</stratego>", ""]).encode()
