"""One player among others: seats, scores and errors, from `match` to `rate`."""

from __future__ import annotations

import json
import math
import pathlib
import re
from collections import Counter

import numpy as np
import pytest

from running import ROOT, run
from stratkit.errors import InputError, UsageError
from stratkit.match.schedule import NamedSeats, OneAmongOthers
from stratkit.match.seats import seating_of
from stratkit.rating.shares import DRAW_SIZE, SQUARES, Share, Shares, scored

PURE = ("--game", "diplomacy:pure", "--seats", "1v6")


def test_each_player_is_the_one_in_each_seat_equally_often() -> None:
    schedule = OneAmongOthers(3, 14, sides=7)
    seated = Counter()
    for number in range(len(schedule)):
        seats = schedule.seats(number)
        one = next(i for i, player in enumerate(seats) if seats.count(player) == 1)
        seated[seats[one], seats[one - 1], one] += 1
    assert len(schedule) == 6 * 14 and len(seated) == 6 * 7 and set(seated.values()) == {2}
    assert [schedule.pair(n) for n in (0, 6, 7, 14)] == [0, 0, 1, 2]
    assert len(OneAmongOthers(3, 7, gauntlet=True, sides=7)) == 2 * 7


def test_several_of_one_sit_together_in_all_ways() -> None:
    """After all ways of 3 among 4, 35 games, each set of seats was taken once; each 7 are fair."""
    schedule = OneAmongOthers(2, 70, sides=7, alone=3)
    sets = [
        tuple(at for at, player in enumerate(schedule.seats(number)) if player == 0)
        for number in range(35)
    ]
    assert len(set(sets)) == 35 and {len(seats) for seats in sets} == {3}
    assert Counter(seat for seats in sets[:7] for seat in seats) == dict.fromkeys(range(7), 3)
    assert {schedule.seats(number).count(0) for number in range(70, 140)} == {4}


TINY = ("RED", "BLUE")


@pytest.mark.parametrize(
    ("text", "names", "seats"),
    [
        ("RED=a,BLUE=b", ["a", "b"], (0, 1)),
        ("blue=a,others=b", ["a", "b"], (1, 0)),
        ("RED=a", ["a", "b"], "nobody sits at BLUE (others=NAME seats them)"),
        ("RED=a,RED=b", ["a", "b"], "RED is named twice"),
        ("RDE=a,others=b", ["a", "b"], "no power is called 'RDE' (did you mean 'RED'?)"),
        ("RED=a,BLUE=b,others=a", ["a", "b"], "none is left for others"),
        ("RED=a,BLUE=c", ["a", "b"], "no PLAYER is called 'c'"),
        ("RED=a,BLUE=a", ["a", "b"], "b has no seat"),
        ("RED=a,BLUE", ["a", "b"], "--seats are POWER=NAME,others=NAME: 'BLUE'"),
    ],
)
def test_names_at_powers(text: str, names: list[str], seats: tuple[int, ...] | str) -> None:
    if isinstance(seats, tuple):
        assert seating_of(text, "tiny", TINY, names) == seats
        assert NamedSeats(2, 3, seating_of_all=seats).seats(2) == seats
    else:
        with pytest.raises(UsageError, match=re.escape(seats)):
            seating_of(text, "tiny", TINY, names)


def test_scores_and_errors_by_hand() -> None:
    assert scored([0.5, 0.5, 0.0], SQUARES) == [0.5, 0.5, 0.0]
    assert scored([0.9, 0.1, 0.0], DRAW_SIZE) == [0.5, 0.5, 0.0]
    assert scored([1.0, 0.0, 0.0], DRAW_SIZE) == [1.0, 0.0, 0.0]
    share = Share([[1.0, 0.0, 0.5, 0.5], [0.2, 0.4], []])
    assert share.games == 6 and share.mean == pytest.approx((0.5 + 0.3) / 2)
    within = (1 / 6) / 4 + 0.02 / 2  # variances of the seats' means
    assert share.error == pytest.approx(math.sqrt(within) / 2)
    assert Share([[1.0], [0.0, 1.0]]).error is None and math.isnan(Share([[], []]).mean)


def test_scores_that_are_all_alike_are_not_certain() -> None:
    """One of seven who scored nothing in each seat twice: the error was 0."""
    nothing = Share([[0.0, 0.0] for _ in range(7)])
    low, high = nothing.ends()
    assert nothing.error is None and nothing.seat(0) == (0, None)
    # Of 14 games without seats it would be what Clopper and Pearson have: 1 - .025^(1/14).
    assert low == 0 and 0.15 < high < 0.35


@pytest.mark.parametrize(("games", "chance"), [(1, 1 / 7), (2, 1 / 7), (5, 0.4), (20, 1 / 7)])
def test_the_interval_of_a_share_holds_the_truth(games: int, chance: float) -> None:
    rng = np.random.default_rng(6)
    seats = np.linspace(0.5, 1.5, 7) * chance  # some are better
    inside = 0
    for _ in range(150):
        won = (rng.random((games, 7)) < seats).astype(float)
        low, high = Share(won.T.tolist()).ends()
        inside += low <= chance <= high
    assert inside >= 0.93 * 150 - 2 * math.sqrt(150 * 0.93 * 0.07)


def test_identical_players_score_a_seventh_and_matches_go_on_alike(tmp_path: pathlib.Path) -> None:
    file = tmp_path / "games.jsonl"
    words = ["match", "name=a,random", "name=b,random", *PURE, "-n", 134, "--seed", 4, "-o", file]
    played = run(*words)
    assert played.status == 0 and "a among 6 of b: 140 games, score 0.1" in played.err
    whole = file.read_bytes()
    file.write_bytes(whole[: len(whole) // 3])
    assert run("match", "--resume", "-o", file).status == 0
    assert file.read_bytes() == whole
    done = run("rate", "--score", "squares", "--json", file, file)
    assert done.error_line == "rate: 280 games met again, counted once"
    found = json.loads(done.out)
    page = (ROOT / "formats/rating.md").read_text().partition("\n## ")[2].partition("\n## ")[0]
    assert re.findall(r"^\| (\w+) \| (?!type)", page, re.M) == list(found)
    assert [(c["one"], c["others"], c["games"]) for c in found["cells"]] == [
        ("a", "b", 140),
        ("b", "a", 140),
    ]
    for cell in found["cells"]:
        assert abs(cell["mean"] - 1 / 7) < 2 * cell["error"] < 0.05
        assert cell["low"] < 1 / 7 < cell["high"] < cell["low"] + 0.1
        assert cell["seats"][0]["seat"] == "AUSTRIA"
        assert {seat["games"] for seat in cell["seats"]} == {20}
    table = run("rate", "--score", "draw-size", file).out.splitlines()
    assert table[0] == "diplomacy:pure, scored by draw-size; equal is 0.143"
    assert table[2].split()[:5] == ["one", "among", "6", "games", "score"] and len(table) == 5
    lines = whole.splitlines(keepends=True)
    other = lines[1].replace(b'"reason":"', b'"reason":"another')
    done = run("rate", "--score", "draw-size", "-", stdin=b"".join([*lines, other]))
    what = "with the number of another game of the match, such as 0"
    assert done.error_line == f"rate: left out: 1 game {what}"
    assert done.out.splitlines() == table
    file.write_bytes(whole[:-9])
    done = run("rate", "--score", "squares", file)
    assert done.status == 0 and done.error_line == f"rate: {file}: line 281: torn, left out"


def test_other_seats_are_another_match(tmp_path: pathlib.Path) -> None:
    """Of the same players and the same seed: games of one number are different games."""
    files = [tmp_path / f"{power}.jsonl" for power in ("AUSTRIA", "TURKEY")]
    for file in files:
        words = "match", "name=a,random", "name=b,random", *PURE[:2], "--seed", 1, "-n", 7, "-q"
        assert run(*words, "--seats", f"{file.stem}=a,others=b", "-o", file).status == 0
    done = run("rate", "--score", "squares", "--json", *files)
    (cell,) = json.loads(done.out)["cells"]
    assert done.err == "" and cell["games"] == 14
    assert {seat["seat"]: seat["games"] for seat in cell["seats"] if seat["games"]} == {
        "AUSTRIA": 7,
        "TURKEY": 7,
    }
    assert run("fenfs", "check", *files).status == 0
    typed = file.read_bytes().replace(b"TURKEY=a,others=b", b"others=b,TURKEY=a")
    done = run("rate", "--score", "squares", "-", file, stdin=typed)
    assert done.err == "rate: 7 games met again, counted once\n"  # the same seats


def test_what_does_not_fit_is_refused_in_one_line(tmp_path: pathlib.Path) -> None:
    file = tmp_path / "two.jsonl"
    two = ["match", "random", "name=b,random", "--seed", 1, "-o", file]
    for words, wrong in (
        (["--game", "diplomacy:pure", "-n", 7], "diplomacy:pure has 7 players: --seats 1v6 seats"),
        (
            [*PURE[:2], "--seats", "1v5", "-n", 7],
            "has 7 players, and these seats add up to 6: '1v5'",
        ),
        ([*PURE[:2], "--seats", "six", "-n", 7], "--seats are like 1v6, or POWER=NAME"),
        ([*PURE, "-n", 7, "--sprt", "elo0=0,elo1=5"], "--sprt is for games of two players"),
        (
            ["--game", "kuhn", "--seats", "1v6", "-n", 2],
            "kuhn has 2 players, and these seats add up to 7",
        ),
    ):
        done = run(*two, *words)
        assert done.status == 2 and wrong in done.error_line and not file.exists()
    assert run(*two, "--game", "kuhn", "-n", 2).status == 0
    done = run("rate", "--score", "squares", file)
    what = "game 1: --score is for games of one player among copies of another"
    assert done.status == 1 and f"{what}: rate --method luce rates others" in done.error_line
    done = run("rate", "--score", "squares", "--csv", file)
    assert (
        done.status == 2
        and "--score goes with --json and --mixed-rules alone, not with --csv" in done.error_line
    )


def test_other_games_and_rules_do_not_belong_together(tmp_path: pathlib.Path) -> None:
    file = tmp_path / "games.jsonl"
    assert run("match", "random", "name=b,random", *PURE, "-n", 7, "-o", file).status == 0
    other = tmp_path / "other.jsonl"
    other.write_text(file.read_text().replace('"years":12', '"years":11'))
    shares = Shares(SQUARES)
    with file.open("rb") as stream:
        shares.read(stream, "one")
    with other.open("rb") as stream, pytest.raises(InputError) as caught:
        shares.read(stream, "other")
    what = "other rules than in one: years is 12 there, 11 here"
    assert str(caught.value) == f"other: line 1: {what}; --mixed-rules rates them together"
    done = run("rate", "--score", "squares", "--mixed-rules", file, other)
    assert done.status == 0 and "years is 12 there, 11 here; rated together" in done.err
    assert "; rules are not the same in all games: years\n" in done.out
    done = run("rate", "--score", "squares", "--mixed-rules", "--json", file, other)
    assert json.loads(done.out)["mixed_rules"] == ["years"]
