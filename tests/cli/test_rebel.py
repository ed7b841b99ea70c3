"""ReBeL by commands: examples of self-play, the learner that reads them, the player."""

from __future__ import annotations

import json
import os
import pathlib
import runpy
import subprocess
import sys
from collections import Counter

import numpy as np
import pytest

from running import PATIENCE, ROOT, forked_commands, forked_line, run
from stratkit.storage.checkpoints import (
    list_checkpoints,
    load_checkpoint,
    load_network,
    read_metadata,
    save_checkpoint,
)
from stratkit.storage.examples import ExampleReader, ExampleWriter

GAME, RPS = "liars_dice:1x2", f"matrix:{ROOT / 'formats/samples/modified_rps.matrix'}"
PLAY = ("selfplay", "--game", GAME, "--search", "cfr,iterations=8", "--slots", 8, "--seed", 3)
CHECKPOINT, RUNS = "checkpoints/step-{:08}.safetensors", ("one", "two")
LEARN = ("--algorithm", "rebel", "--net", "pbs:16x16", "--batch", 32, "--seed", 1)


@pytest.fixture(scope="module")
def examples(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    """Of games whose leaves were solved exactly."""
    path = tmp_path_factory.mktemp("examples") / "a.pbs"
    done = run(*PLAY, "-n", 600, "-o", path)
    assert done.status == 0, done.err
    return path


@pytest.fixture(scope="module")
def trained(examples: pathlib.Path) -> pathlib.Path:
    """A RUN of 24 steps."""
    out = examples.parent / "run"
    done = run("train", examples, "--out", out, *LEARN, "--steps", 24)
    assert done.status == 0, done.err
    return out


def newest(folder: pathlib.Path) -> dict[str, np.ndarray]:
    """The tensors of the newest checkpoint of a RUN."""
    return load_checkpoint(list_checkpoints(folder)[-1][1])[0]


def follow(folder: pathlib.Path) -> list[dict[str, object]]:
    """Learns in the loop, one step behind the other; the metrics, but for what time it was."""
    loop = (*PLAY, "--policy", folder, "--follow", "--max-ahead", 1)
    learn = ("-", "--out", folder, *LEARN, "--steps", 20)
    with subprocess.Popen(forked_line(*loop), stdout=subprocess.PIPE) as playing:
        with subprocess.Popen(forked_line("train", *learn), stdin=playing.stdout) as learning:
            assert playing.stdout
            playing.stdout.close()
            assert learning.wait(PATIENCE) == 0
        assert playing.wait(PATIENCE) == 0
    lines = (folder / "metrics.jsonl").read_text().splitlines()
    return [
        {key: value for key, value in json.loads(line).items() if key not in ("time", "seconds")}
        for line in lines
    ]


def test_equal_seeds_make_equal_examples(examples: pathlib.Path, tmp_path: pathlib.Path) -> None:
    assert run(*PLAY, "-n", 600, "-o", tmp_path / "b").status == 0
    assert (tmp_path / "b").read_bytes() == examples.read_bytes()
    with open(examples, "rb") as stream:
        reader = ExampleReader(stream, "x")
        header = reader.open()
        assert (header.game, header.inputs, header.hands) == (GAME, 1 + 4 + 2 + 2, 2)
        assert header.search == "search=cfr,iterations=8"
        assert sum(len(values.rows) for values in reader) > 60 and reader.truncated is None


def test_leaves_are_valued_where_and_as_it_is_asked(
    trained: pathlib.Path, tmp_path: pathlib.Path
) -> None:
    told = [*PLAY, "--policy", trained, "-n", 40]
    paths = [tmp_path / word for word in ("f32", "bf16")]
    for path in paths:
        done = run(*told, "--precision", path.name, "-o", path)
        assert done.status == 0, done.err
    assert paths[0].read_bytes() != paths[1].read_bytes()
    done = run(*told, "--device", "cuda", CUDA_VISIBLE_DEVICES="")
    assert done.status == 1 and done.error_line.startswith("selfplay: ")
    assert "cuda" in done.error_line and not done.out


def test_the_loop_learns_and_equal_seeds_make_equal_runs(tmp_path: pathlib.Path) -> None:
    first, second = follow(tmp_path / "one"), follow(tmp_path / "two")
    assert first == second and [line["step"] for line in first] == list(range(1, 21))
    assert first[-1]["value_loss"] < first[0]["value_loss"]  # type: ignore[operator]
    tensors = [load_checkpoint(tmp_path / name / CHECKPOINT.format(20))[0] for name in RUNS]
    assert tensors[0].keys() == tensors[1].keys()
    assert all((tensors[0][name] == tensors[1][name]).all() for name in tensors[0])


def test_a_resumed_run_is_the_run(
    examples: pathlib.Path, trained: pathlib.Path, tmp_path: pathlib.Path
) -> None:
    words = ("train", examples, "--out", tmp_path / "run")
    assert run(*words, *LEARN, "--steps", 7, "--save-every", 5).status == 0
    path = tmp_path / "run" / CHECKPOINT.format(7)
    tensors, older = load_checkpoint(path)
    older["config"] |= {"threads": 1, "weight_by": "step"}  # as versions stored that had them
    save_checkpoint(path, tensors, {k: older[k] for k in older if k != "sha256"}, True)
    done = run(*words, "--resume", "--steps", 24)
    assert done.status == 0, done.err
    whole, metadata = load_checkpoint(trained / CHECKPOINT.format(24))
    parts, other = load_checkpoint(tmp_path / "run" / CHECKPOINT.format(24))
    assert metadata["episodes"] == other["episodes"] == len(whole["buffer/rows"])
    assert whole.keys() == parts.keys()
    assert all((whole[name] == parts[name]).all() for name in whole)
    assert other["inputs"] == {str(examples): other["episodes"]}


def test_nothing_is_skipped_in_a_pipe_of_the_same_name(
    examples: pathlib.Path, tmp_path: pathlib.Path
) -> None:
    """What comes through it after a stop is new."""
    run_folder, pipe = tmp_path / "run", tmp_path / "pipe"
    os.mkfifo(pipe)
    learned = []
    for more in ((*LEARN, "--steps", 3), ("--resume",)):
        with subprocess.Popen(["sh", "-c", 'cat "$1" >"$2"', "sh", examples, pipe]) as writer:
            done = run("train", pipe, "--out", run_folder, *more)
            writer.kill()  # a learner that has enough leaves it waiting
        assert done.status == 0, done.err
        learned.append(read_metadata(list_checkpoints(run_folder)[-1][1]))
    with open(examples, "rb") as stream:
        all_of_them = sum(len(values.rows) for values in ExampleReader(stream, "x"))
    assert learned[1]["episodes"] == learned[0]["episodes"] + all_of_them
    assert learned[0]["inputs"] == learned[1]["inputs"] == {}


def pairs_of(path: pathlib.Path) -> list[bytes]:
    """The examples of a stream, in order."""
    with open(path, "rb") as stream:
        frames = [np.hstack(frame) for frame in ExampleReader(stream, str(path))]
    return [pair.tobytes() for pair in np.concatenate(frames)]


def test_several_generators_feed_one_learner(tmp_path: pathlib.Path) -> None:
    """Each follows it through a pipe of its own. All that they write is learned from, each stream
    in its order, and as many steps are made as there are examples for."""
    line = '"$@" | tee copy-"$0" >"$0"'  # what was written is kept
    writers = []
    for name, seed in (("a", 3), ("b", 4)):
        os.mkfifo(tmp_path / name)
        play = (*PLAY[:-1], seed, "--policy", "run", "--follow", "--max-ahead", 32, "-n", 200)
        words = ["sh", "-c", line, name, *forked_line(*play)]
        writers.append(subprocess.Popen(words, cwd=tmp_path))
    done = run("train", "a", "b", "--out", "run", *LEARN, "--uses", 4, cwd=tmp_path)
    assert done.status == 0, done.err
    assert [writer.wait(PATIENCE) for writer in writers] == [0, 0]
    written = {seed: pairs_of(tmp_path / f"copy-{name}") for name, seed in (("a", "3"), ("b", "4"))}
    number = sum(map(len, written.values()))
    assert min(map(len, written.values())) > 16  # two steps of either alone
    tensors, metadata = load_checkpoint(list_checkpoints(tmp_path / "run")[-1][1])
    assert metadata["episodes"] == number and metadata["step"] == 4 * number // 32
    learned = np.hstack([tensors["buffer/rows"], tensors["buffer/values"]])
    found = [pair.tobytes() for pair in learned]
    assert Counter(found) == Counter(written["3"]) + Counter(written["4"])
    for pairs in written.values():
        left = iter(found)
        assert all(pair in left for pair in pairs)
    passed = read_metadata(tmp_path / "run/policy.safetensors")["passed"]
    assert passed == {seed: len(pairs) for seed, pairs in written.items()}


@pytest.mark.parametrize("size", [20, 50, 100])
def test_a_run_goes_on_with_a_buffer_of_another_size(
    size: int, examples: pathlib.Path, tmp_path: pathlib.Path
) -> None:
    """A full buffer of 50 examples; it goes on with the newest."""
    words = ("train", examples, "--out", tmp_path / "run")
    assert run(*words, *LEARN, "--buffer", 50, "--uses", 4).status == 0
    before, metadata = load_checkpoint(list_checkpoints(tmp_path / "run")[-1][1])
    assert len(before["buffer/rows"]) == 50 < metadata["episodes"]
    done = run(*words, "--resume", "--buffer", size, "--uses", 8)
    assert done.status == 0, done.err
    after, k = newest(tmp_path / "run"), metadata["episodes"] - 1 - np.arange(min(size, 50))
    for name in ("buffer/rows", "buffer/values"):
        n = len(after[name])
        assert n == len(k)
        assert np.array_equal(after[name][k % n], before[name][k % 50], equal_nan=True)


def errors_of(run_: pathlib.Path) -> dict[int, dict[str, float]]:
    """`value_error` by step."""
    lines = map(json.loads, (run_ / "metrics.jsonl").read_text().splitlines())
    return {line["step"]: line["value_error"] for line in lines if "value_error" in line}


def test_the_error_of_values_falls_and_measuring_it_changes_nothing(tmp_path: pathlib.Path) -> None:
    play = (*PLAY[:3], "--search", "cfr,iterations=16", "--slots", 64, "--seed", 3, "-n", 6000)
    assert run(*play, "-o", tmp_path / "a").status == 0
    learn = ("train", tmp_path / "a", *LEARN, "--lr", 0.01, "--uses", 16, "--average-rate", 0.05)
    save, exact = ("--steps", 300, "--save-every", 150), ("--exact", 40)
    for name, options in (("plain", save), ("whole", (*save, *exact))):
        assert run(*learn, "--out", tmp_path / name, *options).status == 0
    first = ("--out", tmp_path / "parts", *exact, "--steps", 1, "--save-every", 1)
    assert run(*learn, *first).status == 0
    assert run("train", tmp_path / "a", *first[:2], "--resume", *save).status == 0

    plain, whole, parts = (errors_of(tmp_path / name) for name in ("plain", "whole", "parts"))
    assert not plain and set(whole) == {150, 300}
    assert parts == {1: parts[1], **whole}
    for left in ("1", "2"):
        assert whole[300][left] < 0.1 < 0.6 < parts[1][left]
    weights = [
        load_checkpoint(tmp_path / name / CHECKPOINT.format(300))[0] for name in ("plain", "whole")
    ]
    assert all((weights[0][name] == weights[1][name]).all() for name in weights[0])
    picture = tmp_path / "error.png"
    done = run("curves", tmp_path / "whole", "--field", "value_error/1", "-o", picture)
    assert done.status == 0 and picture.read_bytes().startswith(b"\x89PNG"), done.err


@pytest.mark.parametrize(
    ("game", "what"),
    [
        ("dark_hex:3", "dark_hex:3: it has no public belief states"),
        (RPS, f"{RPS}: self-play to depth 2 ends in its first subgame"),
    ],
)
def test_a_game_without_exact_values_is_refused(
    game: str, what: str, tmp_path: pathlib.Path
) -> None:
    words = ("train", "-", "--out", tmp_path / "run", *LEARN, "--game", game, "--steps", 0)
    done = run(*words, "--exact", 4)
    assert done.status == 1 and done.error_line == f"train: {what}"
    assert not (tmp_path / "run").exists()


def test_what_was_learned_plays_by_search(trained: pathlib.Path, tmp_path: pathlib.Path) -> None:
    player = f"search=cfr,iterations=32,depth=2,{trained}"
    done = run("exploit", GAME, player, "--json", "--repeats", 16)
    assert done.status == 0, done.err
    first, last = json.loads(done.out)["policies"]  # the untrained network, and the last
    assert (first["step"], last["step"]) == (0, 24)
    assert first["nash_conv"] != last["nash_conv"] < 0.1 and last["games"] == 16
    for name in RUNS:
        words = ("match", player, "random", "-n", 4, "--game", GAME, "--seed", 1)
        assert run(*words, "-o", tmp_path / name).status == 0
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()
    header = json.loads((tmp_path / "one").read_text().splitlines()[0])
    assert header["players"][0]["name"] == "run@24"
    assert header["players"][0]["spec"].startswith("net=average,search=cfr,depth=2,iterations=32,")


def test_a_run_goes_on_from_other_weights(
    examples: pathlib.Path, trained: pathlib.Path, tmp_path: pathlib.Path
) -> None:
    words = ("train", examples, "--out", tmp_path / "run", *LEARN[:2], "--steps", 0)
    idle = run(*words, "--weight-by", "game")
    assert idle.status == 2 and "--weight-by is no setting of the algorithm rebel" in idle.err
    assert run(*words, "--weights", trained).status == 0
    begun = load_checkpoint(tmp_path / "run" / CHECKPOINT.format(0))[0]
    last = load_checkpoint(trained / CHECKPOINT.format(24))[0]
    assert (begun["online/last.bias"] == last["average/last.bias"]).all()
    metadata = read_metadata(tmp_path / "run" / CHECKPOINT.format(0))
    assert metadata["net"] == "pbs:16x16"


def test_a_policy_is_learned_and_begins_the_search(
    examples: pathlib.Path, trained: pathlib.Path, tmp_path: pathlib.Path
) -> None:
    """Two updates of one player each are played nearer to an equilibrium from it."""
    learn, more = (*LEARN[:2], "--net", "pbs:16x16+policy", *LEARN[4:]), ("-n", 400, "-o", "b.pbs")
    play = ("selfplay", "--game", GAME, "--search", "cfr,iterations=32,warm=0", "--slots", 8)
    assert run(*play, "--seed", 3, *more, cwd=tmp_path).status == 0
    words = ("train", "b.pbs", "--out", "run", *learn, "--uses", 40)
    assert run(*words, cwd=tmp_path).status == 0
    lines = [json.loads(x) for x in (tmp_path / "run/metrics.jsonl").read_text().splitlines()]
    assert lines[-1]["policy_loss"] < lines[0]["policy_loss"] / 2
    cold, warm = (f"search=cfr,iterations=2,depth=2,{key}run" for key in ("", "warm=8,opening=2,"))
    done = run("exploit", GAME, cold, warm, "--json", "--repeats", 16, cwd=tmp_path)
    assert done.status == 0, done.err
    found = {x["policy"]: x for x in json.loads(done.out)["policies"]}
    assert found[warm]["exploitability"] < 0.75 * found[cold]["exploitability"]
    assert (found[warm]["warm"], found[warm]["opening"]) == (8, 2) and "warm" not in found[cold]

    def refused(*words: object, status: int = 1) -> str:
        done = run(*words, cwd=tmp_path)
        assert done.status == status, done.err
        return done.error_line

    assert "no policies for the policy head" in refused("train", examples, "--out", "x", *learn)
    words = ("train", examples, "b.pbs", "--out", "y", *LEARN)  # without a head from both
    assert run(*words, cwd=tmp_path).status == 0
    said = refused("exploit", GAME, f"search=cfr,warm=8,{trained}")
    assert "no policy head for warm=: train a network pbs:16x16+policy" in said
    assert "warm=" in refused("exploit", GAME, "search=flop,warm=8,run", status=2)
    assert "a network with a policy head" in refused(
        "exploit", GAME, "search=cfr,warm=8,random", status=2
    )
    words = ("selfplay", "--game", GAME, "-n", 2, "-o", "c.pbs", "--search", "cfr,warm=3")
    assert "a network with a policy head" in refused(*words, status=2)
    assert run(*words, "--policy", "run", cwd=tmp_path).status == 0


def test_bad_input_is_refused_in_one_line(
    examples: pathlib.Path, trained: pathlib.Path, tmp_path: pathlib.Path
) -> None:
    def refused(*words: object, status: int = 1) -> str:
        done = run(*words, cwd=tmp_path)
        assert done.status == status, done.err
        return done.error_line

    play = ("selfplay", "--game", "kuhn", "-n", 2, "-o", "x")
    said = refused(*play, "--search", "cfr", "--policy", trained)
    assert "a value network for liars_dice:1x2, not for kuhn" in said
    for word in ("mmd", "preset=strong"):
        said = refused(*play, "--search", word, status=2)
        assert f"of public belief states: cfr, cfr-avg, fp, linear-fp, flop: '{word}'" in said
    said = refused(*play, "--search", "cfr,depht=1", status=2)
    assert said.startswith("selfplay: --search: ") and said.endswith(": 'cfr,depht=1'")
    assert "from 0 to 2000" in refused(*play, "--search", "cfr,depth=2001", status=2)
    both = "depth= does not go with states=, which also says how far to look"
    assert both in refused(*play, "--search", "cfr,depth=2,states=9", status=2)
    assert both in refused("exploit", GAME, "search=cfr,states=9,depth=2,random", status=2)
    assert "mode=safe" in refused(*play, "--search", "cfr,mode=average", status=2)
    assert "opening= is for play" in refused(*play, "--search", "cfr,opening=8", status=2)
    assert "--slice is not for --search" in refused(
        *play, "--search", "cfr", "--slice", 3, status=2
    )
    said = refused(*play[:2], GAME, *play[3:], "--policy", trained)
    assert "a policy is needed: search=cfr" in said
    said = refused(
        "match", trained, "random", "--game", GAME, "-n", 2, "-o", "x",
    )  # fmt: skip
    assert "a value network, where a policy is needed: search=cfr" in said
    assert "not for kuhn" in refused("exploit", "kuhn", f"search=cfr,{trained}")
    learn = ("train", examples, "--out", "run", "--algorithm", "rebel")
    assert "pbs, or pbs:WIDTHxWIDTH" in refused(*learn, "--net", "mlp")
    assert "learned by rebel" in refused(
        "train", examples, "--out", trained, "--resume", "--algorithm", "mmd"
    )
    other = tmp_path / "other"
    words = ("train", "-", "--out", other, *LEARN, "--game", "liars_dice:1x3", "--steps", 0)
    assert run(*words, "--publish-every", 2).status == 0
    words = ("--policy", other, "--follow", "--max-ahead", 1, "--search", "cfr")
    said = refused("selfplay", "--game", "liars_dice:1x3", *words, status=2)
    assert "--max-ahead is less than the 64 episodes from one publication to the next" in said
    said = refused(*learn, "--net", "pbs:16x16", "--weights", other)
    assert f"network pbs:16x16 for liars_dice:1x3, for a run with pbs:16x16 for {GAME}" in said
    said = refused("match", f"search=cfr,{other}", "random", "--game", GAME, "-n", 2, "-o", "x")
    assert f"a value network for liars_dice:1x3, not for {GAME}" in said
    for repeats in (0, 10**9):
        said = refused("exploit", GAME, "search=cfr,random", "--repeats", repeats, status=2)
        assert "from 2 to 10000" in said
    assert "has the network pbs:16x16" in refused(
        "train", examples, "--out", trained, "--resume", "--net", "pbs:8x8"
    )
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    "words",
    [
        ("exploit", GAME, "{},random", "--repeats", 2),
        ("match", "{},random", "random", "--game", GAME, "-n", 2, "-o", "x"),
        ("selfplay", "--game", GAME, "--search", "{}", "-n", 2, "-o", "x"),
    ],
)
def test_a_depth_beyond_the_longest_game_is_refused(
    words: tuple[object, ...], tmp_path: pathlib.Path
) -> None:
    """After the highest of four bids nothing is decided."""

    def of_depth(depth: int) -> tuple[str, ...]:
        search = f"cfr,iterations=2,depth={depth}"
        search = search if words[0] == "selfplay" else f"search={search}"
        return tuple(str(word).format(search) for word in words)

    for depth in (5, 50):
        done = run(*of_depth(depth), cwd=tmp_path)
        what = f"depth={depth}: {GAME} ends after 4 decisions at most; depth=0 searches to its end"
        assert (done.status, done.error_line) == (2, f"{words[0]}: {what}")
    assert not (tmp_path / "x").exists()
    done = run(*of_depth(4), cwd=tmp_path)
    assert done.status == 0, done.err


def test_a_damaged_stream_ends_learning_and_loses_nothing(
    examples: pathlib.Path, tmp_path: pathlib.Path
) -> None:
    data = examples.read_bytes()
    (tmp_path / "cut.pbs").write_bytes(data[:-40])
    done = run("train", tmp_path / "cut.pbs", "--out", tmp_path / "cut", *LEARN)
    assert done.status == 3 and "truncated" in done.err
    bad = bytearray(data)
    bad[len(data) * 2 // 3] ^= 1
    (tmp_path / "bad.pbs").write_bytes(bad)
    done = run("train", tmp_path / "bad.pbs", "--out", tmp_path / "bad", *LEARN)
    assert done.status == 1
    saved, error = done.err.splitlines()
    assert "--resume goes on from there" in saved and "bad.pbs: frame" in error
    assert run("train", examples, "--out", tmp_path / "whole", *LEARN).status == 0
    whole = newest(tmp_path / "whole")
    assert len(newest(tmp_path / "bad")["buffer/rows"]) < len(whole["buffer/rows"])
    for name in ("cut", "bad"):  # the file is sent again
        stream = tmp_path / f"{name}.pbs"
        stream.write_bytes(data)
        done = run("train", stream, "--out", tmp_path / name, "--resume")
        assert done.status == 0, done.err
        tensors = newest(tmp_path / name)
        assert all((tensors[part] == whole[part]).all() for part in whole)
    games = tmp_path / "games.eps"
    assert run("selfplay", "--game", GAME, "-n", 3, "-o", games).status == 0
    done = run("train", games, "--out", tmp_path / "games", *LEARN)
    assert done.status == 1 and "stream of examples" in done.error_line
    done = run("train", examples, "--out", tmp_path / "rnad")
    assert done.status == 1 and len(done.err.splitlines()) == 1


def test_a_hand_that_the_public_card_excludes_teaches_nothing(tmp_path: pathlib.Path) -> None:
    """The one card of the public rank is on the table: a belief of a third, and a value for it."""
    good, bad, game = tmp_path / "good.pbs", tmp_path / "bad.pbs", "leduc:3x1"
    words = ("selfplay", "--game", game, "--search", "cfr,iterations=4", "--seed", 1, "-n", 40)
    assert run(*words, "--slots", 16, "-o", good).status == 0
    with good.open("rb") as stream:
        reader = ExampleReader(stream, "good")
        header, found = reader.open(), list(reader)
    rows = np.concatenate([one.rows for one in found])
    values = np.concatenate([one.values for one in found])
    at = int(np.flatnonzero((rows[:, 1:4] == 1).any(1))[0])
    with bad.open("wb") as stream, ExampleWriter(stream, header) as writer:
        rows[at, -6:-3], values[at] = 1 / 3, 0.5
        writer.write(rows, values)
    done = run("train", good, "--out", tmp_path / "good", *LEARN)
    assert done.status == 0, done.err
    done = run("train", bad, "--out", tmp_path / "bad", *LEARN)
    what = "a belief in a hand that the public state excludes"
    assert done.status == 1
    assert done.err.splitlines()[-1] == f"train: {bad}: example {at + 1}: {what}"


def of_commands(folder: pathlib.Path) -> dict[str, str]:
    """An environment whose PATH has the commands, and the tests' own Python."""
    environment = {k: v for k, v in os.environ.items() if k not in ("MAKEFLAGS", "MAKELEVEL")}
    own = pathlib.Path(sys.executable).parent
    return {**environment, "PATH": f"{forked_commands(folder)}:{own}:{environment['PATH']}"}


MAKE = ("make", "-s", "-f", ROOT / "examples/rebel/Makefile", "NET=pbs:8", "K=2")


def test_each_solver_teaches_its_network_and_is_measured(tmp_path: pathlib.Path) -> None:
    """`make solvers.png`; what was measured is not measured again."""
    words = [*MAKE, "ONE=1x2", "STEPS=2", "UPDATES=2 4", "solvers.png"]
    environment = of_commands(tmp_path / "bin")
    subprocess.run(words, cwd=tmp_path, env=environment, check=True)
    rows = [line.split("\t") for line in (tmp_path / "solvers.txt").read_text().splitlines()]
    kinds = [(s, leaves) for s in ("cfr", "cfr-avg", "flop") for leaves in ("exact", "learned")]
    assert [tuple(row[:3]) for row in rows] == [(*kind, t) for kind in kinds for t in "24"]
    for solver in ("cfr", "cfr-avg", "flop"):
        run = tmp_path / f"1x2-{solver}"
        assert read_metadata(run / "checkpoints/step-00000002.safetensors")["game"].endswith("1x2")
    measured = {tuple(row[:3]): float(row[3]) for row in rows}
    assert len({measured[solver, "learned", "4"] for solver in ("cfr", "flop")}) == 2
    kept = tmp_path / "solvers/flop-learned-4-2.json"
    found = json.loads(kept.read_text())
    found["policies"][0]["exploitability"] = 0.75
    kept.write_text(json.dumps(found))
    (tmp_path / "solvers.png").unlink()
    subprocess.run(words, cwd=tmp_path, env=environment, check=True)
    assert (tmp_path / "solvers.txt").read_text().splitlines()[-1].split("\t")[3] == "0.75"
    assert (tmp_path / "solvers.png").read_bytes().startswith(b"\x89PNG")


def test_deep_searches_teach_and_play(tmp_path: pathlib.Path) -> None:
    """`make 1x2-deep.json`: to depth 3, and to the end of so small a game."""
    environment = of_commands(tmp_path / "bin")
    found = {}
    for key in ("depth=2", "states=9", "states=99"):  # by 9 to depth 2, by 99 to the end
        search, path = f"cfr,iterations=4,{key}", tmp_path / f"{key}.pbs"
        words = [*PLAY[:3], "-n", 60, "--slots", 4, "--seed", 3, "--search", search]
        assert run(*words, "-o", path).status == 0
        with open(path, "rb") as stream:
            found[key] = b"".join(values.values.tobytes() for values in ExampleReader(stream, "x"))
    assert found["depth=2"] == found["states=9"] != found["states=99"]
    words = [*MAKE, "LESS=2", "SOME=4", "DEEP=3", "1x2-deep.json"]
    subprocess.run(words, cwd=tmp_path, env=environment, check=True)
    policies = json.loads((tmp_path / "1x2-deep.json").read_text())["policies"]
    assert [(one["step"], one["depth"], one.get("nodes")) for one in policies] == [
        (2, 3, None),
        (2, 0, 5000),
    ]
    words = [*MAKE, "HEAD=2", "SOME=4", "FEW=2 4", "1x2-warm.json"]
    subprocess.run(words, cwd=tmp_path, env=environment, check=True)
    policies = json.loads((tmp_path / "1x2-warm.json").read_text())["policies"]
    found = [(one["iterations"], one.get("warm")) for one in policies]
    assert found == [(2, None), (2, 15), (4, None), (4, 15)]


def test_one_stage_teaches_what_searches_of_all_depths_are_drawn_by(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """`make 1x2-long.json` and `make depths.png`, which judges no search twice."""
    environment = of_commands(tmp_path / "bin")
    more = ("LONG=4", "SOME=4", "GAMES=1x2", "BRIEF=4", "BOTH=2", "DEPTHS=2 4", "MIXED=4")
    make = [*MAKE, *more, "ALL=1 2", "MOST=8"]
    subprocess.run(
        [*make, "PLAY=4", "OPENING=8", "SLOTS=64", "1x2-long.json"],
        cwd=tmp_path,
        env=environment,
        check=True,
    )
    (policy,) = json.loads((tmp_path / "1x2-long.json").read_text())["policies"]
    found = [policy[key] for key in ("step", "iterations", "opening", "depth", "games")]
    assert found == [4, 4, 8, 2, 2]
    subprocess.run([*make, "depths.png"], cwd=tmp_path, env=environment, check=True)
    rows = [line.split("\t") for line in (tmp_path / "depths.txt").read_text().splitlines()]
    by_depth = [(1, 4), (2, 2), (2, 4), (2, 8), (2, 8), (4, 2), (4, 8), (4, 8)]
    assert [(int(row[1]), int(row[2])) for row in rows] == by_depth
    assert [row[3] for row in rows].count("iterate") == 2
    assert float(rows[1][4]) != float(rows[5][4])  # to the end, or not
    kept = tmp_path / "depths/1x2-4-average.json"
    kept.write_text(kept.read_text().replace('"games": 4', '"games": 2'))
    (tmp_path / "depths.png").unlink()
    subprocess.run([*make, "depths.png"], cwd=tmp_path, env=environment, check=True)
    assert "\t4\taverage" not in (tmp_path / "depths.txt").read_text()
    assert (tmp_path / "depths.png").read_bytes().startswith(b"\x89PNG")
    (tmp_path / "no.json").write_text('{"policies": [{}]}')
    monkeypatch.setattr(sys, "argv", ["", "x.png", str(tmp_path / "no.json")])
    with pytest.raises(SystemExit):
        runpy.run_path(str(ROOT / "examples/rebel/depths.py"), run_name="__main__")
    assert "no.json: not of `exploit --json` with searches" in capsys.readouterr().err


def test_a_board_of_stratego_is_learned_and_judged_in_two_levels(tmp_path: pathlib.Path) -> None:
    words = [*MAKE, "NANO=2", "FINE=16", "nano.json"]
    subprocess.run(words, cwd=tmp_path, env=of_commands(tmp_path / "bin"), check=True)
    found = json.loads((tmp_path / "nano.json").read_text())
    assert found["game"] == "moves:nano"
    safe, average, tabular, uniform = found["policies"]
    assert (safe["games"], average["games"], safe["depth"]) == (2, 1, 8)
    assert uniform["exploitability"] == pytest.approx(0.608521, abs=1e-6)
    assert 0 < tabular["exploitability"] < uniform["exploitability"]
    assert len((tmp_path / "nano/metrics.jsonl").read_text().splitlines()) == 2


def test_the_example_makes_its_table_and_goes_on_where_it_was(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    environment = of_commands(tmp_path / "bin")
    make = [*MAKE, "PLAY=4", "FINE=4", "SAVE=2"]
    for steps, evaluated in (2, [2]), (4, [2, 4]):
        words = [*make, "STEPS=2", f"MORE={steps}", "1x2.json"]
        subprocess.run(words, cwd=tmp_path, env=environment, check=True)
        policies = json.loads((tmp_path / "1x2.json").read_text())["policies"]
        assert [one["step"] for one in policies] == [*evaluated, None, None]
        (tmp_path / "1x2.json").unlink()
    assert len((tmp_path / "1x2/metrics.jsonl").read_text().splitlines()) == 2
    taught, _, _ = load_network(tmp_path / "1x2/checkpoints/step-00000002.safetensors", None)
    its, _, _ = load_network(tmp_path / "1x2-fine/checkpoints/step-00000000.safetensors", None)
    assert all(np.array_equal(its[name], taught[name]) for name in taught)
    words = [*make, "RNAD=2", "MLP=mlp:4", "1x2-rnad/checkpoints/step-00000002.safetensors"]
    subprocess.run(words, cwd=tmp_path, env=environment, check=True)
    words = [*make, "LESS=2", "SOME=4", "1x2-deep/checkpoints/step-00000002.safetensors"]
    subprocess.run(words, cwd=tmp_path, env=environment, check=True)
    for run_ in ("1x2-deep", "1x2", "1x2-fine"):
        (tmp_path / f"{run_}.times").write_text("0m0.00s 0m0.00s\n1m58.50s 0m1.50s\n" * 2)

    def drawn(path: str) -> list[list[str]]:
        monkeypatch.chdir(tmp_path)
        monkeypatch.setenv("PATH", path)
        monkeypatch.setattr(sys, "argv", ["", "curve.png", "4", "2", "1x2"])
        runpy.run_path(str(ROOT / "examples/rebel/curve.py"), run_name="__main__")
        return [line.split("\t")[1:] for line in capsys.readouterr().out.splitlines()]

    rows = drawn(environment["PATH"])
    players = [row[0].split(",")[0] for row in rows]
    expected = ["ReBeL"] * 2 + ["then by more updates"] * 2 + ["R-NaD"]
    assert players == expected + ["linear CFR"] * 9 and rows[1][0] == "ReBeL, depth 2"
    assert [row[1] for row in rows[1:4]] == ["4.0000", "8.0000", "6.0000"]  # at 4 steps, and at 2
    assert float(rows[2][2]) == pytest.approx(policies[1]["exploitability"], abs=1e-5)
    assert float(rows[4][2]) > 0.1 and float(rows[-1][2]) < 1e-5
    assert (tmp_path / "curve.png").read_bytes().startswith(b"\x89PNG")
    kept = tmp_path / "1x2-exploited/step-00000002-4-2.json"
    found = json.loads(kept.read_text())
    assert found["policies"][0]["depth"] == 2
    found["policies"][0]["nash_conv_error"] = 0.5
    kept.write_text(json.dumps(found))
    deep = json.loads((tmp_path / "1x2-deep-exploited/step-00000002-4-2.json").read_text())
    assert deep["policies"][0]["depth"] == 4
    again = drawn("")  # nothing is measured twice
    assert again[1] == [*rows[1][:3], "0.25000"] and again[2:4] == rows[2:4]
