"""What `train` is asked for: settings that are given, and their ranges."""

from __future__ import annotations

import contextlib
import math

import pytest

from stratkit.cli.train import request_of
from stratkit.errors import InputError, UsageError
from stratkit.learn.algorithm_kinds import ALGORITHMS
from stratkit.learn.request import accepted, fields_of

NOTHING = {"inputs": (), "run": "run"}


@pytest.mark.parametrize(
    ("options", "what"),
    [
        ({"batch": "0"}, "--batch must be a whole number from 1 to 2147483647: '0'"),
        ({"b1": "2"}, "--b1 must be a number from 0, below 1: '2'"),
        ({"eta": "-1"}, "--eta must be a number from 0, below 1000000: '-1'"),
        ({"eta": "inf"}, "--eta must be a number from 0, below 1000000: 'inf'"),
        ({"lr": "inf"}, "--lr must be a number above 0, below 1000000: 'inf'"),
        ({"lr": "nan"}, "--lr must be a number above 0, below 1000000: 'nan'"),
        ({"eps": "0"}, "--eps must be a number from 1e-30, below 1000000: '0'"),
        ({"eps": "inf"}, "--eps must be a number from 1e-30, below 1000000: 'inf'"),
        ({"uses": "1e6"}, "--uses is no setting of the algorithm rnad"),
        ({"clip": "nan"}, "--clip must be a number above 0: 'nan'"),
        ({"quanta": "-1"}, "--quanta must be a whole number from 0 to 10000: '-1'"),
        ({"seed": str(2**64)}, f"--seed must be a whole number from 0 to {2**64 - 1}: '{2**64}'"),
        ({"sizes": "7,0"}, "--sizes must be whole numbers of at least 1, as in 100,200: '7,0'"),
        ({"sizes": "7", "repeats": "1,2"}, "sizes and repeats must be equally many"),
        ({"lr": ".1", "lr_floor": "1"}, "--lr is below --lr-floor, 1: '0.1'"),
        (
            {"algorithm": "mmd", "eta": ".1", "eta_floor": ".2"},
            "--eta is below --eta-floor, 0.2: '0.1'",
        ),
    ],
)
def test_a_setting_out_of_its_range_is_a_wrong_command_line(
    options: dict[str, object], what: str
) -> None:
    with pytest.raises(UsageError) as caught:
        request_of({**dict.fromkeys(["lr", "c"]), **NOTHING, **options}, {})
    assert str(caught.value) == what


@pytest.mark.parametrize(
    ("options", "net", "wrong"),
    [
        ({"lr_floor": ".002"}, "small", "--lr is below --lr-floor, 0.002: '0.0005'"),
        ({"lr_floor": ".002"}, "plain", ""),
        ({"sizes": "7,8"}, "plain", "sizes and repeats must be equally many"),
    ],
)
def test_what_a_preset_completes_is_checked_with_the_preset(
    options: dict[str, object], net: str, wrong: str
) -> None:
    """Without a network the game chooses one, and is not known yet."""
    request_of({**NOTHING, **options}, {})
    with pytest.raises(UsageError, match=wrong) if wrong else contextlib.nullcontext():
        request_of({**NOTHING, **options, "net": net}, {})


def test_options_and_file_are_checked_together() -> None:
    for options, settings in (({"lr": ".1"}, {"lr_floor": 1.0}), ({"lr_floor": "1"}, {"lr": 0.1})):
        with pytest.raises(UsageError, match="--lr is below --lr-floor, 1: '0.1'"):
            request_of({**NOTHING, **options}, settings)


CLIPS = {"rho", "c", "policy_c", "beta", "clip", "ratio_clip", "grad_norm", "grad_value"}


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_only_a_clip_may_be_infinite(algorithm: str) -> None:
    """Of all others nothing would be learned, or weights would be useless after a step."""
    for name, field in fields_of(algorithm).items():
        if type(field.default) is float and name not in CLIPS:
            with pytest.raises(InputError, match=f"--{name.replace('_', '-')} "):
                accepted({name: math.inf}, algorithm)


def test_settings_that_are_not_given_say_nothing() -> None:
    options = {**NOTHING, "lr": None, "batch": "3", "sizes": "7,8", "steps": 5}
    request = request_of(options, {"lr": 1})
    assert request.options == {"batch": 3, "sizes": (7, 8)} and request.settings == {"lr": 1}
    assert request.inputs == ("-",) and request.steps == 5


def test_what_a_resumed_run_has_stored_counts() -> None:
    """Its algorithm, where nobody names one; and both settings of a rule, if one is given."""
    before = {"algorithm": "alphaze", "config": {"actors": "search=mmd", "true_sight": 5}}
    resuming = {**NOTHING, "resume": True}
    request = request_of({**resuming, "actors": "search=pimc"}, {}, before)
    assert request.options == {"actors": "search=pimc"} and request.algorithm is None
    with pytest.raises(UsageError, match="--true-sight needs search=pimc.pc-pimc in --actors"):
        request_of({**resuming, "true_sight": "7"}, {}, before)
    with pytest.raises(UsageError, match="--actors must be one of raw, processed"):
        request_of({**resuming, "actors": "search=pimc"}, {}, {"algorithm": "rnad"})
