"""Do a search's values justify attacks on pieces that are known to be stronger?

    python examples/players/lost_attacks.py PLAYER NAME GAMES.jsonl...

From the records of matches it takes every attack of the player NAME that lost the attacker alone,
as was known. PLAYER, with a search, searches each of these positions again: take more rollouts than
played the games. One line each: the game and ply, q of the attack and of the best other move, with
standard errors, and the network's value. The attack is

    forced      there is no other move
    hopeless    no move brings more than -.9
    justified   it is the best, or nothing is better by more than .1 and two standard errors
    a mistake   else
"""

from collections import Counter

import numpy as np

from stratkit.cli.options import read_player
from stratkit.convert.games import PlayedGame, games
from stratkit.convert.raw import Raw, chunks
from stratkit.errors import InputError
from stratkit.humans.analysis.turns import Turns
from stratkit.notation.attacks import lost_attacks
from stratkit.notation.select import Selection
from stratkit.players.player import Explanation
from stratkit.script import Parser

HOPELESS, DIFFERENCE = -0.9, 0.1  # returns


def judged(turn: Explanation, move: tuple[int, int]) -> tuple[str, str]:
    """What kind of attack this move is, and the figures that say so."""
    if len(turn.moves) == 1:
        return "forced", ""
    found, attack = turn.search, turn.moves.index(move)
    if found is None:
        raise InputError("not a PLAYER with a search")
    q, error = found.q, found.error
    best = max((at for at in range(len(q)) if at != attack), key=lambda at: float(q[at]))
    gain, doubt = q[best] - q[attack], 2 * np.hypot(*np.nan_to_num(error[[best, attack]]))
    if max(q[best], q[attack]) <= HOPELESS:
        kind = "hopeless"
    elif gain > max(DIFFERENCE, doubt):
        kind = "a mistake"
    else:
        kind = "justified"
    figures = [
        f"{name} {q[at]:+.2f}" + (f" +- {error[at]:.2f}" if np.isfinite(error[at]) else "")
        for name, at in (("q", attack), ("best other", best))
    ]
    return kind, ", ".join([*figures, f"value {turn.value:+.2f}"])


def main(player: str, name: str, *records: str) -> None:
    turns, kinds, seen = Turns.by(read_player(player)), Counter[str](), 0
    for chunk in chunks(records):
        for item in chunk:
            if isinstance(item, InputError):
                raise item
        for game in games(
            [item for item in chunk if isinstance(item, Raw)], Selection(), boards=True
        ):
            if isinstance(game, InputError):
                raise game
            if game is not None and name in game.log.players:
                seen += 1
                for kind in looked_at(turns, name, game):
                    kinds[kind] += 1
    if not seen:
        raise InputError("no game of a player of this name", text=name)
    print(", ".join(f"{kinds[kind]} {kind}" for kind in sorted(kinds)) or "none")


def looked_at(turns: Turns, name: str, game: PlayedGame) -> list[str]:
    """The kinds of a game's lost attacks by this player, after a line for each."""
    kinds = []
    for ply in lost_attacks(game.played):
        side = ply % 2
        if game.log.players[side] == name:
            move, framed = game.log.moves[2 * ply : 2 * ply + 2], turns.analyst.variant.framed
            start, end = (int(framed(side, square)) for square in move)
            kind, figures = judged(turns.analyst.explain(turns.at(game.log, ply)), (start, end))
            print(f"{game.raw.name}, ply {ply}: {kind} {figures}", flush=True)
            kinds.append(kind)
    return kinds


if __name__ == "__main__":
    parser = Parser(__doc__)
    parser.add_argument("player", metavar="PLAYER")
    parser.add_argument("name", metavar="NAME")
    parser.add_argument("records", metavar="GAMES.jsonl", nargs="+")
    asked = parser.parse_args()
    with parser.telling():
        main(asked.player, asked.name, *asked.records)
