"""A belief network from episodes to a player that searches, and what is refused."""

from __future__ import annotations

import hashlib
import json
import pathlib

import pytest

from running import run


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    """A RUN of a belief network of `mini`."""
    folder = tmp_path_factory.mktemp("belief")
    assert run("selfplay", "--game", "mini", "-n", 48, "--seed", 1, "-o",
               folder / "games.eps").status == 0  # fmt: skip
    words = ["--algorithm", "belief", "--net", "plain:4x1", "--batch", 16, "--seed", 1]
    done = run("train", folder / "games.eps", "--out", folder / "run", *words, "--steps", 2)
    assert done.status == 0, done.err
    done = run("train", folder / "games.eps", "--out", folder / "run", "--resume")
    assert done.status == 0, done.err
    lines = [json.loads(line) for line in (folder / "run/metrics.jsonl").read_text().splitlines()]
    assert [line["step"] for line in lines] == [1, 2, 3]
    assert all(0 < line["nats"] == line["loss"] < line["uniform"] + 0.5 for line in lines)
    return folder / "run"


def test_a_search_believes_in_it(trained: pathlib.Path, tmp_path: pathlib.Path) -> None:
    deep = f"name=deep,search=mmd,rollouts=24,depth=1,belief={trained},random"
    words = ["match", deep, "random", "-n", 4, "--game", "mini", "--seed", 1, "--max-plies", 20]
    file = tmp_path / "games.jsonl"
    assert run(*words, "-o", file, "--slots", 4).status == 0
    again = tmp_path / "again.jsonl"
    assert run(*words, "-o", again, "--slots", 4).status == 0
    assert file.read_bytes() == again.read_bytes()
    plain = [word.replace(f"belief={trained},", "") if word == deep else word for word in words]
    assert run(*plain, "-o", tmp_path / "plain.jsonl", "--slots", 4).status == 0
    both = [word.replace("belief=", "belief=setups+") if word == deep else word for word in words]
    assert run(*both, "-o", tmp_path / "both.jsonl", "--slots", 4).status == 0
    files = (file, tmp_path / "plain.jsonl", tmp_path / "both.jsonl")
    games = [path.read_text().splitlines()[1:] for path in files]
    assert games[0] != games[1] != games[2] != games[0]
    headers = [json.loads(path.read_text().splitlines()[0])["players"][0] for path in files]
    network = trained / "checkpoints/step-00000003.safetensors"
    digest = hashlib.sha256(network.read_bytes()).hexdigest()
    assert [header.get("belief") for header in headers] == [digest, None, digest]
    assert f"belief=setups+{network}," in headers[2]["spec"]
    changed = file.read_bytes().replace(digest.encode(), b"1" * 64)
    file.write_bytes(changed)
    done = run(*words, "-o", file, "--slots", 4, "--resume")
    assert done.status == 1 and "players 1 belief is another" in done.error_line
    assert file.read_bytes() == changed


def test_what_is_no_belief_of_the_game_is_refused(trained: pathlib.Path) -> None:
    def refused(*words: object) -> str:
        done = run(*words)
        assert done.status in (1, 2)
        return done.error_line

    search = ["match", f"search=mmd,belief={trained},random", "random", "-n", 2, "-o", "x.jsonl"]
    said = refused(*search, "--game", "barrage")
    assert "a belief network for mini, not for barrage" in said
    said = refused(*search[:1], "search=mmd,belief=./nothing,random", *search[2:], "--game", "mini")
    assert "./nothing: no such file or folder" in said
    said = refused("match", trained, "random", "-n", 2, "--game", "mini", "-o", "x.jsonl")
    assert "a belief network, where a policy is needed: belief=FILE takes it" in said
    wrong = "search=mmd,belief=setups+uniform,random"
    said = refused("match", wrong, *search[2:], "--game", "mini")
    assert "one of uniform, setups, policy, setups+policy, true, or a path" in said
    wrong = f"search=mmd,belief=setups+{trained},random"
    said = refused("match", wrong, *search[2:], "--game", "kuhn")
    assert "is for Stratego, not for kuhn" in said
    games = trained.parent / "games.eps"
    said = refused("train", games, "--out", "none", "--algorithm", "belief", "--net",
                   "plain+deployment", "--steps", 1)  # fmt: skip
    assert "a network that has numbers for each square" in said
    said = refused("train", games, "--out", trained, "--resume", "--algorithm", "mmd")
    assert "learned by belief, which alone can go on with it" in said
