"""What a run of the paper's size takes: games, bytes, days and cost, computed from rates.

python plan.py                          by the rates of rates.toml, beside this file
python plan.py --table gpu.md           those of both commands from the table of bench/gpu.sh
python plan.py --learn 5000 --play 20000 --gpus 1,8,64 --price 2.5

A measured rate belongs in rates.toml, with how it was measured; then plan.md is made anew:
python plan.py > plan.md
"""

from __future__ import annotations

import pathlib
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from stratkit import declared
from stratkit.script import Parser, argument

RATES = pathlib.Path(__file__).with_name("rates.toml")
DAY = 86_400
RATE, PRICE = declared.number(above=0, most=1e12), declared.number(0, 1e12)
GPUS = declared.wholes(1)


@dataclass(frozen=True)
class Rate:
    """A number, its unit, and where it is from."""

    value: float
    unit: str
    origin: str


def read_rates(file: pathlib.Path) -> dict[str, Rate]:
    """The rates of a file. `SystemExit`: it is not such as rates.toml."""
    try:
        entries = tomllib.loads(file.read_text()).items()
        found = {
            name: Rate(kind.accept(one["value"]), one["unit"], one["from"])
            for name, one in entries
            for kind in [PRICE if name == "price" else RATE]
        }
    except (ValueError, KeyError, TypeError):
        raise SystemExit(f"plan.py: {file}: not such as {RATES.name}") from None
    if file != RATES and (lacking := read_rates(RATES).keys() - found.keys()):
        raise SystemExit(f"plan.py: {file}: it lacks {', '.join(sorted(lacking))}")
    return found


def of_table(text: str, net: str) -> dict[str, tuple[float, str]]:
    """The best rates of `net` in the table that bench/gpu.sh prints, and what they are of.
    `SystemExit`: it has none."""
    rows = [re.split(r"\s*\|\s*", line.strip("| \n")) for line in text.splitlines() if "|" in line]
    found: dict[str, tuple[float, str]] = {}
    columns = next((row for row in rows if "each a second" in row), None)
    for row in rows if columns else ():
        one = dict(zip(columns or (), row, strict=False))
        for name, what in (("learn", "learner"), ("play", "self-play")):
            if one.get("what", "").startswith(what) and one["net"] == net:
                rate = float(one["each a second"].replace(",", ""))
                found[name] = max(found.get(name, (0.0, "")), (rate, one["what"]))
    if len(found) < 2:
        raise SystemExit(f"plan.py: no learner and self-play of {net} in this table")
    return found


@dataclass(frozen=True)
class Plan:
    """A run on some GPUs, each of which has a rank of the learner and a self-play."""

    rates: Mapping[str, Rate]
    gpus: int

    def of(self, name: str) -> float:
        return self.rates[name].value

    @property
    def states(self) -> float:
        """A step's."""
        return self.of("batch") * self.of("actions")

    @property
    def learning(self) -> float:
        return self.states / self.of("learn") / self.gpus

    @property
    def replaying(self) -> float:
        """A thread replays the next games while its GPU learns from these."""
        return self.states / self.of("replay") / self.gpus

    @property
    def playing(self) -> float:
        return self.states / self.of("play") / self.gpus

    @property
    def reducing(self) -> float:
        """By a ring, each GPU sends and receives nearly all gradients twice."""
        size = 2 * self.of("publication") * (self.gpus - 1) / self.gpus
        return size / self.of("reduce")

    @property
    def saving(self) -> float:
        return self.of("save") / self.of("save_every")

    @property
    def step(self) -> float:
        return self.learning + self.playing + self.reducing + self.saving

    @property
    def days(self) -> float:
        return self.of("steps") * self.step / DAY

    @property
    def period(self) -> float:
        """Games from one publication to the next."""
        return self.of("publish_every") * self.of("batch")

    @property
    def ahead(self) -> float:
        """Games that are played or wait, at most."""
        return self.of("ahead") * self.period

    @property
    def share_slots(self) -> float:
        """Games at a time of a writer, as selfplay --part chooses them."""
        return (self.ahead - 2 * self.period) // self.gpus // 4

    @property
    def wide(self) -> float:
        """What AHEAD must be for the slots by which the rate of self-play was measured."""
        return 4 * self.gpus * self.of("slots") + 2 * self.period


def size(bytes_: float) -> str:
    for unit in ("B", "kB", "MB", "GB"):
        if bytes_ < 1000:
            return f"{bytes_:.3g} {unit}"
        bytes_ /= 1000
    return f"{bytes_:,.1f} TB"


def number(x: float) -> str:
    return f"{x:,.0f}" if x >= 100 else f"{x:.3g}"


def whole_run(plan: Plan) -> Iterator[tuple[str, str]]:
    """What does not depend on the GPUs."""
    steps, batch, actions = (plan.of(name) for name in ("steps", "batch", "actions"))
    game = actions * plan.of("episode")
    publications = steps / plan.of("publish_every")
    yield "games", f"{steps * batch / 1e9:.2f} thousand million"
    yield "actions, and learned states", f"{steps * batch * actions / 1e12:.2f} million million"
    yield "episodes written", size(steps * batch * game)
    waiting = plan.ahead + plan.of("save_every") * batch
    yield "of these on the disk at a time, by `--consume`", f"at most {size(waiting * game)}"
    yield "checkpoints written", size(steps / plan.of("save_every") * plan.of("checkpoint"))
    kept = plan.of("kept") * plan.of("checkpoint")
    yield "of these on the disk at the end", size(kept)
    yield (
        "weights published, each in place of the last",
        size(publications * plan.of("publication")),
    )
    yield "metrics.jsonl", size(steps * plan.of("line"))


def held(plan: Plan) -> str:
    """The states that a GPU keeps for a step, and whether so many were ever kept."""
    states = plan.states / plan.gpus
    return number(states) + ", memory not measured" * (states > plan.of("memory"))


Row = tuple[str, Callable[[Plan], str]]
ROWS: tuple[Row, ...] = (
    ("seconds a step", lambda plan: number(plan.step)),
    ("of these the learner", lambda plan: number(plan.learning)),
    ("replay, by a thread meanwhile, not counted", lambda plan: number(plan.replaying)),
    ("self-play, on the same GPUs", lambda plan: number(plan.playing)),
    ("sum of gradients", lambda plan: number(plan.reducing)),
    ("checkpoints", lambda plan: number(plan.saving)),
    ("**days**", lambda plan: f"**{number(plan.days)}**"),
    ("GPU days", lambda plan: number(plan.gpus * plan.days)),
    ("states of a step on a GPU", held),
    ("games a second", lambda plan: number(plan.of("batch") / plan.step)),
    (
        "episodes a second",
        lambda plan: size(plan.states * plan.of("episode") / plan.step),
    ),
    (
        "weights a second, read by all machines",
        lambda plan: size(
            -(-plan.gpus // plan.of("machine"))
            * plan.of("publication")
            / plan.step
            / plan.of("publish_every")
        ),
    ),
    (
        "games ahead, at most, and steps that these are",
        lambda plan: f"{plan.ahead:,.0f}, {plan.ahead / plan.of('batch'):.0f}",
    ),
    ("games at a time on a GPU then", lambda plan: number(plan.share_slots)),
    (
        "AHEAD for the slots of the rate, and steps that these are",
        lambda plan: f"{plan.wide:,.0f}, {plan.wide / plan.of('batch'):.0f}",
    ),
)


def page(rates: Mapping[str, Rate], gpus: Sequence[int]) -> Iterator[str]:
    plans = [Plan(rates, number) for number in gpus]
    guessed = [one.unit for one in rates.values() if one.origin.startswith("not measured")]
    yield "# What the paper's size takes\n"
    yield "`python examples/deepnash/plan.py` has computed this page: nobody has run it."
    yield f"Not measured: {'; '.join(guessed)}.\n" if guessed else ""
    yield "| a whole run | |\n|---|---|"
    for what, text in whole_run(plans[0]):
        yield f"| {what} | {text} |"
    yield ""
    heads = [f"{number} GPU{'s' * (number > 1)}" for number in gpus]
    yield f"| | {' | '.join(heads)} |\n|---|{'---|' * len(gpus)}"
    for what, cell in ROWS:
        yield f"| {what} | {' | '.join(map(cell, plans))} |"
    price = rates["price"]
    costs = [number(price.value * 24 * plan.gpus * plan.days) for plan in plans]
    mark = ", assumed" * price.origin.startswith("not measured")
    yield f"| cost in dollars at {price.value:g} a GPU hour{mark} | {' | '.join(costs)} |"
    yield "\nLearner and self-play take turns on a GPU. More GPUs are assumed to be as busy.\n"
    yield "| computed with | | from |\n|---|---|---|"
    for one in rates.values():
        yield f"| {one.unit} | {one.value:,.12g} | {one.origin} |"


def main() -> None:
    parser = Parser(__doc__)
    parser.add_argument("--rates", type=pathlib.Path, default=RATES)
    parser.add_argument("--table", type=pathlib.Path, help="what bench/gpu.sh has printed")
    parser.add_argument("--net", default="paper", help="whose rows of the table count")
    parser.add_argument("--learn", type=argument(RATE), help="states a second and GPU")
    parser.add_argument("--play", type=argument(RATE), help="actions a second and GPU")
    parser.add_argument("--gpus", type=argument(GPUS), default=[1, 8, 64], help="1,8,64")
    parser.add_argument("--price", type=argument(PRICE), help="of an hour of a GPU, in dollars")
    given = parser.parse_args()
    rates = read_rates(given.rates)
    measured = of_table(given.table.read_text(), given.net) if given.table else {}
    for name, (value, what) in measured.items():
        rates[name] = Rate(value, rates[name].unit, f"measured: bench/gpu.sh, {what}")
    for name in ("learn", "play", "price"):
        if (value := getattr(given, name)) is not None:
            rates[name] = Rate(value, rates[name].unit, f"given as --{name}")
    print("\n".join(page(rates, given.gpus)))


if __name__ == "__main__":
    try:
        main()
    except OSError as error:
        raise SystemExit(f"plan.py: {error.filename or 'stdout'}: {error.strerror}") from None
