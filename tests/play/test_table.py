"""Games in lockstep: what is noted of each, and that nothing is kept of those that are over."""

from __future__ import annotations

import gc
import types
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest
import torch

from nets.random_play import views_of_games
from players.sharp import sharp_player
from stratkit.engine import Batch, Game, replay_many
from stratkit.engine.stratego import variant
from stratkit.match.adjudicate import Limit, ValueAdjudicator
from stratkit.play.backpressure import BackPressure, FollowedGames
from stratkit.play.finished import Finished, in_order
from stratkit.play.follower import Follower
from stratkit.play.seating import Seating, Seatings
from stratkit.play.table import Table
from stratkit.players.baselines import RandomPlayer
from stratkit.players.network import NetworkPlayer
from stratkit.players.player import Decision, Player, Views
from stratkit.players.testtime.options import PostProcessing
from stratkit.players.testtime.pipeline import PostprocessedPlayer
from stratkit.storage.columns import Episode


def test_step_is_the_policys_when_the_game_began() -> None:
    """One slot, and a learner that publishes after every action: a game's step is then the number
    of actions of all games before it."""

    class Publishing(Follower):
        def refresh(self) -> bool:
            self.step += 1
            return True

    follower = Publishing("run", Game("mini"))
    pressure = BackPressure(follower, 100, slots=1)
    twenty = Seatings(Seating(number, (0, 0)) for number in range(20))
    source = FollowedGames(twenty, pressure, print)
    rounds = Table(Game("mini"), [RandomPlayer(1)], source, slots=1).rounds()
    games = [game for finished in rounds if finished for game in finished.episodes]
    lengths = [len(game.actions) for game in games]
    assert len(set(lengths)) > 5
    assert [game.step for game in games] == np.cumsum([0, *lengths[:-1]]).tolist()


def test_games_come_in_the_order_of_their_numbers() -> None:
    """Short games wait for long ones that were begun before; each comes as soon as it may, as it
    was played. Numbers have gaps."""
    numbers = [3 * number + number % 2 for number in range(60)]
    seatings = (Seating(number, (0, 0), step=7 * number) for number in numbers)
    table = Table(Game("mini"), [RandomPlayer(1)], Seatings(seatings), slots=8)
    ended: list[int] = []
    played: dict[int, Episode] = {}

    def rounds() -> Iterator[Finished | None]:
        for finished in table.rounds():
            for game in finished.episodes if finished else ():
                ended.append(game.number)
                played[game.number] = game
            yield finished

    found: list[Episode] = []
    for finished in in_order(rounds(), iter(numbers)):
        found += finished.episodes if finished else ()
        first = next((n for n in numbers if n not in ended), numbers[-1] + 1)
        assert len(found) == sum(n < first for n in numbers)
    assert [game.number for game in found] == numbers != ended
    for game in found:
        one = played[game.number]
        assert (game.actions.tolist(), game.step) == (one.actions.tolist(), 7 * game.number)


@pytest.mark.parametrize(("resign", "draw"), [(Limit(0.25, 2), None), (None, Limit(0.05, 4))])
def test_values_that_end_a_game_are_its_own(resign: Limit | None, draw: Limit | None) -> None:
    """Evaluated again row by row: each game ends at the first decision at which it had to, and no
    other does. With more games than rows the player evaluates views that look alike only once."""
    game, limit = Game("mini"), resign or draw
    assert limit is not None
    player, alone = even_player(game, rows=4), even_player(game, rows=1)
    seatings = (Seating(number, (0, 0)) for number in range(60))
    adjudicator = ValueAdjudicator(20, 2, resign, draw)
    table = Table(
        game, [player], Seatings(seatings), slots=20, max_actions=120, adjudicator=adjudicator
    )
    reasons = []
    for finished in filter(None, table.rounds()):
        for episode, _, _ in finished:
            seen = replay_many(game, [(b"", episode.actions)])
            values = alone.evaluator.values(seen.observations)
            said = values <= -limit.threshold if resign else abs(values) <= limit.threshold
            note = finished.notes.get(episode.number)
            first = decision_that_ends(said, seen.actors, limit.decisions, both=draw is not None)
            last = len(values) - 1  # a game that is over anyway is not judged
            assert first == last if note else first in (None, last)
            reasons.append(note and note.reason)
            if resign and note:
                assert episode.returns[seen.actors[-1]] == -1
    wanted = "resigned" if resign else "agreed"
    assert set(reasons) == {None, wanted} and 5 < reasons.count(wanted) < 55


@pytest.mark.parametrize("action", [None, 0, 10_000])
def test_whoever_resigns_plays_no_action(action: int | None) -> None:
    """Nor is one recorded that such a decision has: None is a legal one."""

    class Resigning(RandomPlayer):
        def act(self, views: Views) -> Decision:
            decision = super().act(views)
            gone = views.numbers > 30 + views.games % 2  # either action of a move
            actions = decision.actions
            if action is not None:
                actions = np.where(gone, action, actions).astype(np.int32)
            return replace(decision, actions=actions, resigned=gone)

    game = Game("mini")
    seatings = (Seating(number, (0, 0)) for number in range(8))
    rounds = Table(game, [Resigning(1)], Seatings(seatings), slots=4).rounds()
    for finished in filter(None, rounds):
        for episode, _, plies in finished:
            assert finished.notes[episode.number].reason == "resigned"
            assert len(episode.actions) == 31 + episode.number % 2
            again = Batch(game, 1)
            again.reset()
            for played in episode.actions:
                again.apply(np.array([played], np.int32))
            assert again.result()[2] == plies


def even_player(game: Game, rows: int) -> NetworkPlayer:
    """Its values lie around 0, where those of other untrained networks do not."""
    player = sharp_player(game, rows=rows)
    views = views_of_games(game, games=4, seed=1)
    biases = [p for n, p in player.evaluator.network.named_parameters() if n.startswith("critic")]
    with torch.no_grad():
        biases[-1] -= float(player.evaluator.values(views.observations).mean())
    return player


def decision_that_ends(
    said: np.ndarray, actors: np.ndarray, decisions: int, both: bool
) -> int | None:
    """The first decision after the deployment of mini at which the side on turn, or both sides,
    have said it so many times in a row."""
    in_a_row = [0, 0]
    for t, (holds, actor) in enumerate(zip(said.tolist(), actors.tolist(), strict=True)):
        in_a_row[actor] = in_a_row[actor] + 1 if holds else 0
        enough = min(in_a_row) if both else max(in_a_row)
        if enough >= decisions and t >= 2 * variant("mini").pieces + 1:  # a ply was played
            return t
    return None


def held(player: Player) -> int:
    """How many objects a player keeps alive, without its networks and its code."""
    code = (type, types.ModuleType, types.FunctionType, types.MethodType, torch.nn.Module)
    queue, seen = list(vars(player).values()), set()
    while queue:
        some = queue.pop()
        if id(some) not in seen and not isinstance(some, code):
            seen.add(id(some))
            queue += gc.get_referents(some)
    return len(seen)


def test_players_forget_the_games_that_are_over() -> None:
    """A match may be long: what is remembered is of as many games as are played at a time, and
    nothing when all are over."""
    game = Game("mini")
    asked = PostProcessing(threshold=0.03, quanta=16, memory="on", repeat_threats=False)
    player, most = PostprocessedPlayer(sharp_player(game).evaluator, game, 1, asked), []
    before = held(player)
    for games in (range(12), range(12, 72)):
        seatings = (Seating(number, (0, 0)) for number in games)
        rounds = Table(game, [player], Seatings(seatings), slots=4, max_actions=50).rounds()
        most.append(max(held(player) for _ in rounds))
    assert before < most[1] < 1.5 * most[0]
    assert held(player) == before
