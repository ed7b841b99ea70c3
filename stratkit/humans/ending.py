"""What a person is shown and told of a game that is over."""

from __future__ import annotations

from collections.abc import Callable

from stratkit.convert.diplomacy import maps, play
from stratkit.convert.games import log_of
from stratkit.convert.raw import RawRecord
from stratkit.engine import Game
from stratkit.games.diplomacy.told import history, standing
from stratkit.games.kit import Notation
from stratkit.games.table import kit_class
from stratkit.humans.choice import told as in_words
from stratkit.humans.lead import go_on_command
from stratkit.humans.session import Ended
from stratkit.notation.play import play_out
from stratkit.notation.replay_page import Shown
from stratkit.players.levels import level_of, suggestion
from stratkit.storage.records import GameRecord, RecordHeader

LAST_PHASES = 5  # of a game, at most a year, that are told when it is over


def result_of(header: RecordHeader, record: GameRecord, me: int | None) -> str:
    """How a game ended, in words: for player number `me`, or for who plays neither side."""
    points, who = record.returns[0 if me is None else record.players.index(me)], "you"
    if len(record.players) > 2:
        return f"game {record.number + 1}: {_shares(header, record, me)} ({record.reason})"
    if me is None:
        winner = record.players[0 if points > 0 else 1]
        who = header.players[winner].name if points else "nobody"
        result = "won"
    else:
        result = "won" if points > 0 else "lost" if points < 0 else "drew"
    # Games of cards, dice and matrices have this ending alone, which says nothing.
    reason = "" if record.reason == "over" else f" ({record.reason.replace('_', ' ')})"
    much = f" {abs(points):g}" if points not in (-1, 0, 1) else ""
    return f"game {record.number + 1}: {who} {result}{much}{reason}"


def _shares(header: RecordHeader, record: GameRecord, me: int | None) -> str:
    """What the seats of player number `me` got in a game of more than two; of all, if None."""
    names = header.powers or tuple(f"seat {at + 1}" for at in range(len(record.players)))
    mine = [at for at, player in enumerate(record.players) if me in (None, player)]
    got = ", ".join(f"{names[at]} {record.returns[at]:.3f}" for at in mine)
    return got if me is None else f"you scored {got}"


def suggester(
    game: str, spec: str, scores: dict[int, list[float]]
) -> Callable[[float, int | None], str | None]:
    """What to try next, after these scores by level and further returns against `spec`, or against
    a level that was chosen."""

    def suggest(points: float, chosen: int | None) -> str | None:
        level = level_of(spec) if chosen is None else chosen
        if level is None:
            return None
        won = scores.setdefault(level, [])
        won.append(1.0 if points > 0 else 0.0 if points < 0 else 0.5)
        return suggestion(level, game, won)

    return suggest


def ended(
    header: RecordHeader,
    record: GameRecord,
    me: int,
    result: str | None = None,
    source: str | None = None,
) -> Ended:
    """What the person, player number `me`, is shown of a game that is over. `result`: how it ended,
    if not in that person's words. `source`: the record that it is in, if that is told."""
    side, told = record.players.index(me), result or result_of(header, record, me)
    if kit_class(header.game).notation is Notation.ORDERS:
        return _in_phases(header, record, side, told)
    if kit_class(header.game).notation is not Notation.LOG:
        actions = [int(action) for action in record.moves.split()]
        words = in_words(Game.stored(header.game, header.rules), actions, side)
        return Ended(record.number, side, told, None, words)
    log = log_of(RawRecord(file=told, header=header, record=record))
    if not log.has_board:
        return Ended(record.number, side, told, None)
    [played] = play_out([(told, log)], boards=True)
    by = go_on_command(source, record.number + 1, header.game) if source else ""
    return Ended(record.number, side, told, Shown(played, told, log.ending, go_on=by))


def _in_phases(header: RecordHeader, record: GameRecord, side: int, result: str) -> Ended:
    """What is shown of a game of Diplomacy that is over: its last year in words, and all maps."""
    played = play(RawRecord(file=result, header=header, record=record))
    *phases, (end, _) = played.phases()
    past = [(position, orders) for position, orders in phases if orders is not None]
    last = history(played.map, past, end)[-LAST_PHASES:]
    news = [line for name, lines in last for line in (f"{name}:", *lines)]
    news += [f"the end of game {record.number + 1}:", *standing(played.map, end)]
    page = maps(played)
    return Ended(record.number, side, result, None, news=news, page=page, pages=len(past))
