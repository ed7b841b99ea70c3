"""What stratkit-python(7) says of copies: a state goes on alike, and by itself."""

from __future__ import annotations

import copy
import pathlib
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import stratkit
from every_game import GAMES
from running import ROOT
from stratkit.engine import Batch, Game, sample
from stratkit.errors import InputError


def pickled(thing: Any) -> Any:
    return pickle.loads(pickle.dumps(thing))


WAYS: list[Callable[[Any], Any]] = [copy.copy, copy.deepcopy, pickled, lambda batch: batch.clone()]


def play(batch: Batch, seed: int, first: int, actions: int) -> list[bytes]:
    """Plays on at random; what was seen and how it ended."""
    seen, games = [], np.arange(batch.size)
    for number in range(first, first + actions):
        numbers, legal = np.full(batch.size, number, np.int32), batch.legal()
        seen += [legal.tobytes(), batch.observe().tobytes(), batch.actors().tobytes()]
        chosen, _ = sample(None, legal, seed, games, numbers)
        batch.draw_chance(seed, games, numbers, chosen)
        batch.apply(chosen)
    return seen + [part.tobytes() for part in batch.result()]


@pytest.mark.parametrize("way", WAYS, ids=["copy", "deepcopy", "pickle", "clone"])
@pytest.mark.parametrize("name", GAMES)
def test_a_batch_goes_on_alike_and_by_itself(name: str, way: Callable[[Any], Any]) -> None:
    """With its history: repetition rules and shown moves draw on it."""
    batch = Batch(Game(name), 5)
    play(batch, 3, 0, 25)
    other, again = way(batch), batch.clone()
    assert (other.game.name, other.game.rules) == (name, batch.game.rules)
    before = play(batch, 4, 25, 200)
    assert play(other, 4, 25, 200) == before == play(again, 4, 25, 200)


def test_threads_and_rules_are_kept() -> None:
    batch = Batch(Game("nano", {"max_plies": 6}), 3, threads=2)
    for way in WAYS:
        other = way(batch)
        assert (other.threads, other.size, other.game.rules["max_plies"]) == (2, 3, 6)
    game = batch.game
    assert copy.deepcopy(game) is copy.copy(game) is game
    assert pickled(game).rules == game.rules
    both = pickled([batch, batch.clone()])
    both[0].copy_row(0, both[1], 1)  # of one game still


def test_a_board_goes_on_alike() -> None:
    board = stratkit.Board("nano", setups=("MCL", "MCL"))
    board.push("C1C2")
    for way in (copy.deepcopy, pickled):
        other = way(board)
        assert (other.fenfs(), other.legal_moves) == (board.fenfs(), board.legal_moves)
        assert other.setups == board.setups
        other.push(other.legal_moves[0])
        assert other.fenfs() != board.fenfs()


def test_a_game_whose_file_has_changed_is_refused(tmp_path: pathlib.Path) -> None:
    file = tmp_path / "x.matrix"
    file.write_bytes((ROOT / "formats/samples/modified_rps.matrix").read_bytes())
    batch = Batch(Game(f"matrix:{file}"), 1)
    kept = pickle.dumps(batch)
    assert pickle.loads(kept).legal().tolist() == batch.legal().tolist()
    file.write_bytes((ROOT / "formats/samples/matching_pennies.matrix").read_bytes())
    with pytest.raises(InputError, match="x.matrix: its file has changed"):
        pickle.loads(kept)


def test_states_of_another_engine_are_refused() -> None:
    """They are memory as it is: nothing else would notice."""
    restored, (cls, game, threads, states, seal) = Batch(Game("mini"), 2).__reduce__()
    assert restored(cls, game, threads, states, seal).size == 2
    for wrong in (states ^ 1, states[:1], states[:, 1:].copy()):
        with pytest.raises(ValueError, match="mini: pickled states of another version"):
            restored(cls, game, threads, wrong, seal)
    with pytest.raises(ValueError, match="pickled states of another version"):
        restored(cls, Game("mini", {"more_squares": 0}), threads, states, seal)


@pytest.mark.parametrize("way", [copy.deepcopy, pickled])
def test_a_loaded_network_says_the_same(way: Callable[[Any], Any]) -> None:
    network = stratkit.load("barrage-easy", rows=4)
    batch = Batch(network.game, 3)
    observed, legal = batch.observe(), batch.legal()
    policy = network.policy(observed, legal)
    other = way(network)
    assert np.array_equal(other.policy(observed, legal), policy)
    assert np.array_equal(other.values(observed), network.values(observed))
    assert (other.file, other.step, other.metadata) == (
        network.file,
        network.step,
        network.metadata,
    )
    weights = next(other.evaluator.network.parameters())
    weights.data.zero_()
    assert next(network.evaluator.network.parameters()).data.any()
