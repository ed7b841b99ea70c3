"""What a player keeps of each of its games, from one of its turns to the next."""

from __future__ import annotations

from dataclasses import dataclass, field

from stratkit.engine.observation import CELLS, PLIES, number
from stratkit.engine.stratego import PIECE
from stratkit.players.side_board import ENEMY, OWN, SideBoard
from stratkit.players.side_history import SideHistory
from stratkit.players.testtime import memory
from stratkit.players.testtime.repeat_threats import Threats

NOBODY = -1


@dataclass
class GameTrack(SideHistory):
    """What is made of a game beside its history.

    pieces    by square: which piece stands there, a number for life
    excluded  by square: bits of the types that memory excludes
    threats   what it has threatened
    """

    pieces: list[int]
    excluded: list[int]
    threats: Threats = field(default_factory=Threats)

    @classmethod
    def begin(cls, plies: int, board: SideBoard) -> GameTrack:
        """A track that knows nothing of what came before."""
        squares = range(len(board.cells))
        return cls(plies, board, list(squares), [0 for _ in squares])

    def look(self, packed: bytes) -> None:
        """The own ply and the enemy's answer, up to this turn."""
        for ply in self.follow(packed):
            self._ply(ply.before, ply.start, ply.end, ply.after)

    def _ply(self, before: SideBoard, start: int, end: int, after: SideBoard) -> None:
        """Takes note of a ply."""
        if before.side(start) == OWN:
            self.threats.note(before, self.pieces, start, end)
        self.excluded = memory.note(self.excluded, before, start, end)
        moved = after.cells[end] & (PIECE | ENEMY) == before.cells[start] & (PIECE | ENEMY)
        if moved:
            self.pieces[end] = self.pieces[start]
        elif not after.cells[end] & PIECE:
            self.pieces[end] = NOBODY
        self.pieces[start] = NOBODY


class Tracker:
    """The games that a player is in the middle of, by game and side, on a board of this size."""

    def __init__(self, width: int, height: int) -> None:
        self.width, self.height = width, height
        self._games: dict[tuple[int, int], GameTrack | None] = {}

    def begin(self, game: int, side: int) -> None:
        """From now on the game is followed."""
        self._games[game, side] = None

    def end(self, game: int, side: int) -> None:
        """Forgets the game."""
        del self._games[game, side]

    def look(self, game: int, side: int, packed: bytes) -> GameTrack:
        """What is known of a game at a turn of play. The track of a game that was not seen at the
        turn before begins here, and that of a game that has not begun is not kept."""
        plies = number(packed, PLIES)
        track = self._games.get((game, side))
        if track is not None and track.plies == plies and track.board.cells == packed[CELLS:]:
            return track
        if track is not None and track.plies == plies - 2:
            track.look(packed)
            return track
        track = GameTrack.begin(plies, SideBoard.of(self.width, self.height, packed))
        if (game, side) in self._games:
            self._games[game, side] = track
        return track
