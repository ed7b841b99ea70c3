"""What `rate` is asked for, and whether it makes sense. Imports no numpy: `--help` needs it."""

from __future__ import annotations

import math
from collections.abc import Sequence, Set
from typing import TYPE_CHECKING

from stratkit.declared import number, one_of, usage, whole
from stratkit.errors import UsageError, nearest_or_all
from stratkit.frozen import frozen
from stratkit.pictures import form_of
from stratkit.storage.streams import check_outputs

if TYPE_CHECKING:
    from stratkit.rating.elo import Anchor

TABLES = ("ratings", "meetings", "superiority")  # functions of stratkit.rating.tables
ONLY_ML = ("prior", "first_move", "draws", "intervals", "confidence")
WITH_SCORE = {"games", "score", "as_json", "mixed_rules", "quiet", "verbose"}
WITH_LUCE = WITH_SCORE | {"method", "prior", "confidence"}
MAX_ELO, MIN_SIGMA = 4000.0, 0.01  # farther apart than games could place anybody


@frozen(kw_only=True)
class RateOptions:
    """The options of `rate`.

    `games` are the files of records and `shown` is --games; `first_move` and `draws` are None to be
    fitted; `given` has the names of the fields that the command line set.
    """

    games: tuple[str, ...]
    given: Set[str]
    anchors: tuple[str, ...] = usage(
        "--anchor NAME[=ELO][~SIGMA]",
        "Give this player the rating ELO (default: 0), exactly or give or take SIGMA.",
        default=(),
    )
    intervals: str | None = usage(
        "--intervals",
        "Of differences from the anchors (default, if there are any) or from the mean.",
        one_of("anchors", "mean"),
    )
    confidence: float = usage(
        "--confidence P", "Of the intervals (default: .95).", number(above=0, most=0.99), 0.95
    )
    prior: int = usage(
        "--prior GAMES",
        "Let everyone have so many draws with one player made up, so that ratings are finite.",
        whole(0, 10**6),
        0,
    )
    first_move: float | None = usage(
        "--first-move ELO|fit",
        "What the first move is worth (default: 0).",
        number(-1000, below=1000, none="fit"),
        0.0,
    )
    draws: float | None = usage(
        "--draws SHARE|fit",
        "How often equals draw (default: 0, a draw is half a win).",
        number(0, below=1, none="fit"),
        0.0,
    )
    method: str = usage("--method", "Default: ml.", one_of("ml", "elo", "luce"), "ml")
    k: float = usage(
        "--k K", "The K of --method elo (default: 1).", number(above=0, most=1000), 1.0
    )
    mixed_rules: bool = usage("--mixed-rules", "Rate games of other rules together.")
    include: tuple[str, ...] = usage("--include NAME", "Rate these only, e.g. 'run@*'.", default=())
    exclude: tuple[str, ...] = usage("--exclude NAME", "Leave these players out.", default=())
    rename: tuple[str, ...] = usage("--rename OLD=NEW", "Call, or count, OLD as NEW.", default=())
    least_games: int = usage("--least-games N", "Leave out who has fewer games.", whole(0), 0)
    by_day: str | None = usage(
        "--by-day NAME", "Rate this player for each day of its games by itself."
    )
    tables: tuple[str, ...] = usage(
        "--table",
        f"Print this table: {', '.join(TABLES)} (default: the first two).",
        one_of(*TABLES),
        (),
    )
    versus: str | None = usage("--versus NAME", "Print this player's results against all others.")
    score: str | None = usage(
        "--score WORD",
        "Games of more than two players: mean scores by squares or draw-size; or luce by order.",
        one_of("squares", "draw-size", "order"),
    )
    check_games: bool = usage(
        "--check", "Play all games again, and leave out those whose moves deny their result."
    )
    as_json: bool = usage("--json", "Print JSON instead of tables.")
    as_csv: bool = usage("--csv", "Print one table as CSV.")
    html: str | None = usage("--html FILE.html", "Write tables and pictures into a page.")
    shown: int | None = usage(
        "--games N",
        "Let N games of one player be stepped through in the page, its losses first.",
        whole(1, 100),
    )
    plot: str | None = usage("--plot FILE", "Draw the ratings into FILE.png or FILE.svg.")
    curve: str | None = usage(
        "--curve FILE", "Draw checkpoints' ratings over their steps, a line for each run."
    )
    force: bool = usage("-f, --force", "Overwrite existing files.")

    def check(self) -> None:
        """Raises `UsageError` for options that do not go together."""
        if self.method == "luce":
            others = "--score, --prior, --confidence, --json, --mixed-rules"
            self._check_only(WITH_LUCE, f"--method luce goes with {others}")
        elif self.score == "order":
            raise UsageError("--score order belongs to --method luce")
        elif self.score is not None:
            self._check_only(WITH_SCORE, "--score goes with --json and --mixed-rules alone")
        for name in ONLY_ML if self.method == "elo" else ("k",) if self.method == "ml" else ():
            if name in self.given:
                other = "ml" if self.method == "elo" else "elo"
                raise UsageError(f"--{name.replace('_', '-')} belongs to --method {other}")
        if self.intervals == "anchors" and not self.anchors:
            raise UsageError("--intervals anchors needs an --anchor")
        if self.as_json and (self.as_csv or self.tables or self.versus):
            what = "--json prints everything: --csv, --table and --versus do not go with it"
            raise UsageError(what)
        if self.versus and self.tables:
            raise UsageError("--versus prints a table of its own: leave --table out")
        if self.as_csv and len(self.tables) > 1:
            raise UsageError("--csv prints one table: give --table once")
        if self.method == "elo" and "superiority" in self.tables:
            raise UsageError("--method elo does not know who is likely stronger: --method ml does")
        if self.shown is not None and self.html is None:
            raise UsageError("--games belongs to --html")
        self._check_files()

    def _check_only(self, fitting: Set[str], what: str) -> None:
        """`UsageError`: other options were given than those that are `fitting`."""
        alone = sorted(self.given - fitting)
        if alone:
            renames = {"as_csv": "csv", "shown": "games", "check_games": "check"}
            name = renames.get(alone[0], alone[0])
            raise UsageError(f"{what}, not with --{name.replace('_', '-')}")

    def _check_files(self) -> None:
        """Every input and output must be another file; -f overwrites files, but not these."""
        written = [path for path in (self.html, self.plot, self.curve) if path is not None]
        if self.games.count("-") > 1:
            raise UsageError("standard input can be read only once: give - once")
        if "-" in written:
            raise UsageError("a picture or page cannot go where the tables go: name a file")
        for path in filter(None, (self.plot, self.curve)):
            form_of(path)
        check_outputs(written, self.games, self.force)

    def anchors_among(self, names: Sequence[str]) -> list[Anchor]:
        """The anchors, as indices of `names`. Raises `UsageError` for an unknown or a second one,
        and for those that `method` does not know."""
        anchors = [parse_anchor(text, names) for text in self.anchors]
        for i, anchor in enumerate(anchors):
            if any(anchor.player == other.player for other in anchors[:i]):
                raise UsageError(f"--anchor: {anchor.name!r} is given twice")
        if self.method == "elo" and (len(anchors) > 1 or any(a.sigma for a in anchors)):
            raise UsageError("--method elo takes one --anchor, without SIGMA")
        return anchors


def parse_anchor(text: str, names: Sequence[str]) -> Anchor:
    """Reads NAME[=ELO][~SIGMA]; a name may contain `=` and `~`. Raises `UsageError`."""
    from stratkit.rating.elo import Anchor

    rest, tilde, sigma = text.rpartition("~")
    for given, spread in ((text, None), (rest, sigma))[: 1 + bool(tilde)]:
        name, _, elo = given.rpartition("=")
        for known, value in ((given, "0"), (name, elo)):
            if known in names and not (spread is None and "~" in value):
                rating = _number(value, "rating", -MAX_ELO)
                wide = 0.0 if spread is None else _number(spread, "SIGMA", MIN_SIGMA)
                return Anchor(names.index(known), rating, wide, known)
    wrong = (rest or text).partition("=")[0]
    raise UsageError(f"--anchor: no player is called {wrong!r}{nearest_or_all(wrong, names)}")


def _number(text: str, what: str, low: float) -> float:
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not low <= number <= MAX_ELO:
        raise UsageError(f"--anchor: not a {what} from {low:g} to {MAX_ELO:g}", text=text)
    return number
