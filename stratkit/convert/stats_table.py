"""Figures about games and setups as a table of text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stratkit.engine.stratego import FILES
from stratkit.errors import printable
from stratkit.terminal import aligned

if TYPE_CHECKING:
    from stratkit.convert.options import StatsOptions
    from stratkit.notation.statistics import Figures

Row = tuple[str, list[str]]
MAX_SHOWN = 20  # setups of a variant whose scores are printed; JSON has all


def table(columns: list[tuple[str, Figures]], options: StatsOptions) -> str:
    """A column for each (title, figures), with what was won by the players that were asked for; a
    table of all players and heat maps after it, if they are wanted."""
    every = [figures for _, figures in columns]
    rows: list[Row] = [("", [title for title, _ in columns])]
    if any(figures.games for figures in every):
        rows += _game_rows(every)
    for nick in options.selection.players:
        rows += _player_rows(every, nick)
    for variant in sorted({name for figures in every for name in figures.setups}):
        rows += _setup_rows(every, variant)
    if any(figures.free for figures in every):
        rows.append(("free setups", [str(figures.free) for figures in every]))
    lines = aligned([[name, *cells] for name, cells in rows], words=(0,))
    if options.all_players:
        lines += [line for title, figures in columns for line in _all_players(title, figures)]
    if options.attacks:
        lines += [line for title, figures in columns for line in _attacks(title, figures)]
    if options.scores:
        lines += [line for title, figures in columns for line in _score_lines(title, figures)]
    if options.maps:
        lines += [line for title, figures in columns for line in _map_lines(title, figures)]
    return "\n".join(lines)


def _game_rows(every: list[Figures]) -> list[Row]:
    rows: list[Row] = [("games", [str(figures.games) for figures in every])]
    for what in ("kinds", "results", "endings"):
        counters = [getattr(figures, what) for figures in every]
        for word in sorted(set().union(*counters)):
            label = f"{'won by ' * (what == 'results' and word != 'draw')}{word}".replace("_", " ")
            shares = [
                f"{counter[word]} {_percent(counter[word] / max(1, figures.games))}"
                for counter, figures in zip(counters, every, strict=True)
            ]
            rows.append((f"  {label}", shares))
    for name, share in (("least", 0.0), ("median", 0.5), ("most", 1.0)):
        rows.append((f"  moves, {name}", [str(figures.length(share)) for figures in every]))
    return rows


def _player_rows(every: list[Figures], nick: str) -> list[Row]:
    outcomes = [figures.of_player(nick) for figures in every]
    rows: list[Row] = [(f"games of {printable(nick)}", [str(f.total()) for f in outcomes])]
    for outcome in ("won", "drawn", "lost"):
        shares = [f"{f[outcome]} {_percent(f[outcome] / max(1, f.total()))}" for f in outcomes]
        rows.append((f"  {outcome}", shares))
    return rows


def _all_players(title: str, figures: Figures) -> list[str]:
    """The players as a table, those with most games first."""
    counts = sorted(figures.players.items(), key=lambda item: (-item[1].total(), item[0]))
    rows = [["games", "won", "drawn", "lost", "score", "player"]]
    for nick, f in counts:
        games = f.total()
        score = _percent((f["won"] + f["drawn"] / 2) / games).strip()
        row = [str(n) for n in (games, f["won"], f["drawn"], f["lost"])]
        rows.append([*row, score, printable(nick)])
    return ["", f"players, {title}", *_aligned(rows)]


def _attacks(title: str, figures: Figures) -> list[str]:
    """What the players do with what they know, as a table, those with most plies first."""
    from stratkit.notation.attacks import COUNTED

    rows = [[*(name.replace("_", " ") for name in COUNTED), "player"]]
    counts = (figures.attacks or {}).items()
    for nick, f in sorted(counts, key=lambda item: (-item[1]["plies"], item[0])):
        rows.append([*(str(f[name]) for name in COUNTED), printable(nick)])
    return ["", f"attacks, {title}", *_aligned(rows)]


def _aligned(rows: list[list[str]]) -> list[str]:
    """Lines of a table whose last column is a name."""
    return aligned(rows, words=(len(rows[0]) - 1,))


def _setup_rows(every: list[Figures], variant: str) -> list[Row]:
    of_variant = [figures.setups.get(variant) for figures in every]
    rows: list[Row] = [(f"setups, {variant}", [str(f.count) if f else "0" for f in of_variant])]
    rows.append(("  distinct", [str(len(f.distinct)) if f else "" for f in of_variant]))
    figures = [f.figures() if f else {} for f in of_variant]
    for name in dict.fromkeys(name for some in figures for name in some):
        shown = _number if name.endswith("mean") else _percent
        rows.append((f"  {name}", [shown(some[name]) if name in some else "" for some in figures]))
    return rows


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %".rjust(7)


def _number(value: float) -> str:
    return f"{value:.2f}  "


def _score_lines(title: str, figures: Figures) -> list[str]:
    """Scores of the setups with most games, and of flags by square, front rank on top."""
    from stratkit.notation.scores import score

    lines = []
    for name, scores in sorted((figures.scores or {}).items()):
        rows = [["games", "won", "drawn", "lost", "score", "from", "to", "setup"]]
        for text, counts in scores.ordered()[:MAX_SHOWN]:
            shares = (_percent(share).strip() for share in score(counts))
            rows.append([str(sum(counts)), *map(str, counts), *shares, text])
        lines += ["", f"scores of setups, 95 % from and to, {name}, {title}", *_aligned(rows)]
        if len(scores.setups) > MAX_SHOWN:
            lines.append(f"and {len(scores.setups) - MAX_SHOWN} more, which --json prints")
        lines += ["", f"scores by the flag's square, {name}, {title}"]
        by_square = scores.flags.reshape(3, scores.variant.ranks, -1)
        flags = [[" ", "games", "score", "from", "to"]]
        for rank, file in zip(*by_square.sum(axis=0).nonzero(), strict=True):
            counts = by_square[:, rank, file].tolist()
            shares = (_percent(share).strip() for share in score(counts))
            flags.append([f"{FILES[file]}{rank + 1}", str(sum(counts)), *shares])
        lines += _aligned([[*row[1:], row[0]] for row in flags])
    return lines


def _map_lines(title: str, figures: Figures) -> list[str]:
    """The heat maps as numbers, front rank on top."""
    from stratkit.engine.stratego import TYPES
    from stratkit.notation.statistics import pieces_of

    lines = []
    for name, setups in sorted(figures.setups.items()):
        variant = setups.variant
        for type_ in pieces_of(variant):
            rows = setups.maps[type_].reshape(variant.ranks, variant.width)[::-1].tolist()
            wide = max(len(str(n)) for row in rows for n in row)
            lines += ["", f"{TYPES[type_]}, {name}, {title}"]
            lines += [" ".join(str(n).rjust(wide) for n in row) for row in rows]
    return lines
