"""Kinds of values: what they read, accept and refuse, whoever asks; rules between settings."""

from __future__ import annotations

import argparse
import dataclasses
import math
from dataclasses import dataclass

import pytest

from stratkit.declared import (
    Kind,
    Rule,
    check_rules,
    declared,
    number,
    one_of,
    option,
    options_text,
    read_options,
    same,
    seconds,
    switch,
    text,
    whole,
    wholes,
    word_or_file,
)
from stratkit.errors import InputError
from stratkit.script import argument


@pytest.mark.parametrize(
    ("kind", "needed"),
    [
        (number(), "a number"),
        (number(0, 1), "a number from 0 to 1"),
        (number(0.01, 100), "a number from .01 to 100"),
        (number(0), "a number of at least 0"),
        (number(0, below=1), "a number from 0, below 1"),
        (number(above=0, most=1), "a number above 0, at most 1"),
        (number(0, 2, none="off"), "off, or a number from 0 to 2"),
        (seconds(60), "a number of seconds above 0, at most 60"),
        (whole(1), "a whole number from 1 to 2147483647"),
        (whole(0, None), "a whole number of at least 0"),
        (whole(2, 8, even=True), "an even number from 2 to 8"),
        (wholes(1), "whole numbers of at least 1, as in 100,200"),
        (one_of("a", "b"), "one of a, b"),
    ],
)
def test_what_is_needed(kind: Kind, needed: str) -> None:
    assert kind.needed == needed


@pytest.mark.parametrize(
    ("kind", "words", "value"),
    [
        (number(0, below=1), ".5", 0.5),
        (number(above=0), "inf", math.inf),
        (number(0, 2, none="off"), "off", None),
        (whole(-2, 9), "-2", -2),
        (whole(0, 2**64 - 1), str(2**64 - 1), 2**64 - 1),
        (wholes(1), "7,8", (7, 8)),
        (wholes(1), "7", (7,)),
        (switch(), "off", False),
        (word_or_file("all"), "./all", "./all"),
        (text("FILE"), "", ""),
    ],
)
def test_a_text_says_a_value_that_is_accepted_again(kind: Kind, words: str, value: object) -> None:
    read = kind.read(words)
    assert read == value and type(read) is type(value) and kind.accept(value) == value


@pytest.mark.parametrize(
    ("kind", "texts", "values"),
    [
        (number(0, 1), ("1.1", "-.1", "nan", "1_0", "٣", ""), (2, -1.0, math.nan, True, "1", None)),
        (number(above=0, below=9), ("0", "9", "inf"), (0, 9.0, 2**63)),
        (whole(1, 9), ("0", "10", "1.0", "+3", "1_0", "³", "", 30 * "1"), (0, 1.0, True, "3")),
        (whole(2, 9, even=True), ("3",), (5,)),
        (wholes(1), ("1,0", "1,,2", "", "a"), ([0], [1, "2"], [True], "12")),
        (one_of("a", "b"), ("c", "A"), (1, None, ["a"])),
        (switch(), ("yes",), ("on", 1)),
        (word_or_file("all"), ("al",), (1,)),
        (text("FILE"), (), (1, None)),
    ],
)
def test_all_else_is_refused(
    kind: Kind, texts: tuple[str, ...], values: tuple[object, ...]
) -> None:
    for words in texts:
        with pytest.raises(ValueError):
            kind.read(words)
    for value in values:
        with pytest.raises(ValueError):
            kind.accept(value)


def test_json_has_no_infinity_and_toml_writes_whole_numbers() -> None:
    assert number(above=0).accept("inf") == math.inf
    assert type(number(0).accept(3)) is float
    assert wholes(0).accept([1, 2]) == (1, 2) and wholes(0).accept(3) == (3,)


@dataclass(frozen=True)
class Sample:
    """Some settings."""

    big_number: int = option(1, whole(0, 9), "a number")
    on: bool = option(True, switch(), "a switch")


def test_a_dataclass_is_read_and_written() -> None:
    read = read_options(Sample, {"big-number": "3", "on": "off"})
    assert read == Sample(3, False) and options_text(read) == "big-number=3,on=off,"
    assert options_text(Sample()) == ""


@dataclass(frozen=True)
class Other:
    """The same setting with another default."""

    big_number: int = same(Sample, "big_number", 7)


def test_a_setting_is_declared_once() -> None:
    (one,), (other, _) = dataclasses.fields(Other), dataclasses.fields(Sample)
    assert declared(one) == declared(other) and (one.default, other.default) == (7, 1)


def test_a_plain_field_takes_what_is_of_its_type() -> None:
    @dataclass
    class Plain:
        x: float = dataclasses.field(default=0.5, metadata={"help": "a rate"})
        n: int = 3
        sizes: tuple[int, ...] = ()
        word: str = "a"
        on: bool = False

    kinds = [declared(one) for one in dataclasses.fields(Plain)]
    texts = ("-1e9", "-7", "1,-2", "b", "on")
    values = [one.kind.read(words) for one, words in zip(kinds, texts, strict=True)]
    assert values == [-1e9, -7, (1, -2), "b", True] and kinds[0].help == "a rate"


def test_a_rule_waits_for_all_its_values() -> None:
    def check(low: int, high: int) -> None:
        if low > high:
            raise InputError("wrong")

    rules = [Rule(("low", "high"), check)]
    check_rules(rules, {"low": 2})
    check_rules(rules, {"low": 2, "high": 2})
    with pytest.raises(InputError):
        check_rules(rules, {"low": 2, "high": 1})


def test_a_number_of_argparse() -> None:
    read = argument(whole(1, 9))
    assert read("7") == 7
    for wrong in ("0", "1.5", "many"):
        with pytest.raises(argparse.ArgumentTypeError) as refused:
            read(wrong)
        assert str(refused.value) == f"a whole number from 1 to 9 is needed, not {wrong!r}"
