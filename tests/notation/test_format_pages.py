"""The pages about text formats say what the code does."""

import re
from pathlib import Path

from stratkit.engine.stratego import BLUE, RED, TYPES
from stratkit.notation.fenfs import read_fenfs
from stratkit.notation.gravon_words import ENDINGS, KINDS, REASONS
from stratkit.notation.setups import read_setups, variant_of
from stratkit.notation.squares import letter
from stratkit.ucc import protocol as ucc
from stratkit.ucc.process import MAX_LINE, MAX_UNASKED

ROOT = Path(__file__).parents[2]
FORMATS = ROOT / "formats"


def rows(page, *, columns):
    """The rows of a page's tables with that many columns, without their heads' underlines."""
    lines = (FORMATS / page).read_text().splitlines()
    cells = [[c.strip() for c in line.strip("|").split("|")] for line in lines if line[:1] == "|"]
    return [row for row in cells if len(row) == columns and set(row[0]) != {"-"}]


def test_the_letters():
    head, red, blue = rows("fenfs.md", columns=13)
    for side, row in ((RED, red), (BLUE, blue)):
        assert row[1:] == [letter(side, TYPES.index(name)) for name in head[1:]]
    text = (FORMATS / "setups.md").read_text()
    said = dict(re.findall(r"`([B-M])`\s([a-z]+)", text))
    assert said == {letter(RED, type_): name for type_, name in enumerate(TYPES)}


def test_the_kinds_and_endings_of_gravon():
    kinds, endings = [], {}
    for first, second, third, _ in rows("gravon.md", columns=4):
        if first.startswith("`"):
            kinds.append((first.split("`")[1], second, third))
        elif first.isdigit():
            endings[int(first)] = (second, third.strip("`"))
    assert kinds == [(kind, str(n), KINDS[kind]) for n, kind in enumerate(KINDS)]
    assert endings == {code: (ENDINGS[code], REASONS[code]) for code in ENDINGS}


def test_the_example_of_a_setup():
    text = (FORMATS / "setups.md").read_text()
    [(setup, red, blue)] = re.findall(
        r"^    ([A-M]{40}) .* on (\w+) \(red\) or (\w+) \(bl", text, re.M
    )
    flag = setup.index("M")
    files = "ABCDEFGHIK"
    assert red == f"{files[flag % 10]}{flag // 10 + 1}"
    assert blue == f"{files[(99 - flag) % 10]}{(99 - flag) // 10 + 1}"


def test_the_golden_samples():
    with (FORMATS / "samples" / "gravon.setups").open("rb") as stream:
        setups = list(read_setups(stream, "s"))
    sound = [line.setup for _, line in setups if not isinstance(line, Exception)]
    assert {variant_of(s).name for s in sound} == {"classic", "barrage", "ultimate", "duel"}
    assert len(setups) - len(sound) == 4  # two games with free setups
    for name in ("barrage.fenfs", "barrage.red.fenfs"):
        with (FORMATS / "samples" / name).open("rb") as stream:
            text = stream.read().decode()
            stream.seek(0)
            assert "".join(f"{fenfs}\n" for _, fenfs in read_fenfs(stream, name)) == text


def test_the_words_of_the_protocol():
    text = " ".join((FORMATS / "ucc.md").read_text().split())
    pieces = dict(rows("ucc.md", columns=2))
    names = [name.strip() for name in pieces["`1` to `9`"].partition(":")[0].split(",")]
    strongest_first = [TYPES[type_] for type_ in range(len(TYPES) - 2, 1, -1)]
    assert names == strongest_first and ucc.LETTERS == "Fs987654321B"
    outcomes = {
        key.strip("`").split()[0] for key in pieces if key.startswith("`") and key[1].isupper()
    }
    assert outcomes == {ucc.OK, ucc.KILLS, ucc.DIES, ucc.BOTHDIE}
    for word in (ucc.START, ucc.SURRENDER, *ucc.STEPS):
        assert f"`{word}`" in text
    assert f"`{ucc.QUIT} NAME COLOUR RESULT ROUND RED BLUE`" in text
    assert f"at most {MAX_LINE:,} bytes" in text and f"more than {MAX_UNASKED:,} bytes" in text


def test_the_manual_has_every_option():
    from stratkit.cli.fenfs import command

    manual = (ROOT / "man" / "fenfs.1").read_text().replace("\\-", "-")
    for name, subcommand in command.commands.items():
        assert f"fenfs {name}" in manual
        for option in subcommand.params:
            if option.opts[0].startswith("-"):
                assert all(text in manual for text in option.opts)
