"""From game records to a pool."""

from __future__ import annotations

import json
import pathlib
from dataclasses import replace

import msgspec
import numpy as np
import pytest

from rating_games import changed, colours, header, record, scores, write
from running import run
from stratkit.errors import InputError, UsageError
from stratkit.rating import reading
from stratkit.rating.pool import WON, pairs
from stratkit.rating.reading import PoolReader


def read(*paths: pathlib.Path) -> PoolReader:
    reader = PoolReader()
    for path in paths:
        with path.open("rb") as stream:
            reader.read(stream, path.name)
    return reader


def test_results_count_for_players_not_for_colours(tmp_path: pathlib.Path) -> None:
    games = [record(0, 0, 1, "red"), record(1, 1, 0, "blue"), record(2, 0, 1, "blue")]
    pool = read(write(tmp_path / "g", header("x", "a"), games)).finish()
    x, a = (pool.names.index(name) for name in ("x", "a"))
    assert scores(pool)[x, a].tolist() == [1, 0, 2]
    assert colours(pool)[x, a].tolist() == [1, 0, 1] and colours(pool)[a, x, WON] == 0
    assert len(pool) == 3


def test_a_player_is_another_one_each_day(tmp_path: pathlib.Path) -> None:
    days = (None, "2026-11-27T20:15:00Z", "2026-11-27T21:15:00Z", "2026-11-28T01:00:00Z")
    games = [
        msgspec.structs.replace(record(k, k % 2, 1 - k % 2, "red"), date=day)
        for k, day in enumerate(days)
    ]
    reader = PoolReader(by_day="me")
    with write(tmp_path / "g", header("me", "x"), games).open("rb") as stream:
        reader.read(stream, "g")
    pool = reader.finish()
    assert sorted(pool.names) == ["me", "me 2026-11-27", "me 2026-11-28", "x"]
    called = [(pool.names[a], pool.names[b]) for a, b in zip(pool.red, pool.blue, strict=True)]
    first, second = "me 2026-11-27", "me 2026-11-28"
    assert called == [("me", "x"), ("x", first), (first, "x"), ("x", second)]


def test_a_day_of_nobody_is_refused_and_games_without_days_are_told(
    tmp_path: pathlib.Path,
) -> None:
    results = tmp_path / "results.csv"
    results.write_text("white,black,result\nAnn,Bob,1-0\n")
    records = write(tmp_path / "g", header("me", "x"), [record(0, 0, 1, "red")])
    for by_day, told in (
        ("me", ["--by-day: no game of me has a date"]),
        ("Bob", ["--by-day: no game of Bob has a date"]),
        ("Bo", None),
    ):
        said: list[str] = []
        reader = PoolReader(said.append, by_day=by_day)
        for path in (records, results):
            with path.open("rb") as stream:
                reader.read(stream, path.name)
        if told is None:
            with pytest.raises(UsageError, match=r"called 'Bo' \(did you mean 'Bob'"):
                reader.finish()
        else:
            assert len(reader.finish()) == 2 and told == said[:1]


def test_the_games_of_a_pair_are_one_unit(tmp_path: pathlib.Path) -> None:
    games = [
        record(0, 0, 1, "red"),
        record(2, 0, 1, "draw"),  # not in order, as a resumed match may leave them
        record(1, 1, 0, "red"),
        record(3, 1, 0, "blue"),
        record(4, 0, 1, "blue"),  # its partner is missing
        record(6, 0, 1, "red"),
        record(7, 1, 0, "red"),  # as the first pair
    ]
    found = pairs(read(write(tmp_path / "g", header("a", "b"), games)).finish())
    assert (found.first == 0).all() and (found.second == 1).all() and len(found.starts) == 1
    # Lost, drawn, won by a as red, then as blue.
    kinds = {tuple(c.ravel()): int(n) for c, n in zip(found.counts, found.number, strict=True)}
    assert kinds == {(0, 0, 1, 1, 0, 0): 2, (0, 1, 0, 0, 0, 1): 1, (1, 0, 0, 0, 0, 0): 1}
    assert sorted(found.points) == [0, 1, 1.5]


def test_pairs_of_other_matches_are_other_units(tmp_path: pathlib.Path) -> None:
    one = write(tmp_path / "1", header("a", "b", seed=1), [record(0, 0, 1, "red")])
    two = write(tmp_path / "2", header("a", "b", seed=2), [record(1, 1, 0, "red")])
    pool = read(one, two).finish()
    assert len(set(pool.pair.tolist())) == 2


def test_players_of_a_unit_who_differ(tmp_path: pathlib.Path) -> None:
    games = [record(0, 0, 1, "red"), record(1, 2, 0, "red")]
    found = pairs(read(write(tmp_path / "g", header("a", "b", "c"), games)).finish())
    assert found.number.tolist() == [1, 1] and len(found.starts) == 2


def test_games_met_again_count_once(tmp_path: pathlib.Path) -> None:
    path = write(tmp_path / "g", header("a", "b"), [record(n, 0, 1, "red") for n in range(4)])
    reader = read(path, path)
    assert len(reader.finish()) == 4
    assert reader.repeated == 4


def test_the_order_of_the_files_is_kept(tmp_path: pathlib.Path) -> None:
    """The sequential method depends on it."""
    results = ["red", "blue", "draw", "red"]
    games = [record(9 - n, 0, 1, result) for n, result in enumerate(results)]
    two = write(tmp_path / "2", header("a", "b", seed=2), games)
    one = write(tmp_path / "1", header("a", "b", seed=1), [record(0, 0, 1, "draw")])
    assert read(two, one, two).finish().result.tolist() == [2, 0, 1, 2, 1]


def test_matches_that_do_not_belong_together(tmp_path: pathlib.Path) -> None:
    first = write(tmp_path / "first", header("a", "b"), [record(0, 0, 1, "red")])
    other = tmp_path / "other"
    write(other, header("a", "b", game="nano"), [record(0, 0, 1, "red")])
    with pytest.raises(InputError, match="^other: line 1: games of nano, but first has mini$"):
        read(first, other)
    write(other, header("b", "c", weights="0" * 64), [record(0, 0, 1, "red")])
    with pytest.raises(InputError, match="^other: player 'b' has other weights than in first$"):
        read(first, other)
    write(other, header("a", "b"), [record(0, 0, 1, "red")])
    changed(other, 0, rules={"two_squares": 5})
    with pytest.raises(InputError) as caught:
        read(first, other)
    what = "other rules than in first: two_squares is 3 there, 5 here"
    assert str(caught.value) == f"other: line 1: {what}; --mixed-rules rates them together"


def test_each_rule_that_differs_is_named(tmp_path: pathlib.Path) -> None:
    """Among many others, and with names that nobody wrote for a terminal."""
    same = {f"a{n:02}": n for n in range(30)}
    first = write(tmp_path / "first", header("a", "b"), [record(0, 0, 1, "red")])
    other = write(tmp_path / "other", header("a", "b"), [record(0, 0, 1, "red")])
    changed(first, 0, rules={**same, "max_quiet": 200, "open": 2})
    changed(other, 0, rules={**same, "max_quiet": 100, "z\x1b" * 99: 0})
    with pytest.raises(InputError) as caught:
        read(first, other)
    assert str(caught.value).startswith(
        "other: line 1: other rules than in first: max_quiet is 200 there, 100 here;"
        " open is 2 there, not named here;"
        r" z\x1bz\x1bz\x1bz\x1bz\x1bz\x1b is not named there, 0 here; -"
    )
    changed(other, 0, rules={f"b{n:02}": n for n in range(30)})
    with pytest.raises(InputError, match="; and 58 more; --mixed-rules rates them together$"):
        read(first, other)


def test_mixed_rules_are_rated_together_and_told(tmp_path: pathlib.Path) -> None:
    """Games of one number of two matches that differ only in a rule are two games."""
    paths = [tmp_path / name for name in ("1", "2", "3", "4")]
    for path, squares in zip(paths, (3, 5, 5, 3), strict=True):
        write(path, header("a", "b"), [record(0, 0, 1, "red" if path.name == "1" else "draw")])
        changed(path, 0, rules={"two_squares": squares})
    told: list[str] = []
    reader = PoolReader(told.append, mixed=True)
    for path in paths[:3]:
        with path.open("rb") as stream:
            reader.read(stream, path.name)
    assert len(reader.finish()) == 2 and reader.repeated == 1 and reader.differing == []
    what = "other rules than in 1: two_squares is 3 there, 5 here; rated together"
    assert told == [f"2: line 1: {what}"] and reader.rules.differing == {"two_squares"}
    done = run("rate", "--mixed-rules", *paths[:2])
    what = f"other rules than in {paths[0]}: two_squares is 3 there, 5 here; rated together"
    assert done.err.splitlines()[0] == f"rate: {paths[1]}: line 1: {what}"
    assert done.out.startswith(
        "2 games of mini; rules are not the same in all games: two_squares; Elo with"
    )
    value = json.loads(run("rate", "--mixed-rules", "--json", *paths[:2]).out)
    assert value["mixed_rules"] == ["two_squares"]
    done = run("rate", *paths[:2])
    assert (done.status, done.data) == (1, b"") and "two_squares is 3 there" in done.error_line
    assert run("rate", "-q", "--prior", 1, "--mixed-rules", paths[0]).err == ""
    write(paths[1], header("a", "b", game="nano"), [record(0, 0, 1, "red")])
    assert run("rate", "--mixed-rules", *paths[:2]).status == 1  # another game, still


def test_matches_of_one_file_that_do_not_belong_together(tmp_path: pathlib.Path) -> None:
    """Each is told with the line of its header."""
    path = write(tmp_path / "g", header("a", "b"), [record(0, 0, 1, "red")])
    first = path.read_bytes()
    for game, remedy in (("nano", "; fenfs convert --variant chooses one"), ("kuhn", "")):
        rules = {"two_squares": 3} if remedy else {}  # which every variant of Stratego names
        head = replace(header("a", "b", game=game), rules=rules)
        write(path, head, [record(0, 0, 1, "red")])
        path.write_bytes(first + first + path.read_bytes())
        with pytest.raises(InputError) as caught:
            read(path)
        assert str(caught.value) == f"g: line 5: games of {game} behind games of mini{remedy}"
    path.write_bytes(first + first.replace(b'"two_squares":3', b'"two_squares":5'))
    with pytest.raises(InputError, match="^g: line 3: other rules than before: two_squares is 3"):
        read(path)


def test_what_is_no_game_of_two_players(tmp_path: pathlib.Path) -> None:
    games = [record(5, 0, 1, "red"), record(7, 0, 0, "red")]
    path = write(tmp_path / "g", header("a", "b"), games)
    with pytest.raises(InputError, match="^g: game 2: a player against itself$"):
        read(path)
    write(path, header("a", "b", "c"), [record(7, 0, 1, "red")])
    changed(path, 1, players=[0, 1, 2], returns=[2, -1, -1], result=None)
    with pytest.raises(
        InputError,
        match="^g: game 1: Elo is for two players: rate --score squares rates games of more$",
    ):
        read(path)
    with pytest.raises(InputError, match="^g: no games to rate$"):
        read(write(path, header("a", "b"), [])).finish()


# --- lines ----------------------------------------------------------------------------------------


def test_games_are_collected_in_blocks(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(0)
    games = [
        record(n, *rng.permutation(3)[:2].tolist(), str(rng.choice(["red", "draw", "blue"])))
        for n in range(300)
    ]
    adjudicated = msgspec.structs.replace(games[3], number=300, adjudicator="value")
    path = write(tmp_path / "g", header("a", "b", "c"), [*games, adjudicated, games[0]])
    whole = read(path)
    monkeypatch.setattr(reading, "_GAMES", 7)
    cut = read(path)
    assert whole.adjudicated == cut.adjudicated == 1
    one, other = whole.finish(), cut.finish()
    assert one.names == other.names and len(one) == 301 and whole.repeated == cut.repeated == 1
    for name in ("red", "blue", "result", "pair"):
        assert (getattr(one, name) == getattr(other, name)).all()
    assert one.result.tolist()[:300] == [["blue", "draw", "red"].index(g.result) for g in games]


BROKEN = {
    "two commas": (b'"pair":0,', b'"pair":0,,'),
    "a leading zero": (b'"pair":0', b'"pair":00'),
    "a wrong result": (b'"result":"red"', b'"result":"blue"'),
    "both got the same": (b"[1,-1]", b"[0,-0]"),
    "no number": (b'"number":0', b'"number":"0"'),
    "a control character": (b"A1A2", b"A1\x1bA2"),
    "bytes that are no text": (b"A1A2", b"A1\xffA2"),
    "an escape that is none": (b"A1A2", b"A1\\xA2"),
    "a field missing": (b'"plies":2,', b""),
    "too many players": (b'"players":[0,1]', b'"players":[0,1,0]'),
    "an unknown player": (b'"players":[0,1]', b'"players":[0,9]'),
    "text behind": (b'"times":null}', b'"times":null}}'),
}


@pytest.mark.parametrize("wrong", BROKEN)
def test_a_broken_game_is_refused(wrong: str, tmp_path: pathlib.Path) -> None:
    """Each is refused, as the second line behind the header, which is where it is said to be."""
    path = write(tmp_path / "g", header("a", "b"), [record(2, 0, 1, "red"), record(0, 0, 1, "red")])
    data = path.read_bytes()
    before, after = BROKEN[wrong]
    at = data.rindex(before)
    path.write_bytes(data[:at] + after + data[at + len(before) :])
    with pytest.raises(InputError, match=r"^g: (line 3|game 2): "):
        read(path)


def test_headers_between_games(tmp_path: pathlib.Path) -> None:
    one = write(tmp_path / "1", header("a", "b"), [record(0, 0, 1, "red"), record(1, 1, 0, "red")])
    two = write(tmp_path / "2", header("b", "c"), [record(0, 0, 1, "red")])
    both = tmp_path / "both"
    both.write_bytes(one.read_bytes() + two.read_bytes() + one.read_bytes()[:-5])
    reader = read(both)
    pool = reader.finish()
    assert pool.names == ["a", "b", "c"] and reader.repeated == 1
    assert list(zip(pool.red.tolist(), pool.blue.tolist(), strict=True)) == [(0, 1), (1, 0), (1, 2)]
    both.write_bytes(one.read_bytes() + two.read_bytes().replace(b'"version":1', b'"version":7'))
    with pytest.raises(InputError, match="^both: line 4: a version that is not 1: '7'$"):
        read(both)


def test_other_ways_to_write_json(tmp_path: pathlib.Path) -> None:
    path = write(tmp_path / "g", header("a", "b"), [record(n, 0, 1, "red") for n in range(3)])
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    path.write_text("".join(json.dumps(dict(reversed(line.items()))) + "\n" for line in lines))
    assert len(read(path).finish()) == 3


@pytest.mark.parametrize(
    ("one", "other", "weights"),
    [
        ("random", "heuristic", None),
        ("net=target,run/a", "net=online,run/a", "0" * 64),
        ("net=target,run/a", "net=target,quanta=16,run/a", "0" * 64),
        ("time=1.0,ucc:bot", "time=2.0,ucc:bot", None),
        ("ucc:bot -x", "ucc:bot -y", None),
        ("somebody", "somebody else", None),
    ],
)
def test_other_players_of_one_name(
    tmp_path: pathlib.Path, one: str, other: str, weights: str | None
) -> None:
    paths = [tmp_path / "one", tmp_path / "other"]
    for path, spec, seed in zip(paths, (one, other), (1, 2), strict=True):
        head = header("a", "b", seed=seed)
        a = replace(head.players[0], spec=spec, sha256=weights)
        write(path, replace(head, players=(a, head.players[1])), [record(0, 0, 1, "red")])
    with pytest.raises(InputError) as caught:
        read(*paths)
    assert str(caught.value) == f"other: player 'a' is another one in one, {one!r}: {other!r}"


def test_the_same_player_from_another_place(tmp_path: pathlib.Path) -> None:
    for specs, weights in (
        (("net=target,run/a", "net=target,old/b"), "0" * 64),
        (("time=1.0,ucc:./bot -x", "time=1.0,ucc:/opt/bot -x"), None),
        (("setup=a,human", "human"), None),
    ):
        paths = []
        for seed, spec in enumerate(specs):
            head = header("a", "b", seed=seed)
            a = replace(head.players[0], spec=spec, sha256=weights)
            path, head = tmp_path / str(seed), replace(head, players=(a, head.players[1]))
            paths.append(write(path, head, [record(seed, 0, 1, "red")]))
        assert len(read(*paths).finish().result) == 2
