"""Policies from tables, and kept in them."""

from __future__ import annotations

import json
import pathlib
import re
import shutil
import textwrap
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import save_file

from running import ROOT, run
from solve.small_games import tree_of
from storage.stored import save_network
from stratkit.cli.progress import ProgressLine
from stratkit.engine import Batch, Game
from stratkit.engine.batch import CHANCE, OVER
from stratkit.errors import InputError
from stratkit.players.factory import open_player
from stratkit.players.registry import parse_player
from stratkit.solve import sets, tables
from stratkit.solve.tables import kept_policy
from stratkit.storage.checkpoints import checkpoint_path
from stratkit.storage.sets import information_sets, sets_of
from stratkit.storage.tables import PolicyTable, TableMetadata, growing_table, read_table


def save(path: pathlib.Path, policy: np.ndarray, **metadata: Any) -> None:
    """As a stranger does."""
    values = {"version": 1, "kind": "table", "game": "kuhn", **metadata}
    save_file({"policy": policy}, path, {"stratkit": json.dumps(values)})


def judged(*arguments: object) -> Any:
    done = run("exploit", "--json", *arguments)
    assert done.status == 0, done.err
    return json.loads(done.out)["policies"][0]


def test_a_strangers_equilibrium_of_kuhn_is_one(tmp_path: pathlib.Path) -> None:
    """Kuhn's own, with alpha = 1/4; an observation has who acts, the card, and what was bet."""
    seen, legal = information_sets(Game("kuhn")).views(0, 12)
    first = ((1 / 4, 0), (0, 1 / 4 + 1 / 3), (3 / 4, 1))  # by card: bets at once; calls
    second = ((1 / 3, 0), (0, 1 / 3), (1, 1))  # bets after a pass; calls
    bets = [
        (first, second)[int(row[1])][int(row[2:5].argmax())][int(row[6] + row[8])] for row in seen
    ]
    assert (legal == [1, 1, 0]).all()
    policy = np.array([(1 - bet, bet) for bet in bets]).ravel()
    for kind, within in ((np.float16, 1e-3), (np.float32, 1e-6), (np.float64, 1e-12)):
        save(tmp_path / "nash.table", policy.astype(kind))
        found = judged("kuhn", f"table:{tmp_path / 'nash.table'}")
        assert 0 <= found["nash_conv"] <= within
        assert found["value"] == pytest.approx(-1 / 18, abs=1e-3)


@pytest.mark.parametrize("name", ["kuhn", "leduc", "hex:2"])
def test_other_games_sets_come_as_the_page_says(name: str) -> None:
    """By a walk of its own, depth first."""
    game = Game(name)
    found: dict[Any, tuple[bytes, bytes]] = {}

    def walk(batch: Batch, memory: tuple[Any, Any]) -> None:
        actor = int(batch.actors()[0])
        if actor == OVER:
            return
        legal, known = batch.legal()[0], memory
        if actor != CHANCE:
            seen = batch.observe()[0].tobytes()
            found.setdefault((actor, memory[actor], seen), (seen, legal.tobytes()))
        for action in np.flatnonzero(legal):
            if actor != CHANCE:
                own = (memory[actor], seen, int(action))
                known = (own, memory[1]) if actor == 0 else (memory[0], own)
            below = Batch(game, 1)
            below.copy_row(0, batch, 0)
            below.apply(np.array([action], np.int32))
            walk(below, known)

    walk(Batch(game, 1), ((), ()))
    seen, legal = information_sets(game).views(0, 10**6)
    rows = zip(seen, legal, strict=True)
    assert [(row.tobytes(), mask.tobytes()) for row, mask in rows] == list(found.values())


@pytest.mark.parametrize("name", ["kuhn", "liars_dice:1x3", "dark_hex:2"])
def test_a_networks_policy_is_kept_and_used(name: str, tmp_path: pathlib.Path) -> None:
    net, file = tmp_path / "net", tmp_path / "net.table"
    save_network(net, "mlp:8", Game(name))
    expected = judged(name, net)
    for _ in range(2):
        found = judged(name, net, "--table", file)
        assert found["name"] == "net" and found["step"] == 7
        assert found["nash_conv"] == pytest.approx(expected["nash_conv"], abs=1e-6)
    held = PolicyTable(str(file))
    uniform = sets_of(tree_of(name)).views(0, 10**6)[1].astype(float)
    uniform /= uniform.sum(1, keepdims=True)
    with growing_table(str(file), held.metadata, held.choices, force=False) as table:
        table.write(uniform[uniform > 0])
    alike = judged(name, "uniform")["nash_conv"]
    assert judged(name, net, "--table", file)["nash_conv"] == pytest.approx(alike, abs=1e-6)
    assert judged(name, net, "--table", file, "-f")["nash_conv"] == found["nash_conv"]


def test_who_is_interrupted_goes_on(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The parts that were written are not asked for again, and one that was cut is."""
    monkeypatch.setattr(sets, "ROWS", 100)
    monkeypatch.setattr(tables, "ROWS", 100)
    net, file, game = tmp_path / "net", tmp_path / "t", Game("liars_dice:1x4")
    save_network(net, "mlp:8", game)
    contestant: Any = open_player(parse_player(str(net)), game, 0, 64)
    asked: list[int] = []
    policy = contestant.player.policy

    def counts(views: Any) -> Any:
        asked.append(len(views))
        if len(asked) == 5:
            raise KeyboardInterrupt
        return policy(views)

    monkeypatch.setattr(contestant.player, "policy", counts)
    dice = information_sets(game)
    notes: list[str] = []
    call = (str(file), dice, {}, contestant, False, ProgressLine, notes.append)
    with pytest.raises(KeyboardInterrupt):
        kept_policy(*call)
    part = tmp_path / "t.part"
    assert not file.exists() and part.exists()
    with open(part, "r+b") as stream:
        stream.truncate(part.stat().st_size - 3)
    found = kept_policy(*call)
    assert notes == [f"{file}: goes on after 300 information sets"]
    assert sum(asked) == 500 + len(dice) - 300 and not part.exists()
    monkeypatch.undo()
    whole = sets.all_choices(dice, contestant.player, ProgressLine)
    np.testing.assert_allclose(found, whole, atol=1e-6)


@pytest.mark.parametrize(
    ("metadata", "change", "said"),
    [
        ({"game": "leduc"}, {}, "a table of leduc, not of kuhn"),
        ({"rules": {"open": 1}}, {}, "a table by other rules: open 1, and here none"),
        ({"kind": "policy"}, {}, "not a table of a policy: 'policy'"),
        ({"version": 2}, {}, "metadata 'version'"),
        ({}, {4: np.nan}, "information set 2, which sees 1 0 1 0 0 1 0 0 1 0 0: nan is no proba"),
        ({}, {4: -0.5, 5: 1.5}, "information set 2, which sees 1 0 1 0 0 1 0 0 1 0 0: -0.5 is no"),
        ({}, {23: 0.4}, "1 0 0 1 0 0: the probabilities sum to 0.9, not to 1"),
        ({}, {0: np.inf}, "information set 0, which sees 1 0 1 0 0 0 0 0 0 0 0: inf is no proba"),
    ],
)
def test_one_line_says_what_is_wrong_with_a_table(
    metadata: dict[str, Any], change: dict[int, float], said: str, tmp_path: pathlib.Path
) -> None:
    policy = np.full(24, 0.5)
    for at, number in change.items():
        policy[at] = number
    save(tmp_path / "t", policy, **metadata)
    with pytest.raises(InputError) as error:
        read_table(PolicyTable(str(tmp_path / "t")), sets_of(tree_of("kuhn")), {})
    assert str(error.value).startswith(f"{tmp_path / 't'}: ") and said in str(error.value)


def test_a_file_that_is_no_table(tmp_path: pathlib.Path) -> None:
    file = tmp_path / "t"
    save(file, np.full(22, 0.5))
    done = run("exploit", "kuhn", f"table:{file}")
    assert done.error_line == f"exploit: {file}: it has 22 choices, and kuhn has 24"
    file.write_bytes(file.read_bytes()[:-8])
    done = run("exploit", "kuhn", f"table:{file}")
    assert done.status == 1 and f"{file}: not a table, or truncated" in done.error_line
    save(file, np.full((12, 2), 0.5))
    with pytest.raises(InputError, match="'policy' must be a row of numbers"):
        PolicyTable(str(file))
    with pytest.raises(InputError, match="not a table of a policy"):
        PolicyTable(str(ROOT / "formats/samples/policy.safetensors"))


def test_one_line_says_what_is_not_kept(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    net, file = tmp_path / "net", tmp_path / "t"
    save_network(net, "mlp:8", Game("kuhn"))
    for policies in (["uniform"], ["cfr:5"], [net, net], ["search=pc-pimc,random"]):
        done = run("exploit", "kuhn", *policies, "--table", file)
        assert done.status == 2 and "--table keeps" in done.error_line
    for step in (1, 2):
        checkpoint_path(tmp_path / "run", step).parent.mkdir(parents=True, exist_ok=True)
        save_network(checkpoint_path(tmp_path / "run", step), "mlp:8", Game("kuhn"), step=step)
    for option in ("--table", "--write-response"):
        done = run("exploit", "kuhn", tmp_path / "run", option, file)
        assert done.status == 2 and "and this RUN has 2 checkpoints" in done.error_line
    save(file, np.full(24, 0.5))
    done = run("exploit", "kuhn", net, "--table", file)
    assert done.error_line == f"exploit: {file}: a table of another policy; -f overwrites it"
    hot = f"temperature=2,{net}"
    assert run("exploit", "kuhn", net, "--table", file, "-f").status == 0
    assert "another policy" in run("exploit", "kuhn", hot, "--table", file).error_line
    (tmp_path / "u.part").write_bytes(b"somebody else's")
    done = run("exploit", "kuhn", net, "--table", tmp_path / "u")
    assert f"{tmp_path / 'u.part'}: a part of another table" in done.error_line
    assert (tmp_path / "u.part").read_bytes() == b"somebody else's"
    usage = shutil.disk_usage(tmp_path)._replace(free=10)
    monkeypatch.setattr(shutil, "disk_usage", lambda folder: usage)
    says = TableMetadata(game="kuhn")
    with (
        pytest.raises(InputError, match="2 MiB are needed on the disk, 0 free"),
        growing_table(str(tmp_path / "v"), says, 500_000, force=False),
    ):
        pass


def test_the_pages_own_table(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its code writes the sample's policy."""
    page = (ROOT / "formats/table.md").read_text()
    code = textwrap.dedent("".join(re.findall(r"^ {4}.*\n|^\n(?= {4})", page, re.M)))
    monkeypatch.chdir(tmp_path)
    exec(compile(code, "table.md", "exec"), {})
    for file in ("kuhn.table", str(ROOT / "formats/samples/kuhn.table")):
        table = PolicyTable(file)
        assert table.metadata.game == "kuhn" and (table[slice(0, 24)] == 0.5).all()
