"""The manual: a page of section 5 for each format, made of formats/; what the pages see; the page
of section 7, with how a shell completes the commands."""

from __future__ import annotations

import os
import pathlib
import re
import runpy
import shutil
import subprocess
import sys

import pytest

from running import COMMANDS, ROOT
from stratkit.learn.algorithm_kinds import ALGORITHMS
from stratkit.learn.request import fields_of, resolve

MAKE = runpy.run_path(str(ROOT / "man/make.py"))
MAKE["write"]()  # as `make dev` does
PAGES = sorted((ROOT / "man").glob("[!.]*.[157]"))
FORMATS = [path for path in PAGES if path.suffix == ".5"]


def test_the_pages_of_formats_are_those_of_today() -> None:
    names = {page.removesuffix(".md") for page in os.listdir(ROOT / "formats") if ".md" in page}
    assert {path.stem for path in FORMATS} == {MAKE["page_name"](name) for name in names}
    ignored = (ROOT / ".gitignore").read_text().splitlines()
    assert "/man/*.5" in ignored  # they are made, never kept beside formats/


def seen(path: pathlib.Path) -> set[str]:
    """What a page lists under SEE ALSO, as `match.1`."""
    last = path.read_text().replace("\\", "").split(".SH SEE ALSO\n")[1]
    return {
        f"{name}.{number}" for name, number in re.findall(r"^\.BR ([\w-]+) \((\d)\)", last, re.M)
    }


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_pages_see_pages_that_are_there(path: pathlib.Path) -> None:
    assert seen(path) <= {page.name for page in PAGES} - {path.name}
    text = re.sub(r"\\f.", "", path.read_text()).replace("\\", "")
    named = {name for name, _ in re.findall(r"(stratkit-\w+) ?\((5)\)", text)}
    assert {f"{name}.5" for name in named} <= seen(path) | {path.name}
    if path.suffix == ".5":
        commands = {f"{name}.1" for name in COMMANDS}
        assert seen(path) & commands == {p.name for p in PAGES if path.name in seen(p)} & commands


def test_the_page_of_all_lists_the_commands() -> None:
    page = (ROOT / "man/stratkit.7").read_text()
    listed = re.findall(r"^\.TP\n\.BR (\S+) \(1\)\n(.*)", page, re.M)
    pages = [path.read_text() for path in PAGES if path.suffix == ".1"]
    names = [re.findall(r"^\.SH NAME\n(\S+) \\- (.*)", text, re.M) for text in pages]
    assert listed == [name for (name,) in names]
    assert seen(ROOT / "man/stratkit.7") == {f"{name}.1" for name in COMMANDS} | {
        "stratkit-formats.5",
        "stratkit-search.7",
        "stratkit-players.7",
        "stratkit-algorithms.7",
        "stratkit-python.7",
    }


def test_the_page_of_algorithms_speaks_of_settings() -> None:
    """Of each algorithm, of those that it has."""
    page = (ROOT / "man/stratkit-algorithms.7").read_text().replace("\\-", "-")
    for name in ("mmd", "nashpg", "rnad", "alphaze"):
        heading = f".SH THE NUMBERS OF {name.upper()}"
        section = page.split(f"{heading}\n")[1].split("\n.SH ")[0]
        listed = {
            word.replace("-", "_")
            for line in re.findall(r"^\.TP\n\.BR? (.*)", section, re.M)
            for word in re.findall(r"[a-z][a-z-]*", line)
        } - {"selfplay", "slice"}
        assert listed <= set(fields_of(name)) and len(listed) >= 7


def test_the_page_of_all_says_where_things_are() -> None:
    page = (ROOT / "man/stratkit.7").read_text().replace("\\-", "-")
    places = page.split(".SH WHERE THINGS ARE\n")[1].split("\n.SH ")[0]
    named = re.findall(r"[\w/]+\.(?:c|h|py|md)\b", places)
    assert len(named) > 20
    assert [name for name in named if not (ROOT / name).exists()] == []


def test_shells_complete_as_the_page_says(tmp_path: pathlib.Path) -> None:
    page = (ROOT / "man/stratkit.7").read_text().replace("\\-", "-")
    (script,) = re.findall(r"^\.nf\n(.*?)^\.fi", page, re.M | re.S)
    path = f"{ROOT / 'bin'}:{pathlib.Path(sys.executable).parent}:{os.environ['PATH']}"
    settings = {**os.environ, "PATH": path, "HOME": str(tmp_path)}
    subprocess.run(["sh", "-eu", "-c", script], env=settings, check=True)
    folder = tmp_path / ".local/share/bash-completion/completions"
    assert sorted(os.listdir(folder)) == COMMANDS
    # What bash does at a Tab after these words.
    ask = (
        "source $HOME/.local/share/bash-completion/completions/$1\n"
        "COMP_WORDS=($2 '') COMP_CWORD=$3\n"
        "$(complete -p $1 | sed 's/.*-F \\([^ ]*\\) .*/\\1/') $1; printf '%s ' ${COMPREPLY[*]}"
    )
    for words, offered in (
        (
            "deploy-gen --game",
            "classic barrage duel ultimate mini nano micro barrage-blocked kuhn leduc phantom_ttt ",
        ),
        ("fenfs", "check convert legal list replay show stats "),
        ("fenfs show --view", "observer red blue "),
    ):
        count = str(len(words.split()))
        bash = ["bash", "--norc", "-c", ask, "bash", words.split()[0], words, count]
        done = subprocess.run(bash, env=settings, capture_output=True, text=True, check=True)
        assert (done.stdout, done.stderr) == (offered, "")


@pytest.mark.parametrize(
    "text", ["1. one", "- one\n  - two", "a `b", "> c", "a\n| b |", "```\nd\n```"]
)
def test_unknown_markdown_is_an_error(text: str) -> None:
    with pytest.raises(ValueError, match="what is"):
        MAKE["page"]("x", f"# Title\n\n{text}\n")


def test_text_stays_as_it_is_typed() -> None:
    roff = MAKE["page"](
        "x", "# T\n\n`.a'b\\c` is.\n\n    'x -- ^~`\n    .y\n\n| a | b |\n|---|---|\n| `_` | .c |\n"
    )
    assert "\n\\&.y\n" in roff and "\t\\&.c\n" in roff
    if shutil.which("groff"):
        done = subprocess.run(
            ["groff", "-t", "-man", "-Tascii", "-P-cbou"],
            input=roff,
            capture_output=True,
            text=True,
            check=True,
        )
        assert done.stderr == ""
        lines = [line.strip() for line in done.stdout.splitlines()]
        for line in (".a'b\\c is.", "'x -- ^~`", ".y", "_   .c"):
            assert line in lines


# Algorithms by their presets, which several may share: the first of them.
BY_PRESETS = {id(entry.presets): name for name, entry in reversed(ALGORITHMS.items())}
FIRST = [name for name in ALGORITHMS if name in BY_PRESETS.values()]


@pytest.mark.parametrize("place", range(len(FIRST)))
def test_the_page_of_train_has_the_presets(place: int) -> None:
    """One table for each algorithm, or for several, in their order."""
    algorithm, entry = FIRST[place], ALGORITHMS[FIRST[place]]
    tables = re.findall(
        r"^ +(plain +tiny +small +mlp +(?:graph +(?:graph\+shares +)?)?paper|pbs)\n(.*?)^\.fi",
        (ROOT / "man/train.1").read_text(),
        re.M | re.S,
    )
    assert len(tables) == len(FIRST)
    nets, body = tables[place]
    lines = map(str.split, body.splitlines())
    rows = {name.replace("-", "_"): values for name, *values in lines}
    of_nets = [preset for net, preset in entry.presets.items() if "/" not in net]
    assert set(rows) == {name for preset in of_nets for name in preset}
    for column, net in enumerate(nets.split()):
        settings = resolve(net, {}, {}, {}, algorithm)
        config = {**vars(settings.run), **vars(settings.hyper)}
        for name, values in rows.items():
            value = config[name]
            told = value if isinstance(value, tuple) else (value,)
            words = zip(told, values[column].split(","), strict=True)
            assert tuple(type(one)(word) for one, word in words) == told, (net, name)


def test_the_page_of_train_has_the_presets_of_games() -> None:
    """What each has beside that of its network, and no more."""
    page, known = (ROOT / "man/train.1").read_text(), ALGORITHMS["mmd"].presets
    found = re.search(r"^ +(batch +eta .*)\n((?:mlp/.*\n)+)\.fi", page, re.M)
    assert found
    names = [name.replace("-", "_") for name in found[1].split()]
    told = {net: values for net, *values in map(str.split, found[2].splitlines())}
    assert set(told) == {net for net in known if "/" in net}
    for net, values in told.items():
        kind, _, game = net.partition("/")
        settings = resolve(kind, {}, {}, {}, "mmd", game=game)
        config = {**vars(settings.run), **vars(settings.hyper)}
        assert values == [
            f"{config[name]:g}" if name != "anneal_by" else config[name] for name in names
        ]
        others = {name for name, value in known[net].items() if value != known[kind].get(name)}
        assert others <= set(names)


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_no_sentence_stands_behind_a_macro_of_two_fonts(path: pathlib.Path) -> None:
    """Which would join its words: `.BR mini . The paper keeps`."""
    joined = []
    for line in path.read_text().splitlines():
        if alternating := re.match(r"\.(?:BR|RB|BI|IB|IR|RI) (.*)", line):
            bare = re.sub(r'"[^"]*"', ";", alternating[1])
            joined += [line] if re.search(r"\b[A-Za-z]+ [a-z]+ [a-z]+\b", bare) else []
    assert joined == []


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_pages_are_sound_roff(path: pathlib.Path) -> None:
    """For the programs that read them, as far as they are here."""
    if not shutil.which("mandoc") and not shutil.which("groff"):
        pytest.skip("there is neither mandoc nor groff")
    if shutil.which("mandoc"):
        done = subprocess.run(
            ["mandoc", "-T", "lint", "-W", "warning", path],
            capture_output=True,
            text=True,
            check=False,
        )
        said = [line for line in done.stdout.splitlines() if "missing date" not in line]
        assert said == []
    if shutil.which("groff"):
        done = subprocess.run(
            ["groff", "-K", "utf8", "-t", "-man", "-ww", "-Tutf8", path],
            capture_output=True,
            text=True,
            check=True,
        )
        wide = r"can't break line|cannot adjust line|will not fit on one page"
        assert [line for line in done.stderr.splitlines() if not re.search(wide, line)] == []
        plain = re.sub(r"\x1b\[[\d;]*m", "", done.stdout)
        assert not re.search(r"\]\(|\|--", plain)
