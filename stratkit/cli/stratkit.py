"""`stratkit`: all tools under one name, and what belongs to none of them."""

from __future__ import annotations

import dataclasses
import importlib
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, NoReturn

import click

from stratkit.cli.messages import RunningCommand, say
from stratkit.cli.options import Text, option
from stratkit.cli.tool import ToolGroup, print_json, run
from stratkit.errors import InputError, UsageError, error_context, named, nearest, printable
from stratkit.models.shipped import SHIPPED
from stratkit.storage.streams import STDOUT

if TYPE_CHECKING:
    from stratkit.storage.progress import RunProgress

VERSION = 1  # of what status --json prints

# The tools, in the words of their pages.
TOOLS = {
    "analyse": "judge every ply of games, and show the largest mistakes",
    "curves": "draw the metrics of training runs",
    "deploy-gen": "make setups",
    "exploit": "compute how exploitable policies are, or learn to exploit them",
    "fenfs": "list, show, check, count and convert Stratego games, positions and setups",
    "finetune": "continue learning for the policy that will play",
    "match": "run a tournament between players and record every game",
    "rate": "rate players by their games",
    "selfplay": "play a policy against itself and write the games as episodes",
    "train": "learn from episodes",
}
UNITS = (("days", 86400), ("h", 3600), ("min", 60), ("s", 1))


class Umbrella(ToolGroup):
    """A group whose subcommands are the tools, too. Each is imported when it is asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [*TOOLS, *super().list_commands(ctx)]

    def get_command(self, ctx: click.Context, word: str) -> click.Command | None:
        return _command_of(word) if word in TOOLS else super().get_command(ctx, word)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args[0] in TOOLS and not ctx.resilient_parsing:
            _start(args)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        own = [(name, sub.get_short_help_str(60)) for name, sub in sorted(self.commands.items())]
        with formatter.section("Tools"):
            formatter.write_dl(list(TOOLS.items()))
        with formatter.section("Commands"):
            formatter.write_dl(own)


@click.group("stratkit", cls=Umbrella)
def command() -> None:
    """All tools under one name: `stratkit train ...` is `train ...`."""


@command.command("help", short_help="Show the manual's page of a tool, a format or a subject.")
@click.argument("name", metavar="[NAME]", required=False)
@click.pass_context
def help_(ctx: click.Context, name: str | None) -> None:
    """Show the manual's page of NAME: a tool (train), a format (games), a subject (python)."""
    if name is None:
        assert ctx.parent
        click.echo(ctx.parent.get_help())
        return
    pages = _pages()
    forms = (f"{name}.1", f"stratkit-{name}.5", f"stratkit-{name}.7", f"{name}.5", f"{name}.7")
    page = next((pages[form] for form in forms if form in pages), None)
    import shutil

    if page is not None and shutil.which("man"):
        os.execvp("man", ["man", os.fspath(page)])
    if name in TOOLS:
        _start([name, "--help"])
    if page is not None:
        raise InputError("there is no program `man` to show this page", file=os.fspath(page))
    words = [form.rpartition(".")[0].removeprefix("stratkit-") for form in pages]
    raise UsageError(f"no page is called {printable(name)!r}{nearest(name, [*TOOLS, *words])}")


@command.command(
    "doctor", short_help="Say what is installed, whether it works, and what is missing."
)
def doctor() -> int:
    """Say what is installed, whether it works, and what is missing: versions, engine, torch, GPU,
    threads, sizes, networks. The status is 3 if something is broken."""
    from stratkit.cli.doctor import examine

    broken = False
    with error_context(STDOUT, only=OSError):
        for finding in examine(TOOLS):
            click.echo(printable_lines(finding.text()))
            broken |= finding.broken
    return 3 if broken else 0


@command.command("examples", short_help="Copy the examples into a folder.")
@click.argument("folder")
def examples(folder: str) -> None:
    """Copy the examples that the manual names into FOLDER, which is made: scripts, settings, and
    players, games and networks to begin from."""
    # Beside an installed package a folder of that name is somebody else's.
    archive = Path(__file__).parents[1] / "examples.tar.xz"
    source = Path(__file__).parents[2] / "examples"  # of a checkout
    if not archive.is_file() and not source.is_dir():
        raise InputError("none are installed: they are in stratkit's source", text="examples")
    if os.path.lexists(folder):
        raise InputError("exists already: name a folder that does not", file=folder)
    with error_context(folder, only=OSError):
        if archive.is_file():
            _unpack(archive, folder)
        else:
            _copy(source, folder)


def _copy(source: Path, folder: str) -> None:
    import shutil

    try:
        shutil.copytree(source, folder, ignore=shutil.ignore_patterns("__pycache__"))
    except shutil.Error as error:  # of several files; the first says enough
        raise OSError(error.args[0][0][2]) from None


def _unpack(archive: Path, folder: str) -> None:
    import tarfile

    try:
        with tarfile.open(archive) as files:
            # Python asks for a filter from 3.12 on, and some 3.11 have none.
            files.extraction_filter = getattr(tarfile, "data_filter", None)
            os.makedirs(folder)
            files.extractall(folder)
    except tarfile.TarError as error:
        raise InputError(
            f"cannot be unpacked by this Python ({error})", file=str(archive)
        ) from None


@command.command("export", short_help="Write one network as a file of its own, ONNX too.")
@click.argument("source", metavar="CHECKPOINT|RUN|PLAYER", type=Text(*SHIPPED))
@option("--net NET", "Which of a checkpoint's networks (default: target, or average).")
@option("-o, --output FILE", "Write to FILE, NAME.onnx or NAME.safetensors.", required=True)
@option("-f, --force", "Overwrite an existing FILE.")
def export_(source: str, net: str | None, output: str, force: bool) -> None:
    """Write the network that `match` would let play, or NET, as a file of its own.

    Whatever takes a checkpoint for play takes that FILE. NAME.onnx is for other programs, too: ONNX
    Runtime computes it without stratkit."""
    from stratkit.models.export import export
    from stratkit.players.registry import KINDS, NETWORK, kind_of

    if not os.path.exists(source) and kind_of(source, KINDS) is not NETWORK:
        raise InputError("this player has no network", text=source)
    model = export(source, net, output, force)
    say(f"{named(output)}: {model.part} of step {model.step}, {model.game}, net {model.net}")


@command.command("status", short_help="Say how far a RUN has come.")
@click.argument("runs", metavar="RUN...", nargs=-1, required=True)
@option("--json", "Print one JSON object for each RUN, one a line.", name="as_json")
def status(runs: Sequence[str], as_json: bool) -> None:
    """Say how far each RUN has come, from its files: also while it goes on, and after its end."""
    from stratkit.storage.progress import read_progress

    progress_of_runs = [read_progress(run) for run in runs]
    with error_context(STDOUT, only=OSError):
        if as_json:
            for progress in progress_of_runs:
                about = {"stratkit": "status", "version": VERSION, **dataclasses.asdict(progress)}
                print_json(about, indent=None)
        else:
            click.echo(printable_lines("\n\n".join(map(_text, progress_of_runs))))


def _text(is_: RunProgress) -> str:
    """A run's progress for people."""
    what = (
        f"{is_.game} by {is_.algorithm or 'rnad'}, network {is_.net}" if is_.game else "nothing yet"
    )
    rows = [
        ("state", f"in use by {is_.holder}" if is_.holder else "no learner is at work"),
        ("step", f"{is_.step:,}" + ("" if is_.age is None else f", {_span(is_.age)} ago")),
        ("episodes", f"{is_.episodes:,}"),
        ("rate", "not known yet" if is_.rate is None else f"{is_.rate:.3g} steps/s"),
    ]
    if (saved := is_.checkpoint) is None:
        rows.append(("checkpoint", "none"))
    else:
        rows.append(
            ("checkpoint", f"step {saved.step:,}, {_span(saved.age)} ago: {named(saved.file)}")
        )
        if saved.fault is not None:
            rows.append(("fault", saved.fault))
    if is_.elo is not None:
        rows.append(("Elo", _elo(is_.elo)))
    return "\n".join(
        [f"{named(is_.run)}: {what}", *(f"  {name:<12}{value}" for name, value in rows)]
    )


def _elo(result: Mapping[str, Any]) -> str:
    """What a match of a checkpoint has shown; a bound that no number has is infinite."""
    infinite = {"low": "-∞", "high": "+∞", "elo": "-∞" if result.get("score") == 0 else "+∞"}
    return ", ".join(
        f"{key} {infinite.get(key) if value is None else value}" for key, value in result.items()
    )


def _span(seconds: float) -> str:
    """A time in its largest unit, such as `3.2 h`."""
    unit, size = next((u for u in UNITS if seconds >= u[1]), UNITS[-1])
    value = seconds / size
    return f"{value:.1f} {unit}" if size > 60 else f"{value:.0f} {unit}"


def printable_lines(text: str) -> str:
    """`text` with its line ends and nothing else that a terminal would obey."""
    return "\n".join(map(printable, text.split("\n")))


def _start(words: Sequence[str]) -> NoReturn:
    """Runs a tool as if it had been called by its own name, as loud as we are."""
    name, *rest = words
    loudness = ["-v"] * RunningCommand.level + ["-q"] * -RunningCommand.level
    sys.argv = [name, *loudness, *rest]
    _module(name).main()
    raise AssertionError(f"{name} returned")


def _command_of(name: str) -> click.Command:
    command: click.Command = _module(name).command
    return command


def _module(name: str) -> ModuleType:
    return importlib.import_module(f"stratkit.cli.{name.replace('-', '_')}")


def _pages() -> dict[str, Path]:
    """The manual's pages by file name: of a checkout, or of the environment."""
    man = Path(__file__).parents[2] / "man"
    folders = [Path(sys.prefix) / f"share/man/man{section}" for section in (1, 5, 7)]
    if (man / "stratkit.1").is_file():  # else it is somebody else's, beside an installed package
        folders = [man]
    paths = (path for folder in folders for path in folder.glob("*.[157]"))
    ours = {path.name: path for path in sorted(paths)}
    return {
        name: path
        for name, path in ours.items()
        if name.startswith("stratkit") or name.removesuffix(".1") in TOOLS
    }


def main() -> NoReturn:
    """The command `stratkit`."""
    run(command, "stratkit")


if __name__ == "__main__":
    main()
