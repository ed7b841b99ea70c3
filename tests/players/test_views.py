"""What views let a player know beyond legal actions and observation: worlds, and the history."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from scale import scaled
from stratkit.engine import Batch, Game, sample, worlds
from stratkit.engine.batch import CHANCE
from stratkit.engine.observation import CELLS
from stratkit.engine.stratego import PIECE, PLACING_ORDER, REVEALED, SIDE, VARIANTS
from stratkit.engine.worlds import hidden_types
from stratkit.play.seating import Seating, Seatings
from stratkit.play.table import Table
from stratkit.players.player import Decision, Player, Views

GAMES = ["mini", "barrage", "classic", "moves:nano", "leduc", "liars_dice:2x3", "dark_hex:3"]


def views_of(batch: Batch, number: int = 7) -> Views:
    return Views.of_one(batch, 5, number)


def random_game(game: Game, actions: int, seed: int) -> Batch | None:
    """A state in which somebody acts, if there is one so late."""
    batch, one = Batch(game, 1), np.zeros(1, np.int64)
    for number in itertools.count():
        actor, chosen = int(batch.actors()[0]), np.zeros(1, np.int32)
        if actor < CHANCE or (actor >= 0 and number >= actions):
            return batch if actor >= 0 else None
        if actor == CHANCE:
            batch.draw_chance(seed, one, np.full(1, number, np.int32), chosen)
        else:
            chosen = sample(None, batch.legal(), seed, one, np.full(1, number, np.int32))[0]
        batch.apply(chosen)
    return None


def played_on(batch: Batch) -> list[bytes]:
    """All that either side sees, and how the games end, if they are played on at random."""
    seen, games = [], np.arange(batch.size)
    for number in range(12):
        actors, legal = batch.actors(), batch.legal()
        seen += [actors.tobytes(), legal.tobytes(), batch.observe().tobytes()]
        numbers = np.full(batch.size, number, np.int32)
        chosen = sample(None, legal, 3, games, numbers)[0]
        batch.draw_chance(4, games, numbers, chosen)
        batch.apply(chosen)
    return [*seen, *(part.tobytes() for part in batch.result())]


@pytest.mark.parametrize("name", GAMES)
def test_the_truth_dealt_again_changes_no_byte_of_worlds(name: str) -> None:
    game, compared, differ = Game(name), 0, 0
    for seed in range(scaled(30)):
        batch = random_game(game, seed * (8 if game.start_bytes else 1), seed)
        if batch is None:
            continue
        other = worlds(batch, 0, 1, seed=1000 + seed)  # another truth, the same knowledge
        one, two = views_of(batch), views_of(other)
        for mine, theirs in ((one.legal, two.legal), (one.observations, two.observations)):
            np.testing.assert_array_equal(mine, theirs)
        assert one.state(0).moves() == two.state(0).moves()
        drawn, again = one.state(0).worlds(4, seed), two.state(0).worlds(4, seed)
        np.testing.assert_array_equal(drawn.observe(), np.repeat(one.observations, 4, 0))
        mine, theirs = played_on(drawn), played_on(again)
        assert mine == theirs
        differ += played_on(views_of(batch).state(0).worlds(4, seed + 1)) != mine
        compared += 1
    assert compared and differ


def test_worlds_are_drawn_by_the_numbers_of_game_and_action() -> None:
    """Each by itself gives other worlds, and the same ones again."""
    batch = random_game(Game("mini"), 20, 3)
    assert batch is not None
    keys = [(5, 7), (6, 7), (5, 8)]

    def drawn(game: int, number: int) -> bytes:
        return hidden_types(Views.of_one(batch, game, number).state(0).worlds(8)).tobytes()

    found = [drawn(*key) for key in keys]
    assert len(set(found)) == 3 and [drawn(*key) for key in keys] == found


ORDER = [t for t in PLACING_ORDER for _ in range(VARIANTS["mini"].counts[t])]


def seen_cells(observation: bytes) -> np.ndarray:
    return np.frombuffer(observation, np.uint8)[CELLS:]


class Asking(Player):
    """Plays at random, and keeps what it was shown."""

    def __init__(self) -> None:
        self.seen: list[tuple[int, int, np.ndarray, bytes]] = []

    def act(self, views: Views) -> Decision:
        some = views.take(np.arange(len(views))[::-1])  # states follow the rows
        for row in range(len(some)):
            world = some.state(row).worlds(1)
            np.testing.assert_array_equal(world.observe()[0], some.observations[row])
            history = some.state(row).history()
            assert history is not None
            seat = int(some.games[row]), int(some.sides[row])
            self.seen.append((*seat, history, world.observe().tobytes()))
        return Decision(*sample(None, views.legal, 1, views.games, views.numbers))


def test_the_history_is_what_was_played_without_the_others_deployment() -> None:
    game, player = Game("mini"), Asking()
    table = Table(game, [player], Seatings(Seating(n, (0, 0)) for n in range(3)), 2)
    finished = [e for ended in table.rounds() if ended for e, _, _ in ended]
    pieces = VARIANTS["mini"].pieces
    revealed = 0
    for number, side, history, observation in player.seen:
        (episode,) = (e for e in finished if e.number == number)
        hidden = np.flatnonzero(history < 0)
        first = pieces * (1 - side)
        theirs = np.arange(first, min(len(history), first + pieces))
        assert set(hidden) <= set(theirs)
        cells = seen_cells(observation)
        shown = (cells & (PIECE | SIDE | REVEALED)) == PIECE | SIDE
        if len(history) >= 2 * pieces:
            assert len(hidden) == shown.sum()
            revealed += len(theirs) - len(hidden)
        else:
            assert len(hidden) == len(theirs)
        mine = np.ones(len(history), bool)
        mine[theirs] = False
        np.testing.assert_array_equal(history[mine], episode.actions[: len(history)][mine])
        for type_ in PLACING_ORDER:  # the squares of revealed pieces, in no telling order
            places = first + np.flatnonzero(np.array(ORDER) == type_)
            if len(places) and places[-1] < len(history):
                told = history[places][history[places] >= 0]
                assert set(told) <= set(episode.actions[places]) and list(told) == sorted(told)
    assert revealed
    assert len(player.seen) == sum(len(e.actions) for e in finished)


def test_views_without_a_game_have_neither() -> None:
    game = Game("kuhn")
    batch = random_game(game, 2, 1)
    assert batch is not None and views_of(batch).state(0).history() is None
    bare = Views(*(getattr(views_of(batch), n) for n in
                   ("games", "sides", "numbers", "legal", "observations")))  # fmt: skip
    assert bare.state(0).history() is None and bare.state(0).moves() == []
    with pytest.raises(ValueError, match="no worlds"):
        bare.state(0).worlds(1)


def test_rows_are_gathered() -> None:
    game = Game("mini")
    batches = [b for s in (1, 2) if (b := worlds(Batch(game, 1), 0, 3, seed=s))]
    batches[0].apply(np.array([0, 1, 2], np.int32))
    found = Batch.gathered([(batches[0], [2, 0, 2]), (batches[1], []), (batches[1], [1])])
    wanted = [batches[0].observe()[i] for i in (2, 0, 2)] + [batches[1].observe()[1]]
    np.testing.assert_array_equal(found.observe(), wanted)
    with pytest.raises(ValueError, match="parts"):
        Batch.gathered([(batches[0], [3])])
    with pytest.raises(ValueError):
        Batch.gathered([(batches[0], [])])
    with pytest.raises(ValueError, match="different games"):
        Batch.gathered([(batches[0], [0]), (Batch(Game("kuhn"), 1), [0])])
