"""deploy-gen --from search: a book of setups, and who plays from it."""

from __future__ import annotations

import pathlib
import re

from running import here, run
from storage.stored import save_network
from stratkit.engine import Game


def test_a_book_from_a_network_to_a_match(tmp_path: pathlib.Path) -> None:
    network, book = tmp_path / "x.safetensors", tmp_path / "book.setups"
    save_network(network, "plain", Game("nano"))
    source = f"search,candidates=3,games=2,samples=50,{network}"
    done = here("deploy-gen", "--game", "nano", "-n", 40, "--from", source, "--seed", 1, "-o", book)
    assert done.status == 0
    said = re.fullmatch(
        r"red and blue mix as many as [\d.]+ and [\d.]+ of 3 setups; worth [+-][\d.]+ to red;"
        r" exploitability among them ([\d.]+), in other games ([\d.]+) \(all alike: [\d.]+\)\n",
        done.err,
    )
    assert said and float(said[1]) < 0.1 < 2 + float(said[2])
    lines = book.read_text().splitlines()
    assert len(lines) == 40 and len(set(lines)) <= 3
    again = here("deploy-gen", "--game", "nano", "-n", 6, "--from", source, "--seed", 1)
    assert again.out.splitlines() == lines[:6]
    once = here(
        *("deploy-gen", "--game", "nano", "-n", 4, "--seed", 1, "--fix", "M=A1"),
        *("--from", f"search,games=0,samples=20,{network}"),
    )
    assert once.status == 0 and all(line[0] == "M" for line in once.out.splitlines())
    none = here(
        *("deploy-gen", "--game", "nano", "-n", 4, "--seed", 1, "--fix", "M=A1", "--fix", "C=B1"),
        *("--from", f"search,{network}"),
    )
    assert (none.status, none.out) == (1, "")
    assert "deploys one setup only" in none.err
    refused = here("deploy-gen", "--game", "nano", "-n", 2, "--logprob", "--from", source)
    assert refused.status == 2 and "red and blue draw from a book" in refused.err
    for command in (
        ("selfplay", "--game", "nano", "-n", 4, "-o", tmp_path / "x.eps"),
        ("match", "random", "name=other,random", "-n", 4, "--game", "nano",
         "-o", tmp_path / "x.jsonl"),
    ):  # fmt: skip
        assert run(*command, "--setups", book, "--seed", 1).status == 0
