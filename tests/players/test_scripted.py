"""The scripted players: each habit at positions made by hand, and in games."""

from __future__ import annotations

import re

import numpy as np
import pytest

from positions import Scene
from running import ROOT, here
from stratkit.engine import Game, observation_dtype
from stratkit.engine.stratego import (
    BOMB,
    MINER,
    NO_PIECE,
    PIECE,
    SCOUT,
    SIDE,
    SPY,
    TYPE,
    UNKNOWN,
    VARIANTS,
    WINS,
    fight,
    setup_of,
)
from stratkit.match import PLAYERS
from stratkit.play.seating import Seating, Seatings
from stratkit.play.table import Table
from stratkit.players.baselines import HeuristicPlayer
from stratkit.players.factory import open_player
from stratkit.players.levels import LEVELS
from stratkit.players.player import Decision, Player, Views
from stratkit.players.registry import parse_player
from stratkit.players.scripted.habits import HABITS
from stratkit.players.scripted.options import KEPT, REPORTED, SCRIPTS
from stratkit.players.scripted.player import ScriptedPlayer
from stratkit.players.scripted.sight import FAR, Ground
from stratkit.storage.columns import Episode

# Those of the reported ones whom people may choose as weak opponents.
IN_LEVELS = {"raider", "baiter", "bluffer"}


def chosen(name: str, scene: Scene, seed: int = 1, skill: float = 1.0) -> str:
    """The move that the scripted player makes, red's, as `A1A2`."""
    player = ScriptedPlayer(scene.game, HABITS[name](), seed, skill)
    (start,) = player.act(scene.views()).actions
    scene.batch.apply(np.array([start], np.int32))
    scene.number += 1
    (end,) = player.act(scene.views()).actions
    return "".join("ABCDEF"[square % 6] + str(square // 6 + 1) for square in (start, end))


def choices(name: str, pieces: str, moved: str = "") -> set[str]:
    """The moves that it makes, as the noise decides."""
    return {chosen(name, Scene(pieces, moved), seed) for seed in range(8)}


def always(name: str, pieces: str, moved: str = "") -> str:
    """The move that it makes whatever the noise."""
    (move,) = choices(name, pieces, moved)
    return move


def played(game: Game, players: list[Player], games: int, actions: int = 600) -> list[Episode]:
    seatings = Seatings(Seating(number, (0, 1)) for number in range(games))
    table = Table(game, players, seatings, games, max_actions=actions)
    return [episode for ended in table.rounds() if ended for episode, _, _ in ended]


class Judged(Player):
    """A player of whom every attack is kept: its piece, its target, and whether all moves that it
    had were attacks."""

    def __init__(self, game: Game, player: Player) -> None:
        self.player, self.dtype = player, observation_dtype(game.actions)
        self.attacks: list[tuple[int, int, bool]] = []
        self._forced: dict[int, bool] = {}

    def act(self, views: Views) -> Decision:
        decision = self.player.act(views)
        for row, seen in enumerate(views.observations.view(self.dtype)[:, 0]):
            cells, game = seen["cells"], int(views.games[row])
            foe = (cells & (PIECE | SIDE)) == PIECE | SIDE
            if seen["phase"] == 0 and seen["stage"] == 0:
                self._forced[game] = all(foe[end] for _, end in views.state(row).moves())
            elif seen["phase"] == 0 and foe[decision.actions[row]]:
                piece, target = cells[[seen["selected"], decision.actions[row]]] & TYPE
                self.attacks.append((int(piece), int(target), self._forced[game]))
        return decision


def attacks(name: str, games: int = 50) -> list[tuple[int, int, bool]]:
    """The attacks of a scripted player in games against the rules of thumb."""
    game = Game("mini")
    judged = Judged(game, ScriptedPlayer(game, HABITS[name](), 3))
    assert len(played(game, [judged, HeuristicPlayer(game, 4)], games)) == games
    return judged.attacks


def test_the_raider_walks_along_the_rank_and_takes_what_it_can() -> None:
    assert always("raider", "M:A1 E:F1 i:B5 R:C5 Q:E3 Y:F6") == "B5C5"
    assert always("raider", "M:A1 E:F1 i:B5 R:D5 Q:E3 Y:F6", "D5") == "B5C5"
    # The one that it knows to be stronger stays, and the other one falls.
    assert always("raider", "M:A1 E:F1 i:B5 x:C5 Q:A5 Y:F6") == "B5A5"
    assert always("raider", "M:A1 E:F1 i:B5 n:C5 R:B6 Y:F6") == "B5B6"
    assert "B5C5" not in choices("raider", "M:A1 E:F1 i:B5 x:C5 Q:E6 Y:F6")
    # It goes by who stands before the home ranks.
    assert choices("raider", "M:A1 E:F1 i:C4 R:A4 Y:F6") <= {"C4C5", "C4D4"}
    # The colonel raids, and no other.
    assert always("raider", "M:A1 L:A2 J:D3 F:F2 Y:F6 R:D6")[:2] == "D3"


def test_the_baiter_springs_its_trap_and_no_sooner() -> None:
    assert always("baiter", "M:A1 C:C2 D:D2 x:C3 Y:F6 R:E6", "C3") == "C2C3"
    # Before that the bait steps out.
    assert always("baiter", "M:A1 C:C2 D:D2 L:F1 Y:F6 R:E6 X:B6") == "D2D3"
    # The one that has stepped out comes back.
    back = choices("baiter", "M:A1 C:C2 D:D3 L:F1 Y:F6 R:E6 X:B6", "D3")
    assert back <= {"D3D2", "D3C3"}
    # The spy stays, whoever else comes beside it.
    others = choices("baiter", "M:A1 C:C2 D:D2 X:C3 w:B2 Y:F6 R:E6", "C3 B2")
    assert not [move for move in others if move.startswith("C2")]


def test_the_waiter_never_attacks_while_it_can_do_otherwise() -> None:
    assert all(forced for _, _, forced in attacks("waiter"))
    assert "D2D3" not in choices("waiter", "M:A1 B:A2 L:B1 K:D2 p:D3 Y:F6", "D2")
    # It goes back and forth, and leaves the wall beside its flag.
    scene = Scene("M:A1 B:A2 L:B1 D:D1 Y:F6 R:F5 X:A6")
    scene.play("D1E1", "F5E5")
    assert chosen("waiter", scene) == "E1D1"


def test_the_careful_one_attacks_only_what_it_knows_to_beat() -> None:
    found = [(piece, target) for piece, target, forced in attacks("careful") if not forced]
    assert len(found) > 20
    assert all(target != UNKNOWN and fight(piece, target) == WINS for piece, target in found)
    assert always("careful", "M:A1 L:C3 w:D3 R:B3 Y:F6") == "C3D3"
    assert always("careful", "M:A1 L:C3 R:B3 w:F3 Y:F6") == "C3D3"


def test_the_rusher_attacks_whatever_is_hidden() -> None:
    assert always("rusher", "M:A1 E:C4 R:C5 Y:F6 X:A6") == "C4C5"
    assert always("rusher", "M:A1 E:C4 X:C5 W:A6 V:B6 Y:F6", "C5") == "C4C5"
    assert always("rusher", "M:A1 L:D3 Y:F6 R:D6")[:2] == "D3"
    assert always("rusher", "M:A1 E:C4 x:C5 Y:F6 R:F5") != "C4C5"


def test_the_miner_hunter_takes_a_miner_before_a_general() -> None:
    assert always("miner-hunter", "M:A1 L:C3 w:D3 q:B3 Y:F6 X:A6") == "C3B3"
    assert always("raider", "M:A1 L:C3 w:D3 q:B3 Y:F6 X:A6") == "C3D3"
    assert always("miner-hunter", "M:A1 L:C2 q:C5 Y:F6 X:A6") == "C2C3"


def test_the_bluffers_low_pieces_go_where_high_ones_would() -> None:
    assert always("bluffer", "M:A1 E:C2 L:F1 x:C5 Y:F6 R:A6") == "C2C3"
    # One step at a time, though it is a scout, and beside the marshal it stays bold.
    assert always("bluffer", "M:A1 D:C2 L:F1 x:C6 Y:F6 R:A6") == "C2C3"
    bold = choices("bluffer", "M:A1 D:C4 L:F1 x:C5 Y:F6 R:A6")
    assert not bold & {"C4C5", "C4C3"}
    # Once it is known, it runs.
    runs = choices("bluffer", "M:A1 d:C4 L:F1 x:C5 Y:F6 R:A6")
    assert runs <= {"C4C3", "C4C2", "C4C1", "C4B4", "C4A4", "C4D4", "C4E4", "C4F4"}
    assert choices("bluffer", "M:A1 L:F1 G:A2 R:E6 Y:F6") <= {"A2A3", "A2B2"}
    # High ones wait until somebody comes whom they beat.
    assert always("bluffer", "M:A1 L:F1 B:E2 E:A2 r:F2 Y:F6") == "F1F2"


def test_the_turtle_draws_together_and_defends_its_home() -> None:
    assert always("turtle", "M:A1 E:A2 L:E2 p:E1 Y:F6 X:C6") == "E2E1"
    assert choices("turtle", "M:A1 B:B1 E:A2 L:D4 Y:F6 x:F5") <= {"D4C4", "D4D3"}
    # What stands outside of its home ranks is left alone.
    assert "A2A3" not in choices("turtle", "M:A1 L:A2 p:A3 Y:F6 X:C6")
    assert "E2E1" not in choices("turtle", "M:A1 E:A2 D:E2 x:E1 Y:F6")


def test_the_shuttler_moves_one_piece_to_and_fro() -> None:
    scene = Scene("M:A1 B:A2 L:B1 D:D1 Y:F6 R:F5 X:A6")
    scene.play("D1E1", "F5E5")
    assert chosen("shuttler", scene) == "E1D1"
    # It takes what it knows to beat, by that piece alone.
    scene = Scene("M:A1 L:D3 G:A3 p:E3 p:A4 Y:F6 X:A6 R:F5", "D3")
    scene.play("D3D2", "F5F4", "D2D3", "F4F5")
    assert chosen("shuttler", scene) == "D3E3"
    assert all(forced or target != UNKNOWN for _, target, forced in attacks("shuttler"))


def test_the_sniper_shoots_along_open_files_at_pieces_that_have_not_moved() -> None:
    assert always("sniper", "M:A1 D:D2 E:A2 Y:D6 R:F5 X:A6") == "D2D6"
    assert always("sniper", "M:A1 D:D2 E:A2 Y:A6 R:F6 X:D5", "D5")[:4] != "D2D5"
    shots = [target for piece, target, _ in attacks("sniper") if piece == SCOUT]
    assert len(shots) > 20 and np.mean(np.array(shots) == UNKNOWN) > 0.9


def setups(name: str, games: int = 60) -> np.ndarray:
    """Barrage setups of a habit, [2 * games, 40]."""
    game, board = Game("barrage"), VARIANTS["barrage"]
    players: list[Player] = [ScriptedPlayer(game, HABITS[name](), seed) for seed in (1, 2)]
    actions = [each.actions for each in played(game, players, games, actions=2 * board.pieces)]
    halves = [each[start:][: board.pieces] for each in actions for start in (0, board.pieces)]
    return np.stack([setup_of(board, half) for half in halves])


def test_setups_are_part_of_a_habit() -> None:
    front = Ground(Game("barrage")).front[:40]
    bait = setups("baiter")
    spy = (bait == SPY).argmax(1)
    assert front[spy].mean() > 0.95 and len(set(spy)) == 6
    beside = np.stack([bait[np.arange(len(bait)), np.clip(spy + way, 30, 39)] for way in (-1, 1)])
    assert np.isin(beside, (SCOUT, MINER)).any(0).mean() > 0.95
    assert front[(bait == BOMB).argmax(1)].mean() > 0.7
    raid = setups("raider")
    assert front[(raid == 9).argmax(1)].mean() > 0.9
    wall = setups("waiter")
    flag = (wall == 0).argmax(1)
    walled = [
        (row[[at - 1, at + 1, at + 10]] != NO_PIECE).sum()
        for row, at in zip(wall, flag, strict=True)
    ]
    assert np.mean(walled) > 1.5
    turtle = setups("turtle")
    strong = [
        np.isin(row[[at - 1, at + 1, at + 10]], (9, 10, BOMB)).sum()
        for row, at in zip(turtle, (turtle == 0).argmax(1), strict=True)
    ]
    assert np.mean(strong) > 1.2
    snipe = setups("sniper")
    assert (np.nonzero(snipe == SCOUT)[1] // 10).mean() > 2.5
    bluff = setups("bluffer")
    ranks = np.arange(40) // 10
    low, high = (ranks[np.nonzero(np.isin(bluff, types))[1]] for types in ((2, 3), (9, 10)))
    assert low.mean() > 2.5 > 1 > high.mean()


def test_setups_spread_as_far_as_is_asked() -> None:
    back = []
    for spread in (0.0, 0.7, 1.0):
        game, board = Game("barrage"), VARIANTS["barrage"]
        players: list[Player] = [
            ScriptedPlayer(game, HABITS["turtle"](), seed, spread=spread) for seed in (1, 2)
        ]
        actions = [each.actions for each in played(game, players, 100, 2 * board.pieces)]
        first = [setup_of(board, each[: board.pieces]) for each in actions]
        back.append(np.mean([int(row.argmin()) < 10 for row in first]))
    assert back[0] > 0.97 > back[1] > 0.5 > back[2] > 0.12


def test_skill_is_the_share_of_moves_by_habit() -> None:
    pieces = "M:A1 E:F1 i:B5 x:C5 Q:A5 Y:F6"
    moves = {
        skill: [chosen("raider", Scene(pieces), seed, skill) for seed in range(60)]
        for skill in (0.0, 0.5, 1.0)
    }
    by_habit = {skill: each.count("B5A5") for skill, each in moves.items()}
    assert by_habit[1] == 60 and 2 <= by_habit[0] <= 20 and 25 <= by_habit[0.5] <= 50
    assert len(set(moves[0])) > 4


@pytest.mark.parametrize("name", VARIANTS)
def test_they_play_every_board(name: str) -> None:
    """A table refuses an illegal action."""
    game = Game(name)
    players: list[Player] = [ScriptedPlayer(game, HABITS[name](), 5, 0.9) for name in SCRIPTS]
    count = len(players)
    seatings = Seatings(Seating(i, (i, (i + 3) % count)) for i in range(count))
    table = Table(game, players, seatings, count, max_actions=160)
    assert sum(len(ended) for ended in table.rounds() if ended) == count


@pytest.mark.parametrize("name", SCRIPTS)
def test_games_depend_on_seed_and_number_alone(name: str) -> None:
    game = Game("mini")
    players: list[Player] = [ScriptedPlayer(game, HABITS[name](), seed, 0.9) for seed in (1, 2)]
    together = {each.number: each.actions for each in played(game, players, 6, 120)}
    table = Table(game, players, Seatings(iter([Seating(4, (0, 1))])), 1, max_actions=120)
    (alone,) = [each for ended in table.rounds() if ended for each, _, _ in ended]
    assert np.array_equal(alone.actions, together[4])
    assert not np.array_equal(together[3], together[4])


def test_a_view_is_all_that_they_use() -> None:
    """Without a game behind it, and so without a truth, they decide alike."""
    scene = Scene("M:A1 E:F1 i:B5 R:C5 Q:E3 Y:F6")
    views = scene.views()
    bare = Views(views.games, views.sides, views.numbers, views.legal, views.observations)
    for name in SCRIPTS:
        player = ScriptedPlayer(scene.game, HABITS[name](), 1)
        assert player.act(bare).actions == player.act(views).actions


def test_ways_go_round_lakes() -> None:
    ground = Ground(Game("barrage"))
    assert ground.steps[32, 62] == 5 and ground.steps[34, 64] == 3
    assert ground.steps[0, 42] == FAR


def test_a_record_says_what_played() -> None:
    game = Game("barrage")
    for text, spec in (("skill=.8,raider", "skill=0.8,raider"), ("careful", "careful")):
        found = open_player(parse_player(text), game, 1, 4)
        assert (found.name, found.spec) == (spec.rpartition(",")[2], spec)
        assert parse_player(found.spec).options == parse_player(text).options


@pytest.mark.parametrize(
    ("words", "status", "message"),
    [
        (("raider", "random", "--game", "kuhn"), 1, "match: raider does not play kuhn: 'raider'"),
        (
            ("skill=1.5,waiter", "random", "--game", "mini"),
            2,
            "match: PLAYER: skill=1.5: a number from 0 to 1 is needed: 'skill=1.5,waiter'",
        ),
        (
            ("skill=.5,heuristic", "random", "--game", "mini"),
            2,
            "match: PLAYER: skill= is for scripted players: 'skill=.5,heuristic'",
        ),
        (
            ("raidr", "random", "--game", "mini"),
            1,
            "match: no built-in player, and no such file or folder: 'raidr' "
            "(did you mean 'raider'?)",
        ),
    ],
)
def test_bad_input_is_one_line(words: tuple[str, ...], status: int, message: str) -> None:
    done = here("match", *words, "-n", 2, "-o", "-")
    assert (done.status, done.out, done.error_line) == (status, "", message)


def test_the_reported_ones_are_in_no_preset_and_no_pool() -> None:
    """Nobody who ships learns against them. Weak levels for people are the one exception."""
    named = re.compile(rf"\b({'|'.join((*REPORTED, *KEPT))})\b")
    presets = [preset for kind in PLAYERS for preset in kind.presets.values()]
    assert not [key for preset in presets for key in preset.values() if named.search(key)]
    levels = [member for of_game in LEVELS.values() for level in of_game for member in level]
    assert {found[1] for member in levels if (found := named.search(member))} == IN_LEVELS
    recipes = [
        path
        for pattern in ("examples/**/Makefile", "examples/**/*.sh", "bench/*.sh", "bench/*.py")
        for path in ROOT.glob(pattern)
    ]
    assert len(recipes) > 8
    assert not [path for path in recipes if named.search(path.read_text())]


def test_the_manual_has_a_paragraph_for_each() -> None:
    page = (ROOT / "man/stratkit-players.7").read_text().replace("\\-", "-")
    section = page.split(".SH SCRIPTED PLAYERS\n")[1].split("\n.SH ")[0]
    assert set(re.findall(r"^\.TP\n\.B (\S+)$", section, re.M)) == set(SCRIPTS) == set(HABITS)
    listed = re.search(r"\.BR (.*)\nare in no pool", section)
    assert listed and tuple(re.findall(r"[a-z]{4,}", listed[1])) == REPORTED
