"""Equal seeds give what they gave: pinned results of self-play, of learning, and of the heuristic.

Whatever changes one of these numbers changes what every user's seeds mean, and the yardstick of
all figures of strength: that is never a matter of tidying up. What is integers, or floats that one
division makes, is pinned by a hash. What a network says depends in its last digits on the processor
and on the version of torch: it is pinned up to a tolerance, and the actions drawn from it, which
such a digit hardly ever changes, by a hash again. Hashes are of contents, not of files, whose
headers name versions and whose frames depend on the compressor.
"""

from __future__ import annotations

import hashlib
import io
import json
import pathlib

import numpy as np
import pytest

from running import run
from storage.stored import save_network
from stratkit.engine import Game
from stratkit.storage.checkpoints import list_checkpoints, load_checkpoint
from stratkit.storage.episodes import EpisodeReader


def digest(*parts: object) -> str:
    """Of texts, and of arrays with their types."""
    found = hashlib.sha256()
    for part in parts:
        if isinstance(part, np.ndarray):
            found.update(part.dtype.str.encode() + part.tobytes())
        else:
            found.update(repr(part).encode())
    return found.hexdigest()[:16]


# --- the heuristic --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("game", "games", "wanted"),
    [
        ("mini", 200, "a36f0b106383dcc8"),
        ("barrage", 200, "fd266b306d64a08c"),
        ("classic", 40, "824e6e950f02fed7"),
    ],
)
def test_the_heuristic_plays_as_it_did(game: str, games: int, wanted: str) -> None:
    """Every figure of strength is measured against it; so many games notice every weight of it."""
    players = ("heuristic", "name=again,heuristic", "--game", game, "-n", games, "--seed", 1)
    done = run("match", *players, "--max-plies", 400, "-o", "-")
    assert done.status == 0, done.err
    _, *records = map(json.loads, done.out.splitlines())
    assert sum(record["plies"] for record in records) > 3000
    assert (
        digest([(r["players"], r["setups"], r["moves"], r["returns"]) for r in records]) == wanted
    )


# --- self-play ------------------------------------------------------------------------------------


def selfplay(*arguments: object) -> tuple[bytes, list[np.ndarray]]:
    """The stream, and of all its episodes: number, step, ending, returns, actions, mu."""
    done = run("selfplay", *arguments)
    assert done.status == 0, done.err
    found = list(EpisodeReader(io.BytesIO(done.data), "-"))
    columns = [
        np.array([(e.number, e.step, e.ending) for e in found], np.int64),
        np.concatenate([e.returns for e in found]).astype(np.float32),
        np.concatenate([e.actions for e in found]).astype(np.int32),
        np.concatenate([e.mu for e in found]).astype(np.float32),
    ]
    return done.data, columns


@pytest.mark.parametrize(
    ("game", "games", "wanted"),
    [
        ("kuhn", 500, "6baaca80f17d94c4"),
        ("leduc", 200, "6718e9f6b4e34641"),
        ("phantom_ttt", 200, "c513098381f2f79f"),
        ("phantom_ttt:classical", 200, "78e94872568ea51e"),
        ("mini", 30, "c721abbb43162bd0"),
        ("classic", 2, "3f6db19df42bc9b2"),
    ],
)
def test_random_selfplay_is_what_it_was(game: str, games: int, wanted: str) -> None:
    _, columns = selfplay("--game", game, "--policy", "random", "-n", games, "--seed", 7)
    assert digest(*columns) == wanted


def test_selfplay_by_a_network_is_what_it_was(tmp_path: pathlib.Path) -> None:
    save_network(tmp_path / "net", "plain", Game("nano"))
    _, (about, returns, actions, mu) = selfplay(
        "--game", "nano", "--policy", tmp_path / "net", "-n", 40, "--seed", 7
    )
    assert digest(about, returns, actions) == "805f18f0bb4edcf6"
    assert np.log(mu, dtype=np.float64).sum() == pytest.approx(-521.33727, rel=1e-6)


# --- learning -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("game", "net", "wanted"),
    [
        (
            "kuhn",
            "mlp:16",
            {
                "states": 17,
                "policy_loss": -0.167065,
                "value_loss": 5.18855,
                "entropy": 0.68769,
                "grad_norm": 3.06122,
                "online": 0.0860536,
                "target": 0.000541158,
            },
        ),
        (
            "mini",
            "plain",
            {
                "states": 1572,
                "policy_loss": -0.000969655,
                "value_loss": 0.407902,
                "entropy": 1.24061,
                "grad_norm": 0.0946051,
                "online": 0.652588,
                "target": 0.131060,
            },
        ),
        (
            "mini",
            "tiny",
            {
                "states": 1572,
                "value_loss": 1.15889,
                "entropy": 1.24138,
                "grad_norm": 0.131563,
                "online": 0.500585,
                "target": 0.0782289,
            },
        ),
    ],
)
def test_learning_is_what_it_was(
    game: str, net: str, wanted: dict[str, float], tmp_path: pathlib.Path
) -> None:
    """The last of three steps of eight games, and how far the networks came in them."""
    games, _ = selfplay("--game", game, "--policy", "random", "-n", 24, "--seed", 7)
    options = ("--net", net, "--batch", 8, "--seed", 3, "--save-every", 1, "-q")
    done = run("train", "-", "--out", tmp_path, *options, stdin=games)
    assert done.status == 0, done.err
    *_, found = map(json.loads, (tmp_path / "metrics.jsonl").open())
    (start, early), *_, (end, late) = list_checkpoints(tmp_path)
    assert (start, end) == (0, 3)
    (before, _), (after, _) = load_checkpoint(early), load_checkpoint(late)
    for part in ("online", "target"):
        moved = [after[name] - before[name] for name in after if name.startswith(f"{part}/")]
        found[part] = float(np.sqrt(sum(np.square(w, dtype=np.float64).sum() for w in moved)))
    assert {name: found[name] for name in wanted} == pytest.approx(wanted, rel=1e-3)
