"""Settings: presets, files, options, and what is refused."""

from __future__ import annotations

import math
import pathlib
import re
from dataclasses import fields

import pytest

from stratkit.declared import declared
from stratkit.errors import InputError
from stratkit.learn.algorithm_kinds import ALGORITHMS
from stratkit.learn.config import (
    AlphaZeConfig,
    BeliefConfig,
    MMDConfig,
    NashPGConfig,
    ReBeLConfig,
    RNaDConfig,
    RunConfig,
)
from stratkit.learn.presets import PRESETS
from stratkit.learn.request import (
    Settings,
    accepted,
    all_fields,
    fields_of,
    help_of,
    read_file,
    resolve,
    words_of,
)


def test_a_gpu_computes_in_bfloat16_and_fills_its_memory_unless_told_otherwise() -> None:
    on_gpu = {"algorithm": "mmd", "device": "cuda"}
    assert resolve("small", {}, {}, {}, **on_gpu).run.chunk == 0
    assert resolve("small", {}, {}, {"chunk": 9}, **on_gpu).run.chunk == 9
    assert resolve("plain", {}, {}, {}, **on_gpu).run.precision == "bf16"
    assert resolve("plain", {}, {}, {"precision": "f32"}, **on_gpu).run.precision == "f32"
    stored = resolve("plain", {}, {}, {}, "mmd").to_json()
    assert stored["precision"] == resolve("plain", stored, {}, {}, **on_gpu).run.precision == "f32"


def rnad(settings: Settings) -> RNaDConfig:
    assert isinstance(settings.hyper, RNaDConfig) and settings.algorithm == "rnad"
    return settings.hyper


def test_later_sources_win() -> None:
    stored, file, options = {"lr": 1.0, "eta": 1, "c": 1}, {"eta": 2, "c": 2}, {"c": 3}
    config = rnad(resolve("tiny", stored, file, options))
    assert (config.lr, config.eta, config.c) == (1.0, 2.0, 3.0)
    assert config.policy_c == 1 != PRESETS["tiny"]["policy_c"]  # an older run's, which had none
    settings = resolve("tiny", {}, file, options)
    config = rnad(settings)
    assert (config.lr, config.eta, config.c) == (PRESETS["tiny"]["lr"], 2.0, 3.0)
    assert settings.run.batch == PRESETS["tiny"]["batch"] and config.beta == RNaDConfig().beta
    assert resolve("paper", {}, {}, {"seed": 0}) == Settings("rnad", RunConfig(), RNaDConfig())


def test_settings_of_run_and_algorithm_have_different_names() -> None:
    kinds = RunConfig, RNaDConfig, MMDConfig, BeliefConfig, ReBeLConfig, AlphaZeConfig, NashPGConfig
    run, rnad, mmd, *others = ({one.name for one in fields(kind)} for kind in kinds)
    every = rnad.union(mmd, *others)
    assert not run & every and set(all_fields()) == run | every
    assert set(fields_of("rnad")) == run | rnad and set(fields_of("mmd")) == run | mmd
    assert set(fields_of("rebel")) == run | {one.name for one in fields(ReBeLConfig)}


@pytest.mark.parametrize("algorithm", ["belief", "rebel"])
def test_settings_that_do_nothing_are_refused(algorithm: str) -> None:
    with pytest.raises(InputError, match="--weight-by is no setting of"):
        resolve("", {}, {}, {"weight_by": "game"}, algorithm)
    stored = {**resolve("", {}, {}, {}, algorithm).to_json(), "lr": 0.5}
    assert resolve("", stored, {}, {}, algorithm, "cuda").hyper.lr == 0.5


def test_a_name_is_one_option_whatever_the_algorithm() -> None:
    both = fields_of("rnad").keys() & fields_of("mmd").keys()
    for name in both:
        one, other = (fields_of(algorithm)[name] for algorithm in ("rnad", "mmd"))
        assert type(one.default) is type(other.default)
        assert declared(one).kind.words == declared(other).kind.words


def test_what_is_stored_comes_back() -> None:
    config = resolve("small", {}, {}, {"sizes": (5, 6), "repeats": (1, 2)})
    stored = config.to_json()
    assert stored["rho"] == "inf" and rnad(config).rho == math.inf
    assert resolve("small", accepted(stored, "rnad"), {}, {}) == config


def test_without_a_seed_the_system_draws_one() -> None:
    assert resolve("tiny", {}, {}, {}).run.seed != resolve("tiny", {}, {}, {}).run.seed
    assert resolve("tiny", {"seed": 3}, {}, {}).run.seed == 3


def test_files(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "x.toml"

    def refusal(text: str) -> str:
        path.write_text(text)
        with pytest.raises(InputError) as caught:
            read_file(str(path))
        return str(caught.value).removeprefix(f"{path}: ")

    path.write_text('net = "small"\ntarget-rate = 0.5\nsizes = [1, 2]\nrepeats = [3, 4]\nrho = inf')
    assert read_file(str(path)) == {
        "net": "small",
        "target_rate": 0.5,
        "sizes": (1, 2),
        "repeats": (3, 4),
        "rho": math.inf,
    }
    path.write_text("sizes = 7")
    assert rnad(resolve("tiny", {}, read_file(str(path)), {})).sizes == (7,)
    batch = "--batch must be a whole number from 1 to 2147483647"
    assert refusal("beta_ = 2") == "unknown setting 'beta_' (did you mean 'beta'?)"
    assert refusal("algorithm = 'rmad'") == "unknown algorithm 'rmad' (did you mean 'rnad'?)"
    assert (
        refusal("algorithm = [1]")
        == "unknown algorithm '[1]': choose one of rnad, mmd, ppo, nashpg, alphaze, belief, rebel"
    )
    sizes = "--sizes must be whole numbers of at least 1, as in 100,200"
    assert refusal("sizes = 'x'") == f"{sizes}: 'x'"
    assert refusal("lr = 'x'") == "--lr must be a number above 0, below 1000000: 'x'"
    assert refusal("batch = 1.5") == f"{batch}: '1.5'"
    assert refusal("batch = true") == f"{batch}: 'True'"
    assert refusal("sizes = [1, 'x']") == f"{sizes}: \"[1, 'x']\""
    assert refusal("net = 3").startswith(
        "unknown network '3': choose one of plain, fromto, rise, alphaze, graph, tiny"
    )
    assert refusal("lr = 1" + 400 * "0").startswith(
        "--lr must be a number above 0, below 1000000: '1000"
    )
    assert refusal("lr = 1" + 5000 * "0").startswith("not TOML: ")
    assert refusal("#" * 100_000) == "over 65536 bytes"
    assert refusal(f"batch = {2**31}") == f"{batch}: '2147483648'"
    assert refusal("lr = " + 5000 * "[").startswith("not TOML: ")
    assert refusal("batch = ").startswith("not TOML: ")
    assert refusal("batch = 0") == f"{batch}: '0'"
    assert refusal("lr = nan") == "--lr must be a number above 0, below 1000000: 'nan'"
    assert refusal("b1 = 1") == "--b1 must be a number from 0, below 1: '1'"
    assert (
        refusal("target_rate = 1.5") == "--target-rate must be a number above 0, at most 1: '1.5'"
    )
    wrong = "sizes and repeats must be equally many"
    path.write_text("sizes = [1, 2]")
    with pytest.raises(InputError, match=wrong):
        resolve("tiny", {}, read_file(str(path)), {})
    path.write_bytes(b"\xff")
    with pytest.raises(InputError, match="not TOML"):
        read_file(str(path))


def test_help_tells_the_defaults() -> None:
    said = "pad the different states of a step to a multiple of this (default: 128)"
    assert help_of("rows") == said
    assert help_of("weight_by").endswith("(rnad, mmd, ppo, nashpg, alphaze: step)")
    assert help_of("batch").startswith("episodes a step, or examples (rebel) (default: 768; ")
    assert "default" not in help_of("seed")
    assert "unit of returns (default: 0.05; plain 0.1" in help_of("eta")
    assert "(mmd: uniform; graph+shares copy:1000; nashpg: copy:40)" in help_of("magnet")
    assert "; mmd: 0; graph 0.25, graph+shares 0, mlp 1)" in help_of("lr_power")
    assert help_of("rho").endswith("(rnad, mmd: inf)")
    assert help_of("value_weight").endswith(
        "(mmd: 1; graph 0.5, graph+shares 0.5; ppo, nashpg: 0.5; alphaze: 1)"
    )
    assert help_of("eta_floor").endswith("(mmd: 0; plain 0.01, tiny 0.01)")
    assert help_of("halve").endswith("(rebel: none)")
    assert help_of("actors").startswith("rnad: self-play plays the raw or the processed policy (")
    assert "; alphaze: self-play searches by these keys of a PLAYER (" in help_of("actors")
    assert words_of("actors", ("rnad",)) and not words_of("actors", ("rnad", "alphaze"))
    for name in all_fields():  # each algorithm that has a setting is named, or all of them have it
        having = {one for one in ALGORITHMS if name in fields_of(one)}
        assert having == set(ALGORITHMS) or having <= set(re.findall(r"\w+", help_of(name)))
    assert help_of("eta", ("rnad",)).endswith("(default: 0.2; plain 0.1, tiny 0.1)")
