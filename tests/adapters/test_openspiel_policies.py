"""Policies of OpenSpiel here, and ours there."""

from __future__ import annotations

import json
import pathlib
import sys
from typing import Any

import numpy as np
import pytest

from running import ROOT, run
from storage.stored import save_network
from stratkit.engine import Game, Tree
from stratkit.errors import InputError
from stratkit.players.player import Views

GAMES = {"kuhn": "kuhn_poker", "leduc": "leduc_poker(suit_isomorphism=True)"}

MODULE = """
import numpy as np
import pyspiel
from open_spiel.python import policy
from stratkit.adapters.openspiel import FromOpenSpiel

THEIRS = {"kuhn": "kuhn_poker", "leduc": "leduc_poker(suit_isomorphism=True)"}

def drawn(name):
    table = policy.TabularPolicy(pyspiel.load_game(THEIRS[name]))
    x = np.random.default_rng(1).random(table.action_probability_array.shape) ** 3
    x *= table.legal_actions_mask
    table.action_probability_array[:] = x / x.sum(1, keepdims=True)
    return table

class Drawn(FromOpenSpiel):
    def __init__(self, game):
        super().__init__(game, drawn(game.name))
"""


@pytest.fixture(scope="module")
def pyspiel() -> Any:
    return pytest.importorskip("pyspiel", reason="OpenSpiel is not installed")


@pytest.fixture
def module(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch, pyspiel: Any) -> Any:
    """The module above, in the working directory."""
    (tmp_path / "theirs_drawn.py").write_text(MODULE)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "theirs_drawn", raising=False)
    return __import__("theirs_drawn")


def their_nash_conv(theirs: Any, policy: Any) -> float:
    from open_spiel.python.algorithms import exploitability

    return float(exploitability.nash_conv(theirs, policy))


def our_nash_conv(name: str, policy: Any) -> float:
    """Of a class with `policy`, in float64."""
    from stratkit.solve.exploitability import evaluate
    from stratkit.solve.sets import asked

    tree = Tree(Game(name))
    seen, legal, which = tree.distinct_views()
    return evaluate(tree, tree.flat(asked(policy, seen, legal)[which])).nash_conv


@pytest.mark.parametrize("name", GAMES)
def test_a_policy_of_theirs_goes_round(name: str, module: Any, pyspiel: Any) -> None:
    """Theirs here, and from here back there: three times the same NashConv."""
    from stratkit.adapters.openspiel import OpenSpielPolicy

    theirs = pyspiel.load_game(GAMES[name])
    expected = their_nash_conv(theirs, module.drawn(name))
    assert expected > 0.5
    assert our_nash_conv(name, module.Drawn(Game(name))) == pytest.approx(expected, abs=1e-9)
    back = OpenSpielPolicy(theirs, name, "py:theirs_drawn:Drawn")
    assert their_nash_conv(theirs, back) == pytest.approx(expected, abs=1e-9)
    done = run("exploit", "--json", name, "py:theirs_drawn:Drawn")
    assert done.status == 0, done.err
    (told,) = json.loads(done.out)["policies"]
    assert (told["name"], told["step"]) == ("Drawn", None)
    assert told["nash_conv"] == pytest.approx(expected, abs=2e-8)  # as it is rounded


@pytest.mark.parametrize("name", GAMES)
def test_a_network_of_ours_is_as_exploitable_there(
    name: str, tmp_path: pathlib.Path, pyspiel: Any
) -> None:
    from stratkit.adapters.openspiel import OpenSpielPolicy
    from stratkit.cli.messages import warn
    from stratkit.cli.progress import ProgressLine
    from stratkit.players.registry import parse_player
    from stratkit.solve.tree_judge import TreeJudge

    net, theirs = str(tmp_path / "net"), pyspiel.load_game(GAMES[name])
    save_network(net, "mlp:8", Game(name))
    judge = TreeJudge(Tree(Game(name)), ProgressLine, warn)
    (entry,) = judge.entries(net, parse_player(net))
    found = their_nash_conv(theirs, OpenSpielPolicy(theirs, name, net))
    assert found == pytest.approx(entry.result.nash_conv, abs=1e-9) and found > 0.5


def test_a_game_that_is_too_large_for_a_tree_is_asked_state_by_state(
    tmp_path: pathlib.Path, pyspiel: Any
) -> None:
    from stratkit.adapters.openspiel import OpenSpielPolicy

    net = str(tmp_path / "net")
    save_network(net, "mlp:8", Game("phantom_ttt"))
    theirs = pyspiel.load_game("phantom_ttt(gameversion=abrupt,obstype=reveal-nothing)")
    policy, state = OpenSpielPolicy(theirs, "phantom_ttt", net), theirs.new_initial_state()
    first = policy.action_probabilities(state)
    state.apply_action(4)
    state.apply_action(4)
    third = policy.action_probabilities(state)
    assert sorted(first) == list(range(9)) and sorted(third) == [0, 1, 2, 3, 5, 6, 7, 8]
    for some in (first, third):
        assert sum(some.values()) == pytest.approx(1, abs=1e-9)
        assert len(set(some.values())) == len(some)


@pytest.mark.parametrize(
    ("name", "theirs", "said"),
    [
        ("kuhn", "leduc_poker", "kuhn is another game than OpenSpiel's leduc_poker"),
        ("leduc", "leduc_poker", "leduc is another game than OpenSpiel's leduc_poker"),
        (
            "dark_hex:2",
            "dark_hex(board_size=2,gameversion=adh,obstype=reveal-nothing)",
            "dark_hex:2: an observation does not tell which information state it is",
        ),
        ("phantom_ttt", "kuhn_poker", "phantom_ttt has more than 1,000,000 histories"),
    ],
)
def test_other_games_are_refused(name: str, theirs: str, said: str, pyspiel: Any) -> None:
    from open_spiel.python import policy

    from stratkit.adapters.openspiel import FromOpenSpiel

    with pytest.raises(InputError) as error:
        FromOpenSpiel(Game(name), policy.UniformRandomPolicy(pyspiel.load_game(theirs)))
    assert str(error.value).startswith(said)


def test_our_policy_of_another_game_is_refused_there(pyspiel: Any) -> None:
    from stratkit.adapters.openspiel import OpenSpielPolicy

    theirs = pyspiel.load_game("leduc_poker")
    with pytest.raises(InputError, match="not a policy that can be evaluated"):
        OpenSpielPolicy(theirs, "leduc", "random")


def test_the_example_has_the_policy_of_our_own_cfr(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch, pyspiel: Any
) -> None:
    code = (ROOT / "examples/openspiel_policy.py").read_text()
    (tmp_path / "openspiel_policy.py").write_text(code)
    monkeypatch.chdir(tmp_path)
    done = run("exploit", "--json", "leduc", "py:openspiel_policy:Leduc,iterations=3", "cfr:3")
    assert done.status == 0, done.err
    theirs, ours = json.loads(done.out)["policies"]
    assert theirs["nash_conv"] == pytest.approx(ours["nash_conv"], abs=1e-7)
    lines = code.split("class Leduc")[1].strip().splitlines()
    assert len(lines) <= 10


def test_views_are_what_is_asked(module: Any) -> None:
    """A class of ours asks an OpenSpiel policy by what is seen, in any order."""
    tree = Tree(Game("kuhn"))
    seen, legal, _ = tree.distinct_views()
    rows, nothing = np.arange(len(seen))[::-1], np.zeros(len(seen), np.int8)
    views = Views(nothing.astype(np.int64), nothing, nothing.astype(np.int32), legal, seen)
    policy = module.Drawn(Game("kuhn"))
    assert (policy.policy(views.take(rows)) == policy.policy(views)[::-1]).all()
