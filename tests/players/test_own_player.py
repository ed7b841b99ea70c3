"""A player of the user's own, by `py:MODULE:CLASS`."""

from __future__ import annotations

import json
import pathlib
from collections.abc import Iterator

import pytest

from running import ROOT, run
from stratkit.engine import Game, Tree
from stratkit.solve.exploitability import evaluate

OWN = """
from dataclasses import dataclass
import nothing_at_all_is_missing as missing
"""

FAULTY = """
from dataclasses import dataclass
import numpy as np
from stratkit.players.player import Decision, Player
from stratkit.players.baselines import RandomPlayer

class Player3(RandomPlayer):
    def act(self, views):
        return {}["no such key"]

class Cheat(RandomPlayer):
    def act(self, views):
        return Decision(np.zeros(len(views), int), np.ones(len(views)))

class Short(RandomPlayer):
    def act(self, views):
        return Decision(np.zeros(0, int), np.zeros(0))

class Unlikely(RandomPlayer):
    def act(self, views):
        return Decision(super().act(views).actions, np.full(len(views), np.nan))

class Half(RandomPlayer):
    def act(self, views):
        return Decision(super().act(views).actions + 0.5, np.ones(len(views)))

class Valued(RandomPlayer):
    def act_with_values(self, views):
        return {}["no such key"]

class Shapeless(RandomPlayer):
    def act_with_values(self, views):
        decision = self.act(views)
        return Decision(decision.actions, decision.mu, np.zeros((len(views), 3)))

class Valueless(RandomPlayer):
    def act_with_values(self, views):
        return self.act(views)

class Silent(RandomPlayer):
    def explain(self, views):
        return []
    def explained(self, log):
        return None

class Talking(RandomPlayer):
    def logged(self, log):
        return {}["no such key"]

class Changing(RandomPlayer):
    def logged(self, log):
        return Player3(1)

@dataclass(frozen=True)
class Ice(RandomPlayer):
    seed: int
    def act_with_values(self, views):
        assert type(ICE) is Ice
        decision = self.act(views)
        return Decision(decision.actions, decision.mu, np.ones(len(views)))

ICE = Ice(1)

class Frozen(Ice):
    def logged(self, log):
        return ICE

class Slim:
    __slots__ = ()
    def begin(self, games, sides): pass
    def act(self, views): return ICE.act(views)
    def end(self, games, sides): pass
    def logged(self, log): return self

@dataclass(slots=True)
class Slotted(RandomPlayer):
    seed: int
    def logged(self, log):
        return Slim()

class Watching(RandomPlayer):
    def watch(self, views):
        return {}["no such key"]

class Agreeing(RandomPlayer):
    def act(self, views):
        none = np.full(len(views), -1)
        return Decision(none, np.ones(len(views)), agreed=none < 0)

class Quitter(RandomPlayer):
    def act(self, views):
        none = np.full(len(views), -1)
        return Decision(none, np.ones(len(views)), resigned=none < 0)

class Late(RandomPlayer):
    def act(self, views):
        none = np.full(len(views), -1)
        return Decision(none, np.ones(len(views)), out_of_time=none < 0)

class Broken(RandomPlayer):
    def __init__(self, seed):
        raise ValueError("never made")

class Leaver(RandomPlayer):
    def act(self, views):
        raise SystemExit(0)

class Chatty(RandomPlayer):
    def __init__(self, seed):
        super().__init__(seed)
        print("made")
    def act(self, views):
        print("acting")
        return super().act(views)

class NoPlayer:
    pass

class Proportional:
    def policy(self, views):
        weights = views.legal * (1 + np.arange(views.legal.shape[1]))
        return weights / weights.sum(1, keepdims=True)

class Wrong:
    def policy(self, views):
        return np.full(views.legal.shape, .1)

class Counting:
    asked = 0
    def policy(self, views):
        self.asked += 1
        odd = Proportional().policy(views)
        return odd if self.asked % 2 else views.legal / views.legal.sum(1, keepdims=True)

class Ordered:
    def policy(self, views):
        policy = Proportional().policy(views)
        policy[0] = views.legal[0] / views.legal[0].sum()
        return policy

@dataclass
class Typed(RandomPlayer):
    seed: int
    depth: int = 2
    deep: bool = False

class Free(RandomPlayer):
    def __init__(self, seed, **options):
        super().__init__(seed)
        assert options == {"deploy_depth": "3"}
"""


@pytest.fixture
def folder(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[pathlib.Path]:
    (tmp_path / "faulty_players.py").write_text(FAULTY)
    (tmp_path / "needs_more.py").write_text(OWN)
    (tmp_path / "leaves.py").write_text("raise SystemExit(3)")
    monkeypatch.chdir(tmp_path)
    return tmp_path


MATCH = ("random", "--game", "mini", "-n", 4, "--seed", 1, "-o", "g.jsonl")


def test_the_example(folder: pathlib.Path) -> None:
    """It is under 30 lines, plays the same games again, and obeys its option."""
    code = (ROOT / "examples/players/greedy.py").read_text()
    assert code.count("\n") < 30
    (folder / "greedy.py").write_text(code)
    player = "name=G,py:greedy:Greedy,courage=2"
    done = run("match", player, "random", "--game", "barrage", "-n", 6, "--seed", 1,
               "-o", "b.jsonl")  # fmt: skip
    assert done.status == 0, done.err
    header, *games = map(json.loads, (folder / "b.jsonl").read_text().splitlines())
    assert header["players"][0]["name"] == "G" and len(games) == 6
    assert header["players"][0]["spec"] == "py:greedy:Greedy,courage=2"
    again = run("match", player, "random", "--game", "barrage", "-n", 6, "--seed", 1, "-o", "-")
    assert again.out == (folder / "b.jsonl").read_text()
    shy = run("match", player.replace("=2", "=0"), "random", "--game", "barrage", "-n", 6,
              "--seed", 1, "-o", "-")  # fmt: skip
    assert shy.out.splitlines()[1:] != again.out.splitlines()[1:]


@pytest.mark.parametrize("player", ["Typed,depth=3,deep=on", "Typed", "Free,deploy-depth=3"])
def test_options(folder: pathlib.Path, player: str) -> None:
    assert run("match", f"py:faulty_players:{player}", *MATCH).status == 0


@pytest.mark.parametrize(
    ("player", "status", "what"),
    [
        ("py:nowhere:Player", 1, "no such module: nowhere"),
        ("py:needs_more:Player", 1, "No module named 'nothing_at_all_is_missing'"),
        ("py:faulty_players:Chaet", 1, "no class Chaet in faulty_players (did you mean 'Cheat'?)"),
        ("py:faulty_players", 2, "py:MODULE:CLASS is needed"),
        (
            "py:faulty_players:NoPlayer",
            1,
            "makes no player: begin, act and end are needed, or policy",
        ),
        ("py:faulty_players:Broken", 1, "Broken: ValueError: never made"),
        ("py:faulty_players:Typed,dept=3", 2, "no option 'dept' (did you mean 'depth'?)"),
        ("py:faulty_players:Typed,depth=x", 2, "depth=x: int is needed"),
        ("py:faulty_players:Typed,seed=3", 2, "no option 'seed'"),
        ("py:faulty_players:Typed,depth", 2, "no key=value: 'depth'"),
        ("threshold=.1,py:faulty_players:Typed", 2, "threshold= is for networks"),
        ("name=Three,py:faulty_players:Player3", 1, "Three: act: KeyError: 'no such key'"),
        ("py:faulty_players:Cheat", 1, "Cheat: act: ValueError: action 0 is illegal in game "),
        ("py:faulty_players:Leaver", 1, "Leaver: act: SystemExit: 0"),
        ("py:leaves:Player", 1, "module leaves: SystemExit: 3"),
        ("py:faulty_players:Short", 1, "Short: act: ValueError: 2 actions and mu are needed"),
    ],
)
def test_errors_are_one_line(folder: pathlib.Path, player: str, status: int, what: str) -> None:
    done = run("match", player, *MATCH)
    assert done.status == status and what in done.err.splitlines()[-1], done.err
    assert "Traceback" not in done.err


@pytest.mark.parametrize(
    ("player", "options", "what"),
    [
        ("Unlikely", [], "Unlikely: act: ValueError: mu is above 0 and at most 1"),
        ("Half", [], "Half: act: ValueError: actions are whole numbers, not float64"),
        ("Valued", ["--resign", ".9"], "Valued: act_with_values: KeyError: 'no such key'"),
        ("Shapeless", ["--resign", ".9"], "act_with_values: ValueError: 2 finite values are"),
        ("Valueless", ["--resign", ".9"], "act_with_values: ValueError: values are needed"),
        ("Silent", ["--explain", "log"], "Silent: explained: ValueError: a player is needed"),
        ("Talking", ["--explain", "log"], "Talking: logged: KeyError: 'no such key'"),
        ("Changing", ["--explain", "log"], "Changing: act: KeyError: 'no such key'"),
        ("Agreeing", [], "Agreeing: act: ValueError: agreed and out_of_time are for people"),
        ("Late", [], "Late: act: ValueError: agreed and out_of_time are for people"),
    ],
)
def test_each_method_is_guarded(
    folder: pathlib.Path, player: str, options: list[str], what: str
) -> None:
    done = run("match", f"py:faulty_players:{player}", *MATCH, *options)
    assert done.status == 1 and what in done.err.splitlines()[-1], done.err


@pytest.mark.parametrize(
    ("player", "options"),
    [("Frozen", []), ("Frozen", ["--resign", ".9"]), ("Slotted", []), ("Slim", [])],
)
def test_who_plays_in_its_place_stays_as_it_is(
    folder: pathlib.Path, player: str, options: list[str]
) -> None:
    """A player whose class is fixed, one that others know, too, and itself."""
    done = run("match", f"py:faulty_players:{player}", *MATCH, *options, "--explain", "log")
    assert done.status == 0, done.err


def test_what_a_player_prints_is_no_record(folder: pathlib.Path) -> None:
    call = ("random", "--game", "mini", "-n", 2, "--seed", 1, "-o", "-")
    quiet = run("match", "name=P,py:faulty_players:Typed", *call)
    chatty = run("match", "name=P,py:faulty_players:Chatty", *call)
    assert chatty.status == 0 and chatty.out.splitlines()[1:] == quiet.out.splitlines()[1:]
    assert chatty.err.startswith("made\nacting\nacting\n")


def test_the_traceback_of_an_error(folder: pathlib.Path) -> None:
    done = run("match", "-v", "-v", "py:faulty_players:Player3", *MATCH)
    assert 'return {}["no such key"]' in done.err and "KeyError" in done.err


def test_a_record_starts_no_code(folder: pathlib.Path) -> None:
    done = run("match", "py:faulty_players:Typed", *MATCH)
    assert done.status == 0
    again = run("match", "--resume", "-o", "g.jsonl")
    assert again.status == 2 and "py:faulty_players:Typed" in again.error_line
    (folder / "faulty_players.py").write_text("raise SystemExit('it was started')")
    assert "it was started" not in run("match", "--resume", "-o", "g.jsonl").err


def test_to_give_up_is_never_the_cheaper_loss(folder: pathlib.Path) -> None:
    """In Leduc it costs the largest stake: who has raised would otherwise gain by it."""
    words = ("--game", "leduc", "-n", 2, "--seed", 1, "-o", "g.jsonl")
    assert run("match", "py:faulty_players:Quitter", "random", *words).status == 0
    _, *games = map(json.loads, (folder / "g.jsonl").read_text().splitlines())
    lost = [game["returns"][game["players"].index(0)] for game in games]
    assert lost == [-13, -13] and {game["reason"] for game in games} == {"resigned"}


def test_it_watches_what_it_has_played(folder: pathlib.Path) -> None:
    """When a person goes on with a game that was left."""
    words = ("human", "py:faulty_players:Watching", *MATCH[1:])
    assert run("match", *words, stdin=b"\nsave\n").status == 0
    done = run("match", *words, "--resume", stdin=b"save\n")
    assert done.status == 1 and "Traceback" not in done.err
    assert done.err.splitlines()[-1] == "match: Watching: watch: KeyError: 'no such key'"


def test_a_policy_is_judged_and_plays(folder: pathlib.Path) -> None:
    """All that a class needs is `policy`: exploit evaluates it, and a match draws from it."""
    own = "py:faulty_players:Proportional"
    done = run("exploit", "--json", "kuhn", own, "uniform")
    assert (done.status, done.err) == (0, "")
    found, uniform = json.loads(done.out)["policies"]
    tree = Tree(Game("kuhn"))
    policy = (tree.actions + 1) / tree.sums(tree.actions + 1.0)[tree.owner]
    assert found["nash_conv"] == pytest.approx(evaluate(tree, policy).nash_conv, abs=1e-8)
    assert found["nash_conv"] != pytest.approx(uniform["nash_conv"], abs=0.01)
    options = ("--game", "kuhn", "-n", 400, "--seed", 1, "-o", "g.jsonl")
    assert run("match", own, "random", *options).status == 0
    bets = passes = 0
    for line in (folder / "g.jsonl").read_text().splitlines()[1:]:
        game = json.loads(line)
        if game["players"][0] == 0:
            first = game["moves"].split()[2]  # after two cards
            bets, passes = bets + (first == "1"), passes + (first == "0")
    assert bets + passes == 200 and 110 < bets < 157  # two thirds


@pytest.mark.parametrize(
    ("player", "status", "what"),
    [
        ("Counting", 1, "it gave two answers: its policy is no function of the information state"),
        ("Ordered", 1, "Ordered: asked twice about what sees "),
        ("Wrong", 1, "Wrong: policy: ValueError: a policy is from 0 to 1, and 0 where illegal"),
        ("Typed", 1, "not a policy that can be evaluated; --learn STEPS"),
    ],
)
def test_one_line_says_what_is_no_policy(
    folder: pathlib.Path, player: str, status: int, what: str
) -> None:
    for game in ("kuhn", "dark_hex:3"):
        done = run("exploit", game, f"py:faulty_players:{player}")
        assert done.status == status and what in done.error_line


def test_a_plain_torch_module_is_judged(folder: pathlib.Path) -> None:
    import torch

    (folder / "torch_policy.py").write_text((ROOT / "examples/torch_policy.py").read_text())
    done = run("exploit", "--json", "kuhn", "py:torch_policy:Mine")
    assert done.status == 0, done.err
    tree = Tree(Game("kuhn"))
    torch.manual_seed(1)
    module = torch.nn.Linear(tree.game.observation_bytes, tree.game.actions)
    with torch.inference_mode():
        weights = module(torch.from_numpy(tree.observations()).float()).double().exp().numpy()
    policy = tree.flat(weights * tree.legal())
    (found,) = json.loads(done.out)["policies"]
    assert found["nash_conv"] == pytest.approx(evaluate(tree, policy).nash_conv, abs=1e-6)
