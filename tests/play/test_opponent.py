"""Self-play of one side against a frozen player: who decides what, and what is learned of it."""

from __future__ import annotations

import io
import json
import pathlib
from dataclasses import replace

import numpy as np
import pytest

from running import Done, here, learn, run
from solve.small_games import tree_of
from stratkit.engine import Game, hidden_types, replay_many
from stratkit.errors import UsageError
from stratkit.models.trained_network import load
from stratkit.play.seating import Seating, Seatings
from stratkit.play.selfplay import Frozen
from stratkit.play.table import Table
from stratkit.players.baselines import RandomPlayer
from stratkit.players.player import Decision, Player, Views
from stratkit.solve.exploitability import evaluate
from stratkit.storage.episodes import Episode, EpisodeReader, Header

PLAYED = ("--game", "mini", "-n", 12, "--seed", 3)


def read(done: Done) -> tuple[Header, list[Episode]]:
    assert (done.status, done.err) == (0, "")
    reader = EpisodeReader(io.BytesIO(done.data), "test")
    episodes = list(reader)
    return reader.header, episodes


@pytest.mark.parametrize(("game", "players"), [("mini", 2), ("kuhn", 2), ("diplomacy:pure", 7)])
def test_the_policy_has_one_seat_after_another(game: str, players: int) -> None:
    """Against itself the games are those of self-play, without the mu of the other seats."""
    words = ("--game", game, "-n", 8, "--seed", 3, "--max-actions", 90)
    plain, expected = read(here("selfplay", *words))
    header, found = read(here("selfplay", *words, "--opponent", "random"))
    assert (plain.opponent, header.opponent, header.opponent_network) == (None, "random", None)
    seen = replay_many(Game(game), [(b"", one.actions) for one in found])
    assert max(seen.actors) == players - 1
    actors = np.split(seen.actors, np.cumsum([len(one.actions) for one in found])[:-1])
    for one, other, who in zip(found, expected, actors, strict=True):
        np.testing.assert_array_equal(one.actions, other.actions)
        own = who == one.number % players
        np.testing.assert_array_equal(one.mu, np.where(own, other.mu, np.nan))


@pytest.mark.parametrize("game", ["mini", "diplomacy:pure"])
def test_several_opponents_take_turns(game: str) -> None:
    """Game k of a pool is game k against its one: each seat of the policy meets each of them."""
    words = ("--game", game, "-n", 45, "--seed", 3, "--max-actions", 60)
    strong = "heuristic" if game == "mini" else "random"
    pool = ("random", strong, "itself", strong)
    header, found = read(
        here("selfplay", *words, *(x for one in pool for x in ("--opponent", one)))
    )
    assert header.opponent == pool and header.opponent_network == (None,) * 4
    alone = {one: read(here("selfplay", *words, "--opponent", one)) for one in pool}
    assert [alone[one][0].opponent for one in pool] == list(pool)
    for one in found:
        other = alone[pool[one.number // Game(game).players % 4]][1][one.number]
        np.testing.assert_array_equal(one.actions, other.actions)
        np.testing.assert_array_equal(one.mu, other.mu)
    plain = read(here("selfplay", *words))[1]
    for one, other in zip(alone["itself"][1], plain, strict=True):
        np.testing.assert_array_equal(one.actions, other.actions)
        np.testing.assert_array_equal(one.mu, other.mu)


def test_the_games_are_those_of_a_match(tmp_path: pathlib.Path) -> None:
    found = read(here("selfplay", *PLAYED, "--opponent", "heuristic"))[1]
    games = tmp_path / "games.jsonl"
    assert here("match", "random", "heuristic", *PLAYED, "-o", games).status == 0
    records = [json.loads(line) for line in games.read_text().splitlines()[1:]]
    assert [(r["number"], r["returns"]) for r in records] == [
        (one.number, one.returns.tolist()) for one in found
    ]
    assert sum(one.returns[one.number % 2] for one in found) < 0


def test_parts_threads_and_slots_change_nothing() -> None:
    words = ("selfplay", *PLAYED, "--opponent", "heuristic")
    whole = here(*words)
    assert here(*words, "--threads", 2, "--slots", 5).data == whole.data
    parts = [read(here(*words, "--part", f"{k}/2"))[1] for k in (1, 2)]
    for one, other in zip([*parts[0], *parts[1]], read(whole)[1], strict=True):
        np.testing.assert_array_equal(one.actions, other.actions)
        np.testing.assert_array_equal(one.mu, other.mu)


def test_a_search_of_the_opponent_is_nobody_s_target() -> None:
    words = ("selfplay", "--game", "leduc", "-n", 6, "--seed", 1)
    search = "search=pc-pimc,worlds=2,nodes=4,pick=drawn"
    header, found = read(here(*words, "--opponent", f"{search},random"))
    assert header.opponent and header.opponent.startswith("search=pc-pimc")
    assert all(one.targets is None for one in found)
    found = read(here(*words, "--actors", search, "--opponent", "random"))[1]
    for one in found:
        assert one.targets is not None
        assert not one.targets.count[np.isnan(one.mu)].any()
    assert any(one.targets.count.any() for one in found if one.targets)


class Curious(RandomPlayer):
    """Draws worlds at every decision in play, and keeps how many were different."""

    def __init__(self) -> None:
        super().__init__(1)
        self.different: list[int] = []

    def act(self, views: Views) -> Decision:
        for row in np.flatnonzero(views.numbers >= 16).tolist():
            self.different.append(len(np.unique(hidden_types(views.state(row).worlds(8)), axis=0)))
        return super().act(views)


def test_the_opponent_does_not_see_the_truth() -> None:
    """Where the policy's own search does ("TrueSight learning")."""
    own, other = Curious(), Curious()
    seatings = Seatings(Seating(number, (number % 2, 1 - number % 2)) for number in range(8))
    players: list[Player] = [own, Frozen(other)]
    table = Table(Game("mini"), players, seatings, 4, max_actions=24, true_sight=lambda: True)
    assert sum(map(len, filter(None, table.rounds()))) == 8
    assert set(own.different) == {1} and min(other.different) > 1


def test_who_resigns_is_no_opponent() -> None:
    class Resigning(RandomPlayer):
        def act(self, views: Views) -> Decision:
            decision = super().act(views)
            return replace(decision, resigned=views.numbers > 20)

    seatings = Seatings(Seating(number, (number % 2, 1 - number % 2)) for number in range(8))
    table = Table(Game("mini"), [RandomPlayer(1), Frozen(Resigning(1))], seatings, 4)
    with pytest.raises(UsageError, match="the opponent resigned"):
        list(table.rounds())


@pytest.mark.parametrize(
    ("words", "status", "what"),
    [
        (("kuhn", "--opponent", "heuristic"), 1, "heuristic does not play kuhn"),
        (
            ("mini", "--opponent", "barrage-easy"),
            1,
            "barrage-easy: a policy for barrage, not for mini",
        ),
        (("mini", "--opponent", "heuristc"), 1, "did you mean 'heuristic'"),
        (("mini", "--opponent", "worlds=3,random"), 2, "worlds= needs search="),
        (
            ("mini", "--opponent", "itself", "--opponent", "itslef"),
            1,
            "no such file or folder: 'itslef'",
        ),
        (("mini", "--opponent", "name=x,itself"), 1, "no such file or folder: 'itself'"),
        (("mini", "--opponent", "human"), 2, "people play matches, and nothing else: 'human'"),
        (("mini", "--opponent", "ucc:sh"), 2, "programs play matches, and nothing else: 'ucc:sh'"),
        (("kuhn", "--search", "cfr", "--opponent", "random"), 2, "--opponent is not for --search"),
    ],
)
def test_one_line_says_what_is_wrong(words: tuple[object, ...], status: int, what: str) -> None:
    done = here("selfplay", "-n", 1, "--game", *words)
    assert (done.status, done.data) == (status, b"")
    assert done.error_line.startswith("selfplay: ") and what in done.error_line


def test_a_best_response_is_learned(tmp_path: pathlib.Path) -> None:
    """In Kuhn poker against uniform play, whose best responses win .5 and .417, exactly.

    Without a temperature at first, four seeds of six never learn that a queen calls.
    """
    folder = tmp_path / "run"
    arguments = ("--game", "kuhn", "--policy", folder, "--follow", "--seed", 1, "-q")
    learn((*arguments, "--opponent", "random", "--max-ahead", 512),
          ("--out", folder, "--algorithm", "mmd", "--steps", 120, "--net", "mlp:32", "--seed", 1,
           "--batch", 256, "--lr", 0.03, "--lr-power", 0, "--eta", 0.1, "--eta-power", 1,
           "--eta-floor", 0, "-q"))  # fmt: skip
    tree = tree_of("kuhn")
    uniform = tree.uniform()
    observations, legal, which = tree.distinct_views()
    learned = tree.flat(load(folder, "online").policy(observations, legal)[which])
    values = [
        evaluate(tree, np.where(tree.mine == k, learned, uniform)).value * (1 - 2 * k)
        for k in (0, 1)
    ]
    assert values == pytest.approx(evaluate(tree, uniform).best, abs=0.06)


@pytest.mark.parametrize(("algorithm", "more"), [("mmd", ("--slice", 16)), ("rnad", ())])
def test_who_can_learn_from_them(
    tmp_path: pathlib.Path, algorithm: str, more: tuple[object, ...]
) -> None:
    """Half of the decisions are learned from; slices are for mmd alone, as ever."""
    games = tmp_path / "x.eps"
    done = here("selfplay", *PLAYED, "--opponent", "heuristic", "-o", games, *more)
    assert done.status == 0
    learning = ("--algorithm", algorithm, "--net", "plain", "--seed", 1, "--batch", 12)
    done = run("train", games, "--out", tmp_path / "run", *learning)
    assert done.status == 0, done.err
    with open(games, "rb") as stream:
        own = sum(np.isfinite(one.mu).sum() for one in EpisodeReader(stream, "x.eps"))
    lines = (tmp_path / "run/metrics.jsonl").read_text().splitlines()
    states = [json.loads(line)["states"] for line in lines]
    assert 0 < sum(states) <= own and (more or states == [own])
