"""The command `fenfs` as its users start it."""

import hashlib
import os
import pty
import re
import subprocess
import sys
import zipfile

import pytest

from running import ROOT, command_line, run
from stratkit import __version__
from stratkit.engine.arbiter import Arbiter
from stratkit.engine.stratego import VARIANTS, Position, free_game
from stratkit.notation.setups import parse_setup
from stratkit.notation.squares import parse_move
from stratkit.storage.records import read_records

SAMPLES = ROOT / "formats" / "samples"
LOGS = SAMPLES / "gravon"
GSN, XML = LOGS / "barrage.2003.9.2.7.gsn", LOGS / "barrage-2010.11-204.xml"
CLASSIC = LOGS / "classic-2009.3-17.xml"
EMPTY = LOGS / "classic.2004.5.12.34.gsn"
START = (SAMPLES / "barrage.fenfs").read_text().splitlines()[0]
START_OF_RED = (SAMPLES / "barrage.red.fenfs").read_text().splitlines()[0]
PLIES = {GSN: 71, XML: 38}


def fenfs(*arguments, stdin=""):
    """Status, stdout, lines of stderr."""
    done = run("fenfs", *arguments, stdin=stdin.encode() if isinstance(stdin, str) else stdin)
    return done.status, done.out, done.err.splitlines()


# ---- convert ----


@pytest.mark.parametrize(
    ("golden", "options"),
    [
        ("barrage.fenfs", ["--to", "fenfs", XML]),
        ("barrage.red.fenfs", ["--to", "fenfs", "--view", "red", XML]),
        ("gravon.setups", ["--to", "setups", LOGS]),
        ("gravon.jsonl", ["--to", "games", LOGS]),
    ],
)
def test_golden_files(golden, options):
    expected = (SAMPLES / golden).read_text().replace("stratkit 0.1.0", f"stratkit {__version__}")
    assert fenfs("convert", *options) == (0, expected, [])


def test_game_records_say_what_the_logs_say(tmp_path):
    path = tmp_path / "games.jsonl"
    assert fenfs("convert", "--to", "games", LOGS, "-o", path) == (0, "", [])
    with path.open("rb") as stream:
        games = list(read_records(stream, "games"))
    assert {game.number for _, game in games} == {0}
    assert len({header.setups["sha256"] for header, _ in games}) == len(games)
    header, game = next((h, g) for h, g in games if h.players[1].name == "Dame Öhm")
    assert (header.game, header.players[0].name) == ("barrage", "quickstep")
    sha256 = hashlib.sha256(XML.read_bytes()).hexdigest()
    assert header.setups == {"from": "gravon", "type": "barrage", "sha256": sha256}
    assert (game.result, game.reason, game.adjudicator) == ("blue", "flag_captured", None)
    moves = [a + b for a, b in re.findall(r'source="(.*)" target="(.*)"', XML.read_text())]
    assert game.moves.split() == moves and game.plies == PLIES[XML]
    setups = fenfs("convert", "--to", "setups", XML)[1].split()
    assert list(game.setups) == setups
    forfeits = [g for _, g in games if g.reason == "forfeit"]
    assert forfeits and all(g.adjudicator == "gravon" for g in forfeits)


@pytest.mark.parametrize("number", range(10))
def test_game_records_can_be_replayed(number):
    """The engine ends each played-out game where its record does."""
    with (SAMPLES / "gravon.jsonl").open("rb") as stream:
        header, game = list(read_records(stream, "games"))[number]
    variant = VARIANTS[header.game]
    start = Position.of_setups(variant, *map(parse_setup, game.setups))
    arbiter = Arbiter(free_game(variant.name), start)
    for move in game.moves.split():
        arbiter.move(*parse_move(move, variant.width, variant.height))
    assert (arbiter.ending == game.reason) == (game.adjudicator is None)


def test_files_folders_zips_and_stdin_give_the_same(tmp_path):
    expected = (SAMPLES / "gravon.setups").read_text()
    archive = tmp_path / "logs.zip"
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as out:
        for path in sorted(LOGS.iterdir(), reverse=True):
            out.write(path, path.name)
        out.writestr("readme.txt", "not a log")
    convert = ("convert", "--to", "setups")
    assert fenfs(*convert, *sorted(LOGS.iterdir())) == (0, expected, [])
    assert fenfs(*convert, archive) == (0, expected, [])
    assert fenfs(*convert, tmp_path) == (0, expected, [])
    assert fenfs(*convert, "-", stdin=archive.read_bytes()) == (0, expected, [])
    single = fenfs(*convert, XML)
    assert fenfs(*convert, "-", stdin=XML.read_bytes()) == single
    with archive.open("rb") as file:  # not a pipe: it can be read from its end
        done = subprocess.run(command_line("fenfs", *convert, "-"), stdin=file, capture_output=True)
        assert (done.stdout.decode(), done.stderr) == (expected, b"")


def test_output_files_are_whole_and_not_overwritten(tmp_path):
    out = tmp_path / "out.setups"
    arguments = ("convert", "--to", "setups", XML, "-o", out)
    assert fenfs(*arguments) == (0, "", [])
    whole = out.read_text()
    assert whole.splitlines()[0] == START.split(" ")[0][:40].replace("a", "A")
    status, _, [line] = fenfs(*arguments)
    assert status == 1 and line.startswith(f"fenfs: {out}: exists already")
    out.write_text("old")
    assert fenfs(*arguments, "-f")[0] == 0
    assert out.read_text() == whole
    assert [p.name for p in tmp_path.iterdir()] == ["out.setups"]


def test_nothing_sound_leaves_no_file(tmp_path):
    out = tmp_path / "out"
    (tmp_path / "bad.gsn").write_text("rubbish")
    assert fenfs("convert", "--to", "fenfs", tmp_path / "bad.gsn", "-o", out)[0] == 3
    assert fenfs("convert", "--to", "fenfs", tmp_path / "none.gsn", "-o", out)[0] == 1
    assert not out.exists()


def test_empty_games_are_sound():
    assert fenfs("convert", "--to", "fenfs", EMPTY) == (0, "", [])
    status, out, _ = fenfs("show", EMPTY)
    assert status == 0 and out.endswith("ended before the setups were complete\n\n")


ENTITIES = b"""<?xml version="1.0"?>
<!DOCTYPE stratego [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;">]>
<stratego>&b;</stratego>"""


def bomb(tmp_path):
    """A zip whose member grows to 256 MiB."""
    path = tmp_path / "bomb.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as out, out.open("a.xml", "w") as member:
        for _ in range(1 << 8):
            member.write(b"<" * (1 << 20))
    return path


def zipped(name, data, **changes):
    def make(tmp_path):
        path = tmp_path / "broken.zip"
        with zipfile.ZipFile(path, "w") as out:
            out.writestr(name, data)
        content = path.read_bytes()
        for old, new in changes.values():
            assert old in content
            content = content.replace(old, new)
        path.write_bytes(content)
        return path

    return make


def file(name, data):
    def make(tmp_path):
        path = tmp_path / name
        path.write_bytes(data)
        return path

    return make


def folder(tmp_path):
    (tmp_path / "folder" / "within").mkdir(parents=True)
    return tmp_path / "folder"


lines = GSN.read_bytes().split(b"\r\n")
xml = XML.read_bytes()
BROKEN = {
    "rubbish": (file("a.gsn", b"\x1b]0;x\x07rubbish"), r"neither a .gsn nor an .xml log: '\x1b"),
    "nothing": (file("a.gsn", b""), "neither a .gsn nor an .xml log"),
    "truncated": (file("a.gsn", b"\n".join(lines[:20])), "line 21: the file ends where a move"),
    "truncated xml": (file("a.xml", xml[:500]), "line 12: not well-formed XML: unclosed token"),
    "letters": (
        file("a.xml", xml.replace(b'="AA', b'="A')),
        "line 4: a field has 100 letters, not 9",
    ),
    "counts": (file("a.xml", xml.replace(b"LM", b"LL")), "line 4: red: a setup of barrage has 1"),
    "illegal": (
        file("a.gsn", b"\n".join([*lines[:3], b"A1-A9", *lines[3:]])),
        "line 4, move 1: illegal move: ",
    ),
    "square": (
        file("a.gsn", b"\n".join([*lines[:3], b"A1-J1", *lines[3:]])),
        "line 4, move 1: unknown square (A1 to K10): 'A1-J1'",
    ),
    "result": (file("a.gsn", b"\n".join([*lines[:-2], b"X won"])), "a result like 'RED vs BLUE"),
    "utf-8": (file("a.gsn", b"#\xff\n"), "line 1: not UTF-8"),
    "entities": (file("a.xml", ENTITIES), "line 2: a document type"),
    "huge": (file("a.gsn", b"#" * (2 << 20)), "a log of over 1 MiB"),
    "zip": (file("a.zip", b"PK\x03\x04 and no more"), "damaged zip: File is not a zip file"),
    "crc": (zipped("a.gsn", GSN.read_bytes(), x=(b"type 1", b"type 2")), "a.gsn: damaged zip: Bad"),
    "no logs": (zipped("a.txt", b"?"), "holds no .gsn or .xml or .fenfs"),
    "bomb": (bomb, "bomb.zip/a.xml: a log of over 1 MiB"),
    "folder": (folder, "holds no .gsn or .xml or .fenfs"),
    "missing": (lambda tmp_path: tmp_path / "no.gsn", "cannot read: No such file or directory"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_file_is_told_and_the_others_are_converted(name, tmp_path):
    make, said = BROKEN[name]
    path = make(tmp_path)
    good = fenfs("convert", "--to", "fenfs", XML, GSN)[1]
    assert len(good.splitlines()) == sum(PLIES.values()) + 2
    status, out, [line] = fenfs("convert", "--to", "fenfs", XML, path, GSN)
    assert (status, out) == (3, good)
    assert line.startswith(f"fenfs: {path}") and said in line and line.isprintable()
    status, out, [again] = fenfs("check", path)
    assert (status, out) == (1 if name == "missing" else 3, "")
    assert again == line


def test_a_fault_that_is_survived_is_told_too(tmp_path):
    path = tmp_path / "a.gsn"
    path.write_bytes(GSN.read_bytes().replace(b"result 0 winner", b"result 1 winner"))
    status, out, [line] = fenfs("convert", "--to", "fenfs", path)
    assert status == 3 and out == fenfs("convert", "--to", "fenfs", GSN)[1]
    assert "no move captures a flag" in line


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["convert", XML], "missing option '--to'"),
        (["convert", "--to", "fenf", XML], "(did you mean 'fenfs'?)"),
        (["convert", "--to", "fenfs"], "missing argument 'INPUT...'"),
        (["convert", "--to", "setups", "--view", "red", XML], "--view goes with --to fenfs"),
        (["convert", "--two", "setups", XML], "no such option: --two (did you mean '--to'?)"),
        (["check"], "missing argument 'INPUT...'"),
        (["chek", XML], "no such command: chek (did you mean 'check'?)"),
        (["show", "--ply", "3", START], "--ply goes with a game"),
        (["show", "--ply", "-3", XML], "--ply must be a whole number from 0"),
        (["show", "--view", "blu", XML], "(did you mean 'blue'?)"),
    ],
)
def test_usage(arguments, said):
    status, out, [line] = fenfs(*arguments)
    assert (status, out) == (2, "") and said in line


# ---- show ----


def test_show_hides_what_the_viewer_does_not_know():
    observer, red, blue = (
        fenfs("show", "--view", v, START)[1] for v in ("observer", "red", "blue")
    )
    assert "b10" in observer and "r10" in observer
    assert "b?" in red and "r10" in red and "b10" not in red
    assert "r?" in blue and "b10" in blue and "r10" not in blue
    assert observer.splitlines()[2].startswith("10") and blue.splitlines()[2].startswith(" 1")
    assert fenfs("show", START_OF_RED)[1] == red


def test_show_a_log_at_a_ply():
    status, out, _ = fenfs("show", "--ply", 0, "--view", "red", XML)
    assert status == 0
    assert out.split("\n", 1)[1] == fenfs("show", "--view", "red", START)[1]
    assert out.startswith("barrage: red 'quickstep', blue 'Dame Öhm'; flag captured, blue won\n")
    assert "ply 38, seen by the observer" in fenfs("show", "-", stdin=XML.read_bytes())[1]
    assert re.search(r"\bb!", fenfs("show", "--ply", 9, "--view", "red", XML)[1])
    status, out, lines = fenfs("show", "--ply", 39, XML)
    assert (status, out) == (3, "") and "the game has 38 plies, not 39" in lines[0]


def test_show_refuses_the_other_side_s_view():
    status, out, lines = fenfs("show", "--view", "blue", START_OF_RED)
    assert (status, out) == (3, "")
    assert lines[0].startswith("fenfs: argument: line 1: this is the position as red sees it: ")


def test_show_refuses_the_view_that_the_paper_names():
    """AlphaZe's second example of FENfS is no position as red sees it: the reason is told."""
    blue = (
        "??aaaaaaaaaaaaaaaaaaa?a?aaaaaaaa????aaaaaa__aa__aa"
        "aa__aa__aaQaaOaXaPaaaaaaPaaaaaNaaaaaaaaaYWaaaaaaaa r 0"
    )
    status, out, [line] = fenfs("show", "--view", "red", blue)
    assert (status, out) == (3, "")
    what = "this is the position as blue sees it: it hides B to M, which are red's"
    assert line.startswith(f"fenfs: argument: line 1: {what}")
    assert fenfs("show", blue)[0] == 0


def test_show_many_positions_from_a_pipe():
    text = (SAMPLES / "barrage.fenfs").read_text()
    status, out, _ = fenfs("show", stdin=text)
    assert status == 0 and out.count(" to move, ply ") == len(text.splitlines())


def shown_at_a_terminal(**environment):
    """What `fenfs show` sends to a terminal."""
    master, slave = pty.openpty()
    env = {k: v for k, v in os.environ.items() if k != "NO_COLOR"}
    subprocess.run(
        command_line("fenfs", "show", START),
        stdout=slave,
        env={**env, **environment},
        check=True,
    )
    os.close(slave)
    out = os.read(master, 1 << 16)
    os.close(master)
    return out.replace(b"\r\n", b"\n").decode()


def test_colour_is_for_terminals_only():
    plain = fenfs("show", START)[1]
    assert plain.isascii() and "\x1b" not in plain
    colourful = shown_at_a_terminal()
    assert "\x1b[1;31m r10 " in colourful
    assert re.sub(r"\x1b\[[0-9;]*m", "", colourful) == plain
    assert shown_at_a_terminal(NO_COLOR="1") == plain


def test_control_characters_in_nicks_reach_no_terminal(tmp_path):
    path = tmp_path / "a.gsn"
    path.write_bytes(GSN.read_bytes().replace(b"Nine", b"\x1b[31mN\xc2\x9b31m"))
    out = fenfs("show", path)[1]
    assert r"red '\x1b[31mN\x9b31m Lives'" in out
    assert "\x1b" not in out and "\x9b" not in out


# ---- legal ----


def test_legal_moves():
    status, out, lines = fenfs("legal", START, START_OF_RED)
    assert (status, lines) == (0, [])
    first, second = out.splitlines()
    assert first == second
    moves = first.split(" ")
    assert all(re.fullmatch("[A-HIK][0-9]{1,2}[A-HIK][0-9]{1,2}", move) for move in moves)
    played = re.search(r'source="(.*)" target="(.*)"', XML.read_text())
    assert played[1] + played[2] in moves


def test_legal_reads_pipes_and_files():
    status, out, _ = fenfs("legal", SAMPLES / "barrage.fenfs")
    assert status == 0
    lines = out.split("\n")
    moves = re.findall(r'source="(.*)" target="(.*)"', XML.read_text())
    assert all(a + b in line.split(" ") for (a, b), line in zip(moves, lines, strict=False))
    assert len(lines) == PLIES[XML] + 2 and lines[-2] == ""  # the game is over: no moves
    assert fenfs("legal", stdin=(SAMPLES / "barrage.fenfs").read_text())[1] == out


def test_games_on_a_board_with_other_lakes_are_played_and_written(tmp_path):
    played = tmp_path / "games.jsonl"
    match = "match heuristic random -n 2 --seed 2 --game barrage:C5D5I7 -q -o"
    done = run(*match.split(), str(played))
    assert done.status == 0
    status, out, err = fenfs("convert", str(played), "--to", "fenfs")
    boards = out.splitlines()
    lakes = {tuple(i for i, c in enumerate(line) if c == "_") for line in boards}
    assert (status, err, lakes) == (0, [], {(42, 43, 68)}) and len(boards) > 20
    assert fenfs("legal", "-", stdin=boards[0])[0] == 0
    status, out, _ = fenfs("list", "--json", str(played))
    assert status == 0 and '"barrage:C5D5I7"' in out
    assert fenfs("check", str(played)) == (0, "", [])


def test_legal_refuses_what_it_cannot_answer(tmp_path):
    text = f"{START_OF_RED.replace(' r 0', ' b 1')}\nrubbish\n{START}\n"
    status, out, lines = fenfs("legal", "-", stdin=text)
    assert status == 3 and out == fenfs("legal", START)[1]
    assert "line 1: blue is to move and its pieces are hidden (? or !)" in lines[0]
    assert "line 2: a FENfS has a board, a side and a ply number: 'rubbish'" in lines[1]
    status, _, [line] = fenfs("legal", XML)
    assert status == 3 and "a game log, not FENfS" in line


# ---- check ----


def test_check_says_nothing_about_sound_files():
    names = ["gravon", "barrage.fenfs", "barrage.red.fenfs"]
    assert fenfs("check", *(SAMPLES / name for name in names)) == (0, "", [])
    status, out, lines = fenfs("check", "-v", XML)
    assert (status, out) == (0, "") and lines == [f"{XML}: sound"]


def test_check_tells_the_kinds_of_files_apart(tmp_path):
    setups = "\n".join((SAMPLES / "gravon.setups").read_text().splitlines()[:4])
    assert fenfs("check", "-", stdin=setups)[0] == 0
    assert fenfs("check", "-", stdin=START)[0] == 0
    status, _, [line] = fenfs("check", "-", stdin=f"{setups}\nrubbish\n")
    assert status == 3
    assert line == "fenfs: standard input: line 5: letter 1 of a setup is none of A to M: 'r'"
    status, _, [line] = fenfs("check", "-", stdin=f"{START}\n{START[1:]}\n")
    assert status == 3 and "standard input: line 2: no board has 99 squares" in line
    status, _, [line] = fenfs("check", "-", stdin="")
    assert (status, line) == (3, "fenfs: standard input: nothing in it")
    for subcommand in ("check", "legal", "show"):
        status, _, [line] = fenfs(subcommand, "-", stdin=bytes(range(256)) * 100)
        assert (status, line) == (3, "fenfs: standard input: not a text file")


def test_check_counts_the_pieces_of_setups(tmp_path):
    path = tmp_path / "a.setups"
    good = (SAMPLES / "gravon.setups").read_text().splitlines()[0]
    path.write_text(f"{good}\n{good.replace('M', 'B')}\n")
    status, _, [line] = fenfs("check", path)
    assert status == 3
    what = "a setup of barrage has 1 of type flag, not 0"
    assert line.startswith(f"fenfs: {path}: line 2: {what}: '")


def test_setups_are_drawn_with_their_names(tmp_path):
    path = tmp_path / "my.setups"
    path.write_text("MCL corner\nCLM\nLMC the middle\n")
    status, out, [key] = fenfs("show", path)
    assert status == 0 and key.startswith("F flag, S spy")
    assert out == "\n".join([
        "nano: corner", "     A    B    C", " 1  rF   rS   r10  1", "     A    B    C", "",
        "nano: line 2", "     A    B    C", " 1  rS   r10  rF   1", "     A    B    C", "",
        "nano: the middle", "     A    B    C", " 1  r10  rF   rS   1", "     A    B    C", "", "",
    ])  # fmt: skip
    assert fenfs("show", "-q", f"{path}#the middle")[1] == out[out.index("nano: the") :]
    assert fenfs("show", f"{path}#corner", "-o", tmp_path / "a.svg")[0] == 0
    assert "<title>nano: corner</title>" in (tmp_path / "a.svg").read_text()
    status, _, [line] = fenfs("show", path, "-o", tmp_path / "b.svg")
    assert status == 1 and line.endswith("a setup with FILE#NAME")
    status, _, [line] = fenfs("show", f"{path}#edge")
    assert (status, line) == (
        3, f"fenfs: {path}: no setup is called 'edge'; there are 'corner', 'the middle'"
    )  # fmt: skip
    status, _, [line] = fenfs("show", path, "--view", "red")
    assert status == 2 and "a setup is one side's alone" in line
    assert fenfs("check", "-", stdin=path.read_text())[0] == 0
    assert fenfs("convert", "--to", "setups", path)[1] == path.read_text()


# ---- manners ----


def test_a_reader_that_goes_away():
    process = subprocess.Popen(
        command_line("fenfs", "convert", "--to", "fenfs", *[CLASSIC] * 40),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    process.stdout.readline()
    process.stdout.close()
    said = process.stderr.read()
    process.stderr.close()
    assert process.wait() in (-13, 141) and said == b""


def test_a_full_disk():
    with open("/dev/full", "wb") as full:
        done = run("fenfs", "convert", "--to", "fenfs", XML, stdout=full.fileno())
    assert done.status == 1 and "No space left on device" in done.error_line


def test_a_file_that_cannot_grow_is_absent(tmp_path):
    out = tmp_path / "out"
    done = run("fenfs", "convert", "--to", "fenfs", CLASSIC, "-o", out, largest_file=4000)
    assert done.status == 1 and done.error_line == f"fenfs: {out}: File too large"
    assert list(tmp_path.iterdir()) == []


def test_a_pipeline():
    """From a zip of logs to legal moves, as a user would chain the commands."""
    positions = fenfs("convert", "--to", "fenfs", LOGS)[1]
    status, moves, lines = fenfs("legal", "-", stdin=positions)
    assert (status, lines) == (0, [])
    assert len(moves.splitlines()) == len(positions.splitlines())


@pytest.mark.parametrize("subcommand", [[], ["convert"], ["show"], ["check"], ["legal"]])
def test_help_imports_nothing_heavy(subcommand):
    code = (
        "import sys; from stratkit.cli.fenfs import main\n"
        f"sys.argv = {['fenfs', *subcommand, '--help']}\n"
        "try: main()\n"
        "finally: assert not {'numpy', 'torch', 'cffi'} & set(sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, cwd=ROOT)
    assert done.returncode == 0 and b"Usage: fenfs" in done.stdout
