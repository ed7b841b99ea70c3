"""From files of game records to a report."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from stratkit.errors import InputError, Say, UsageError, counted, named, nearest_or_all
from stratkit.rating.bootstrap import Ratings, rate
from stratkit.rating.distinct import distinct_text
from stratkit.rating.elo import DavidsonModel, sequential
from stratkit.rating.groups import check_linked, linked
from stratkit.rating.options import RateOptions
from stratkit.rating.pool import Pool
from stratkit.rating.reading import PoolReader, warn_of_denied, warn_of_repeats
from stratkit.rating.report import RatingOptions, RatingReport, report
from stratkit.rating.selection import new_names, renamed, selected
from stratkit.storage.identities import CommonRules
from stratkit.storage.records import GameRecord, RecordHeader
from stratkit.storage.streams import input_name, open_plain

MANY = 300  # players whose intervals take long
Wrong = Callable[[RecordHeader, GameRecord], str]


def run_rating(
    options: RateOptions, warn: Say, say: Say, wrong: Wrong = lambda header, record: ""
) -> tuple[RatingReport, Mapping[str, str]]:
    """The report on the games that `options` name and choose, and the new names of players.

    `wrong` says why a record cannot be right ("": it can), beside what contradicts itself.
    Warnings and remarks go to `warn` and `say`. Raises `InputError` for files that are no game
    records or do not belong together, `UsageError` for players that are not there, `CheckFailed`
    when the games do not determine the ratings.
    """
    pool, rules, names = _chosen(options, warn, say, wrong)
    how = RatingOptions(
        rules.game,
        options.anchors_among(pool.names),
        options.intervals == "mean" or not options.anchors,
        options.prior,
        options.k if options.method == "elo" else None,
        options.confidence,
        tuple(sorted(rules.differing)),
    )
    name = options.versus
    if name is not None and name not in pool.names:
        raise UsageError(
            f"--versus: no player is called {name!r}{nearest_or_all(name, pool.names)}"
        )
    _tell_if_many(pool, how, say)
    return report(pool, _ratings(pool, how, options), how), names


def _chosen(
    options: RateOptions, warn: Say, say: Say, wrong: Wrong
) -> tuple[Pool, CommonRules, Mapping[str, str]]:
    """The chosen games, what game and rules they are of, and the new names of players."""
    reader = PoolReader(warn, options.mixed_rules, wrong, options.by_day)
    for path in options.games:
        with open_plain(path) as stream:
            reader.read(stream, input_name(path))
    warn_of_denied(reader.denied, warn)
    pool = reader.finish()
    warn_of_repeats(reader.repeated, reader.differing, warn)
    if reader.alike:
        note = warn if reader.left_out else say
        note(distinct_text(len(pool) + reader.left_out, reader.alike, reader.left_out))
    if reader.adjudicated:
        warn(f"{counted(reader.adjudicated, 'game')} not played out but adjudicated")
    names = new_names(pool, options.rename)
    if options.rename:
        pool, itself = renamed(pool, options.rename)
        if itself:
            warn(f"left out: {counted(itself, 'game')} between players who are one now")
    pool, too_few = selected(pool, options.include, options.exclude, options.least_games)
    if too_few:
        names_left = ", ".join(map(named, too_few))
        say(f"left out, with fewer than {options.least_games} games: {names_left}")
    if not len(pool):
        raise InputError("no games are left to rate")
    return pool, reader.rules, names


def _tell_if_many(pool: Pool, how: RatingOptions, say: Say) -> None:
    """Says that intervals will take long: nothing is printed before all are there."""
    if how.k is not None:  # there are no intervals
        return
    most = max(map(len, linked(pool, [anchor.player for anchor in how.anchors])))
    if most > MANY:
        what = f"{most} players are compared with each other: their intervals take minutes or hours"
        say(f"rate: {what}; --least-games leaves out those of few games")


def _ratings(pool: Pool, how: RatingOptions, options: RateOptions) -> Ratings:
    if how.k is None:
        model = DavidsonModel(options.first_move, options.draws, how.anchors, how.prior)
        return rate(pool, model, how.confidence, how.to_mean)
    check_linked(pool, remedy="--include rates some players alone")
    elo = sequential(pool, how.k)
    for anchor in how.anchors:
        elo += anchor.elo - elo[anchor.player]
    return Ratings(elo)
