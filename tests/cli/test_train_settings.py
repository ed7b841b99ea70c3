"""What `train` is asked for: settings that are given, and their ranges."""

from __future__ import annotations

import contextlib
import math

import pytest

from stratkit.cli.train import request_of
from stratkit.errors import InputError, UsageError
from stratkit.learn.config import ALGORITHMS
from stratkit.learn.request import check_settings, fields_of

NOTHING = {"inputs": (), "run": "run"}


@pytest.mark.parametrize(
    ("options", "what"),
    [
        ({"batch": 0}, "--batch must be at least 1: '0'"),
        ({"b1": 2.0}, "--b1 must be less than 1: '2.0'"),
        ({"eta": -1.0}, "--eta must be at least 0: '-1.0'"),
        ({"eta": math.inf}, "--eta must be less than 1000000.0: 'inf'"),
        ({"lr": math.inf}, "--lr must be less than 1000000.0: 'inf'"),
        ({"lr": math.nan}, "--lr must be more than 0: 'nan'"),
        ({"eps": 0.0}, "--eps must be at least 1e-30: '0.0'"),
        ({"eps": math.inf}, "--eps must be less than 1000000.0: 'inf'"),
        ({"uses": math.inf}, "--uses must be less than 1000000.0: 'inf'"),
        ({"clip": math.nan}, "--clip must be more than 0: 'nan'"),
        ({"quanta": -1}, "--quanta must be at least 0: '-1'"),
        ({"seed": 2**64}, "--seed must be less than 18446744073709551616: '18446744073709551616'"),
        ({"sizes": (7, 0)}, "sizes and repeats must be at least 1"),
        ({"sizes": (7,), "repeats": (1, 2)}, "sizes and repeats must be equally many"),
        ({"lr": 0.1, "lr_floor": 1.0}, "--lr is below --lr-floor, 1: '0.1'"),
        ({"eta": 0.1, "eta_floor": 0.2}, "--eta is below --eta-floor, 0.2: '0.1'"),
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
        ({"lr_floor": 0.002}, "small", "--lr is below --lr-floor, 0.002: '0.0005'"),
        ({"lr_floor": 0.002}, "plain", ""),
        ({"sizes": (7, 8)}, "plain", "sizes and repeats must be equally many"),
    ],
)
def test_what_a_preset_completes_is_checked_with_the_preset(
    options: dict[str, object], net: str, wrong: str
) -> None:
    """Without a network the game chooses one, and is not known yet."""
    request_of({**NOTHING, **options}, {}).check()
    request = request_of({**NOTHING, **options, "net": net}, {})
    with pytest.raises(UsageError, match=wrong) if wrong else contextlib.nullcontext():
        request.check()


def test_options_and_file_are_checked_together() -> None:
    for options, settings in (({"lr": 0.1}, {"lr_floor": 1}), ({"lr_floor": 1.0}, {"lr": 0.1})):
        with pytest.raises(UsageError, match="--lr is below --lr-floor, 1: '0.1'"):
            request_of({**NOTHING, **options}, settings).check()


CLIPS = {"rho", "c", "policy_c", "beta", "clip", "ratio_clip", "grad_norm"}


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_only_a_clip_may_be_infinite(algorithm: str) -> None:
    """Of all others nothing would be learned, or weights would be useless after a step."""
    for name, field in fields_of(algorithm).items():
        if type(field.default) is float and name not in CLIPS:
            with pytest.raises(InputError, match=f"--{name.replace('_', '-')} "):
                check_settings({name: math.inf}, algorithm)


def test_settings_that_are_not_given_say_nothing() -> None:
    options = {**NOTHING, "lr": None, "batch": 3, "sizes": (7, 8), "steps": 5}
    request = request_of(options, {"lr": 1})
    assert request.options == {"batch": 3, "sizes": (7, 8)} and request.settings == {"lr": 1}
    assert request.inputs == ("-",) and request.steps == 5
