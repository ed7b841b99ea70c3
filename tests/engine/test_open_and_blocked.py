"""The variants of AlphaZe**: open pieces and blocked fields."""

from __future__ import annotations

import json
import pathlib

import numpy as np
import pytest

from running import here
from stratkit.cli.options import Types
from stratkit.engine import Batch, Game, known_actions, sample, worlds
from stratkit.engine.stratego import (
    FLAG,
    PIECE,
    PLACING_ORDER,
    RED,
    REVEALED,
    SCOUT,
    SIDE,
    TYPE,
    TYPES,
    VARIANTS,
    Position,
    open_types,
)
from stratkit.errors import InputError
from stratkit.notation.fenfs import parse_fenfs
from stratkit.notation.setups import has_counts, parse_setup
from stratkit.storage.episodes import EpisodeReader


def done(*words: object) -> str:
    """What the command says."""
    found = here(str(words[0]), *words[1:])
    assert found.status == 0, found.err
    return found.data.decode()


OPEN = Game("mini", {"open": 1 << FLAG | 1 << SCOUT})


def after(game: Game, actions: int) -> tuple[Batch, list[int]]:
    """One state after so many random actions, and these."""
    batch, played = Batch(game, 1), []
    for number in range(actions):
        drawn = sample(None, batch.legal(), 3, np.zeros(1, np.int64), np.array([number], np.int32))
        batch.apply(drawn[0])
        played.append(int(drawn[0][0]))
    return batch, played


def test_rules_name_open_only_where_it_is_in_force() -> None:
    """So that the files of games without it stay as they are."""
    assert OPEN.rules["open"] == 5 and open_types(OPEN.rules) == (FLAG, SCOUT)
    assert "open" not in Game("mini", {"open": 0}).rules
    with pytest.raises(InputError, match="rule open: a number from 0 to 4095"):
        Game("mini", {"open": 4096})
    assert Types.words == TYPES


def test_the_enemys_open_pieces_are_seen_and_stay_in_every_world() -> None:
    batch, played = after(OPEN, 2 * VARIANTS["mini"].pieces)
    cells = Position.from_bytes(VARIANTS["mini"], batch.save(0)).cells
    is_open = np.isin(cells & TYPE, (FLAG, SCOUT)) & (cells & PIECE != 0)
    assert (cells & REVEALED != 0).tolist() == is_open.tolist() and is_open.sum() == 6
    drawn = worlds(batch, 0, 50, seed=1)
    others = [Position.from_bytes(VARIANTS["mini"], drawn.save(i)).cells for i in range(50)]
    assert all((other[is_open] == cells[is_open]).all() for other in others)
    assert len({other.tobytes() for other in others}) > 10
    np.testing.assert_array_equal(drawn.observe(), np.repeat(batch.observe(), 50, 0))
    known = known_actions(OPEN, np.array(played, np.int32), RED)
    assert known is not None
    placed = known[VARIANTS["mini"].pieces :].tolist()  # the types of the enemy's in this order:
    order = [t for t in PLACING_ORDER for _ in range(VARIANTS["mini"].counts[t])]
    assert [square != -1 for square in placed] == [t in (FLAG, SCOUT) for t in order]


def test_blue_sees_nothing_open_while_it_deploys() -> None:
    batch, _ = after(OPEN, VARIANTS["mini"].pieces + 2)
    closed, _ = after(Game("mini"), VARIANTS["mini"].pieces + 2)
    np.testing.assert_array_equal(batch.observe(), closed.observe())


def test_records_of_open_games_become_positions(tmp_path: pathlib.Path) -> None:
    """The flags are small letters in every line, also as the enemy sees them."""
    record = tmp_path / "games.jsonl"
    done("match", "random", "heuristic", "-n", 2, "--game", "mini", "--seed", 1, "-q",
         "--open", "flag,scout", "-o", record)  # fmt: skip
    assert json.loads(record.read_text().splitlines()[0])["rules"]["open"] == 5
    lines = done("fenfs", "convert", "--to", "fenfs", "--view", "red", record).splitlines()
    first = parse_fenfs(lines[0]).board
    assert first.count("m") == first.count("y") == 1 and first.count("p") == 2
    assert "M" not in first and first.count("?") == 5


def test_the_board_looks_the_same_from_both_sides() -> None:
    board, plain = VARIANTS["barrage-blocked"], VARIANTS["barrage"]
    assert set(board.flip(np.array(board.lakes)).tolist()) == set(board.lakes)
    assert len(board.lakes) == len(plain.lakes) + 10 and set(plain.lakes) < set(board.lakes)
    reached, todo = {0}, [0]  # every other square can be walked to
    while todo:
        at = todo.pop()
        steps = [(at % 10 > 0, -1), (at % 10 < 9, 1), (at > 9, -10), (at < 90, 10)]
        new = {at + step for there, step in steps if there} - reached - set(board.lakes)
        reached |= new
        todo += new
    assert len(reached) == 100 - len(board.lakes)


def test_nothing_is_deployed_on_a_lake() -> None:
    board = VARIANTS["barrage-blocked"]
    lakes = [square for square in board.lakes if square < board.zone]
    assert len(lakes) == 4
    batch = Batch(Game("barrage-blocked"), 1)
    assert not batch.legal()[0, lakes].any() and batch.legal()[0].sum() == 36
    on_lake = np.full(board.zone, 255, np.uint8)
    free = [square for square in range(board.zone) if square not in lakes]
    pieces = np.repeat(np.arange(12), board.counts)
    on_lake[[lakes[0], *free[:7]]] = pieces
    assert not has_counts(board, on_lake) and has_counts(VARIANTS["barrage"], on_lake)
    text = "".join("A" if t == 255 else "MCDEFGHIJKLB"[t] for t in on_lake)
    with pytest.raises(InputError, match="barrage-blocked has no pieces on its lakes"):
        parse_setup(text, board)
    batch, _ = after(Game("barrage-blocked"), 20)
    for row in range(20):
        world = worlds(batch, 0, 20, seed=row % 3)
        cells = Position.from_bytes(board, world.save(row)).cells
        assert (cells[list(board.lakes)] == 1).all()
        assert ((cells & (PIECE | SIDE)) == PIECE).sum() == 8


def test_a_network_of_the_same_army_plays_among_other_lakes(tmp_path: pathlib.Path) -> None:
    out = tmp_path / "games.jsonl"
    done("match", "barrage-easy", "random", "-n", 2, "--game", "barrage-blocked", "--slots", 2,
         "--max-plies", 6, "--seed", 1, "-q", "-o", out)  # fmt: skip
    assert json.loads(out.read_text().splitlines()[0])["game"] == "barrage-blocked"


def test_the_open_game_is_learned_and_known_by_its_rules(tmp_path: pathlib.Path) -> None:
    games, folder = tmp_path / "open.episodes", tmp_path / "run"
    play = ("selfplay", "--game", "mini", "--seed", 1)
    done(*play, "--open", "flag", "-n", 4, "--max-actions", 40, "-o", games)
    with games.open("rb") as stream:
        assert EpisodeReader(stream, "open").open().rules["open"] == 1 << FLAG
    done("train", games, "--out", folder, "--algorithm", "mmd", "--net", "plain", "--batch", 2,
         "--steps", 1, "--seed", 1, "-q")  # fmt: skip
    followed = (*play, "--policy", folder, "--follow", "-n", 2, "-o", tmp_path / "more")
    done(*followed, "--open", "flag")
    for other in (), ("--open", "flag,spy"):
        found = here(*map(str, (*followed, *other, "-f")))
        assert found.status == 1 and "by other rules" in found.error_line
    meet = ("match", folder, "random", "--game", "mini", "-n", 2, "--max-plies", 6, "-o", "-")
    for rules, warned in (("--open", "flag"), False), ((), True):
        found = here(*map(str, (*meet, *rules)))
        said = "open 1, and 0 in this game"
        assert found.status == 0 and (said in found.err) == warned


def test_examples_have_no_rules_to_set() -> None:
    found = here("selfplay", "--game", "liars_dice:1x2", "-n", 1, "--search", "cfr",
                 "--open", "flag")  # fmt: skip
    assert found.status == 2 and "--open is not for --search" in found.error_line
