"""The command selfplay, through real files and pipes."""

from __future__ import annotations

import hashlib
import io
import itertools
import os
import pathlib
import shutil
import signal
import subprocess
import time

import numpy as np
import pytest

from running import PATIENCE, command_line, forked_line, run
from stratkit.engine import Game, replay_many
from stratkit.errors import InputError
from stratkit.nets import build
from stratkit.play.follower import Follower
from stratkit.play.options import SelfplayOptions
from stratkit.storage.checkpoints import publish_policy
from stratkit.storage.episodes import Episode, EpisodeReader


def read(data: bytes) -> tuple[EpisodeReader, list[Episode]]:
    reader = EpisodeReader(io.BytesIO(data), "test")
    return reader, list(reader)


def test_episodes_replay_to_what_they_say() -> None:
    done = run("selfplay", "--game", "mini", "-n", 60, "--seed", 1)
    assert (done.status, done.err) == (0, "")
    reader, episodes = read(done.data)
    assert reader.truncated is None
    assert [episode.number for episode in episodes] == list(range(60))
    out = replay_many(Game("mini"), [(b"", e.actions) for e in episodes])
    np.testing.assert_array_equal(out.returns, [e.returns for e in episodes])
    assert out.endings.tolist() == [e.ending for e in episodes]
    mu = np.concatenate([e.mu for e in episodes])
    np.testing.assert_array_equal(mu, (1 / out.legal.sum(1)).astype(np.float32))


def test_same_bytes_for_any_number_of_threads() -> None:
    one, two = (
        run("selfplay", "--game", "mini", "-n", 200, "--seed", 1, "-o", "-", "--threads", threads)
        for threads in (1, 2)
    )
    assert hashlib.sha256(one.data).digest() == hashlib.sha256(two.data).digest()


def test_parts_are_the_whole() -> None:
    arguments = ("--game", "mini", "-n", 31, "--seed", 4)
    _, whole = read(run("selfplay", *arguments).data)
    parts = [run("selfplay", *arguments, "--part", f"{i}/3").data for i in (1, 2, 3)]
    _, together = read(b"".join(parts))
    assert [e.number for e in together] == list(range(31))
    for a, b in zip(whole, together, strict=True):
        assert np.array_equal(a.actions, b.actions)
    later = run("selfplay", "--game", "mini", "-n", 5, "--seed", 4, "--first-game", 26).data
    assert np.array_equal(read(later)[1][-1].actions, whole[-1].actions)


def test_parts_without_end_share_no_game() -> None:
    """Nor a number, nor the origin by which a learner tells writers apart."""
    given = {"game": "kuhn", "policy": "run", "follow": True, "seed": 1, "open": None}
    most = 10**9
    for first, parts in ((7, [(1, 2), (2, 2)]), (2**62, [(1, most), (2, most), (most, most)])):
        begun = [
            SelfplayOptions(**given, device="cpu", first_game=first, part=part).range
            for part in parts
        ]
        firsts = [number for number, _ in begun]
        assert firsts[0] == first and {count for _, count in begun} == {None}
        assert all(b - a >= 2**32 for a, b in itertools.pairwise([*firsts, 2**63]))
    whole = SelfplayOptions(**given, device="cpu", first_game=7, games=9, part=(2, 2))
    assert whole.range == (11, 5)


def test_given_setups_begin_the_games(tmp_path: pathlib.Path) -> None:
    made = run("deploy-gen", "--game", "mini", "-n", 4, "--seed", 2)
    done = run("selfplay", "--game", "mini", "-n", 3, "--setups", "-", stdin=made.data)
    _, episodes = read(done.data)
    assert np.array_equal(episodes[0].actions[:16], episodes[2].actions[:16])
    assert not np.array_equal(episodes[0].actions[:16], episodes[1].actions[:16])
    assert np.isnan(episodes[0].mu[:16]).all() and not np.isnan(episodes[0].mu[16:]).any()
    record = run("match", "random", "heuristic", "-n", 2, "--game", "mini", "-o", "-", "--setups",
                 "-", stdin=made.data)  # fmt: skip
    assert [line.split(b'"setups":')[1][:32] for line in record.data.splitlines()[1:]] == [
        b'["' + b'","'.join(made.data.splitlines()[:2]) + b'"],'
    ] * 2


def test_shards_appear_whole(tmp_path: pathlib.Path) -> None:
    done = run("selfplay", "--game", "mini", "-n", 10, "--seed", 3, "--shard", 4, "-o", tmp_path)
    assert (done.status, done.data) == (0, b"")
    names = sorted(os.listdir(tmp_path))
    assert [name.rsplit("_", 1)[0] for name in names] == [
        "seed-3_games-0000000000-0000000003",
        "seed-3_games-0000000004-0000000007",
        "seed-3_games-0000000008-0000000009",
    ]
    _, episodes = read(b"".join((tmp_path / name).read_bytes() for name in names))
    assert [e.number for e in episodes] == list(range(10))


def test_long_games_are_cut() -> None:
    reader, episodes = read(
        run("selfplay", "--game", "mini", "-n", 20, "--seed", 1, "--max-actions", 30).data
    )
    assert max(len(e.actions) for e in episodes) == 30
    cut = [e for e in episodes if reader.header.endings[e.ending] == "cut"]
    assert cut and all(len(e.actions) == 30 and not e.returns.any() for e in cut)


def test_games_end_by_the_no_attack_limit_that_was_asked_for() -> None:
    words = ("--game", "mini", "-n", 20, "--seed", 1, "--max-no-attack", 6)
    reader, episodes = read(run("selfplay", *words).data)
    assert reader.header.rules["max_quiet"] == 6
    drawn = [e for e in episodes if reader.header.endings[e.ending] == "max_quiet"]
    assert len(drawn) > 5 and min(len(e.actions) for e in drawn) >= 16 + 2 * 6
    out = replay_many(Game("mini", {"max_quiet": 6}), [(b"", e.actions) for e in drawn])
    assert out.endings.tolist() == [e.ending for e in drawn]


@pytest.mark.parametrize(
    ("arguments", "status", "what"),
    [
        (("--game", "mimi", "-n", 1), 2, "did you mean 'mini'"),
        (("--game", "mini"), 2, "how many games"),
        (("--game", "mini", "-n", -1), 2, "-1"),
        (("--game", "mini", "-n", 1, "--part", "3/2"), 2, "must be I/N with I from 1 to N: '3/2'"),
        (("--game", "mini", "--follow"), 2, "RUN"),
        (("--game", "mini", "-n", 1, "--first-game", 2**62 + 1), 2, "--first-game must be"),
        (("--game", "mini", "-n", 1, "--max-ahead", 3), 2, "--follow"),
        (("--game", "mini", "-n", 1, "--policy", "randm"), 1, "did you mean 'random'"),
        (("--game", "mini", "-n", 1, "--policy", "human"), 2, "people are no policy"),
        (("--game", "mini", "-n", 1, "--policy", "py:a:B"), 2, "classes of your own are no policy"),
        (("--game", "barrage", "-n", 1, "--policy", "preset=fast,barrage-easy"), 2, "--actors"),
        (("--game", "barrage", "--policy", "barrage-easy", "--follow"), 2, "./barrage-easy"),
        (("--game", "mini", "-n", 1, "--setups", "none.setups"), 1, "none.setups: No such file"),
        (("--game", "mini", "-n", 1, "-o", "nowhere/x.eps"), 1, "nowhere/x.eps: No such file"),
        (("--game", "mini", "-n", 1, "-o", "/dev/full"), 1, "/dev/full: No space left"),
        (("--game", "mini", "-n", 1, "--sed", 3), 2, "did you mean '--seed'"),
        (("--game", "kuhn", "-n", 1, "--max-no-attack", 5), 1, "no rules to set"),
        (("--game", "mini", "-n", 1, "--seed", 2**64), 2, "18446744073709551616"),
    ],
)
def test_one_line_says_what_is_wrong(
    arguments: tuple[object, ...], status: int, what: str, tmp_path: pathlib.Path
) -> None:
    done = run("selfplay", *arguments, cwd=tmp_path)
    assert done.status == status
    assert done.error_line.startswith("selfplay: ") and what in done.error_line
    assert done.data == b"" and not os.listdir(tmp_path)


@pytest.mark.parametrize(
    ("lines", "what"),
    [
        (b"AAAA\n", "line 1: "),
        (b"AKBAADACLMDE\nLAMDAAKADCEE\n", "line 2: "),
        (b"AKBAADACLMDE\nLAMDAAKADC\x1bB\n", "line 2: "),
        (b"AKBAADACLMDE\n", "every game needs two setups"),
        (b"", "every game needs two setups"),
    ],
)
def test_wrong_setups_are_refused(lines: bytes, what: str, tmp_path: pathlib.Path) -> None:
    (tmp_path / "x.setups").write_bytes(lines)
    done = run("selfplay", "--game", "mini", "-n", 1, "--setups", tmp_path / "x.setups")
    assert (done.status, done.data[:0]) == (1, b"")
    assert f"x.setups: {what}" in done.error_line and "\x1b" not in done.err


def test_a_full_disk_leaves_no_file(tmp_path: pathlib.Path) -> None:
    done = run("selfplay", "--game", "mini", "-n", 3000, "-o", tmp_path / "x.eps",
               largest_file=20_000)  # fmt: skip
    assert done.status == 1 and "x.eps: File too large" in done.error_line
    assert not os.listdir(tmp_path)


def test_the_reader_went_away() -> None:
    with subprocess.Popen(
        command_line("selfplay", "--game", "classic", "-n", 100_000),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        assert process.stdout and process.stderr
        process.stdout.read(10)
        process.stdout.close()
        assert process.wait(PATIENCE) == -signal.SIGPIPE
        assert process.stderr.read() == b""


@pytest.mark.parametrize(
    ("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)]
)
def test_signals_leave_no_file(number: int, status: int, tmp_path: pathlib.Path) -> None:
    with subprocess.Popen(
        command_line("selfplay", "--game", "classic", "-n", 10**6, "-o", tmp_path / "x.eps"),
        stderr=subprocess.PIPE,
    ) as process:
        while not os.listdir(tmp_path):
            time.sleep(0.02)
        time.sleep(0.2)
        process.send_signal(number)
        try:
            _, err = process.communicate(timeout=PATIENCE)
        finally:
            process.kill()  # one that ignores the signal would be waited for without end
    assert (process.returncode, len(err.splitlines())) == (status, 1), err
    assert not os.listdir(tmp_path)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_signals_keep_the_games_that_have_ended(number: int, tmp_path: pathlib.Path) -> None:
    words = ("--game", "nano", "-n", 10**7, "--shard", 10**6, "--slots", 4, "-o", tmp_path)
    with subprocess.Popen(command_line("selfplay", *words), stderr=subprocess.PIPE) as process:
        assert process.stderr
        used = pathlib.Path(f"/proc/{process.pid}/stat")
        while sum(map(int, used.read_text().split()[13:15])) < 250:  # hundredths of a second
            time.sleep(0.02)
        process.send_signal(number)
        assert process.wait(PATIENCE) == 128 + number
    (name,) = os.listdir(tmp_path)
    _, episodes = read((tmp_path / name).read_bytes())
    assert [e.number for e in episodes] == list(range(len(episodes))) and len(episodes) > 10


def publish(folder: pathlib.Path, net: str, said: str | None = None, batch: int = 4) -> None:
    """What a learner of nano publishes, with the network `net`, whatever it is said to be."""
    game = Game("nano")
    metadata = {"game": "nano", "rules": game.rules, "step": 1, "episodes": 0, "batch": batch}
    weights = build(net, game, seed=1).state_dict()
    arrays = {name: tensor.numpy() for name, tensor in weights.items()}
    folder.mkdir(exist_ok=True)
    publish_policy(folder, arrays, {**metadata, "net": said or net})


def test_another_network_in_the_place_of_the_one_that_is_followed(tmp_path: pathlib.Path) -> None:
    misfit = f"{tmp_path}: its tensors are not this network's: 'plain'"
    follower = Follower(str(tmp_path), Game("nano"))
    publish(tmp_path, "tiny", "plain")
    assert follower.refresh()
    with pytest.raises(InputError, match=misfit):
        follower.make_player(seed=1, rows=4)
    publish(tmp_path, "plain")
    assert follower.refresh()
    follower.make_player(seed=1, rows=4)
    publish(tmp_path, "tiny")
    with pytest.raises(InputError, match=f"{tmp_path}: the learner had the network plain before, "):
        follower.refresh()
    publish(tmp_path, "tiny", "plain")
    with pytest.raises(InputError, match=misfit):
        follower.refresh()


def test_a_learner_that_had_got_further_goes_on_from_its_checkpoint(tmp_path: pathlib.Path) -> None:
    """As after a crash: what it published last is newer than what it goes on from."""
    following = ("--policy", tmp_path / "run", "--follow", "--max-ahead", 8, "--seed", 1, "-q")
    learning = ("-", "--out", tmp_path / "run", "--batch", 4, "--net", "mlp:8", "--seed", 1)
    options = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    for rest in (("--steps", 6, "--save-every", 3), ("--steps", 5, "--resume")):
        with (
            subprocess.Popen(
                forked_line("selfplay", "--game", "kuhn", *following), **options
            ) as first,
            subprocess.Popen(forked_line("train", *learning, *rest), stdin=first.stdout) as second,
        ):
            assert first.stdout
            first.stdout.close()
            try:
                assert second.wait(timeout=PATIENCE) == 0 == first.wait(timeout=PATIENCE)
            finally:
                second.kill()
                first.kill()
        (tmp_path / "run/checkpoints/step-00000006.safetensors").unlink(missing_ok=True)
    assert (tmp_path / "run/checkpoints/step-00000005.safetensors").exists()


def test_too_few_ahead_for_a_batch(tmp_path: pathlib.Path) -> None:
    publish(tmp_path, "plain", batch=4)
    following = ("--policy", tmp_path, "--follow", "--max-ahead", 3, "--seed", 1)
    process = run("selfplay", "--game", "nano", *following)
    said = (
        "selfplay: --max-ahead is less than the 4 episodes from one publication to the next: '3'\n"
    )
    assert (process.status, process.err) == (2, said)


def test_no_more_games_at_a_time_than_may_be_ahead(tmp_path: pathlib.Path) -> None:
    """Which is told where more were asked for; by default they are a quarter of it."""
    publish(tmp_path, "plain", batch=1)
    following = ("--game", "nano", "--policy", tmp_path, "--follow", "--max-ahead", 8, "-n", 4)
    told = run("selfplay", *following, "--seed", 1, "--slots", 9, "-v")
    said = "selfplay: plays 8 games at a time, not 9: --max-ahead allows no more"
    assert told.status == 0
    assert said in told.err.splitlines()
    silent = run("selfplay", *following, "--seed", 1)
    assert (silent.status, silent.err) == (0, "")
    two = run("selfplay", *following, "--seed", 1, "--slots", 2)
    assert two.data == silent.data  # also the rounding, which depends on the slots


def test_a_learner_whose_run_is_deleted(tmp_path: pathlib.Path) -> None:
    learner, shards = tmp_path / "run", tmp_path / "shards"
    publish(learner, "plain", batch=1)
    shards.mkdir()
    arguments = ("--game", "nano", "--policy", learner, "--follow", "--max-ahead", 1, "--shard", 1)
    with subprocess.Popen(
        forked_line("selfplay", *arguments, "-o", shards), stderr=subprocess.PIPE, text=True
    ) as process:
        while not os.listdir(shards):  # then no more may be ahead
            assert process.poll() is None
            time.sleep(0.02)
        shutil.rmtree(learner)
        _, err = process.communicate(timeout=PATIENCE)
    assert (process.returncode, err) == (
        1,
        f"selfplay: {learner}: the learner's weights are gone\n",
    )
    assert len(os.listdir(shards)) == 1


@pytest.mark.parametrize("named", [False, True])
@pytest.mark.parametrize("published", [False, True])
def test_a_follower_notices_while_it_waits_that_nobody_reads(
    tmp_path: pathlib.Path, published: bool, named: bool
) -> None:
    """It writes nothing then: no more may be ahead, or the learner never began."""
    learner, pipe = tmp_path / "run", tmp_path / "pipe"
    if published:
        publish(learner, "plain", batch=1)
    arguments = ["--game", "nano", "--policy", learner, "--follow", "--max-ahead", 1, "--seed", 1]
    if named:
        os.mkfifo(pipe)
        arguments += ["-o", pipe]
    with subprocess.Popen(
        forked_line("selfplay", *arguments), stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout
        with pipe.open("rb") if named else process.stdout as stream:
            reader = EpisodeReader(stream, "test")
            reader.open()
            if published:
                next(iter(reader))
        assert process.wait(timeout=PATIENCE) == 0
