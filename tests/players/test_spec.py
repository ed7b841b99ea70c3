"""PLAYER syntax."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stratkit.errors import UsageError
from stratkit.players.registry import KINDS, parse_player
from stratkit.players.spec import path_text

VALUES = st.text(
    st.characters(blacklist_characters=",", blacklist_categories=("C", "Z")), min_size=1
)


@given(VALUES, st.sampled_from(["online", "target", "average"]), VALUES)
def test_options_then_spec(name: str, net: str, path: str) -> None:
    spec = parse_player(f"name={name},net={net},./{path}")
    assert (spec.name, spec.options.net, spec.spec) == (name, net, f"./{path}")


@given(st.text())
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        spec = parse_player(text)
    except UsageError as error:
        assert "\n" not in str(error)
    else:
        assert spec.spec and text.endswith(spec.spec)


def test_paths_with_commas_and_equal_signs() -> None:
    assert parse_player("./a=b,c=d").spec == "./a=b,c=d"
    assert parse_player("name=A,./a=b").spec == "./a=b"
    assert parse_player("runs/x,y").spec == "runs/x,y"
    assert path_text("a=b,c/x", KINDS) == "./a=b,c/x"
    assert path_text("runs/x,y=1", KINDS) == "runs/x,y=1"


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("nam=A,random", "did you mean 'name'"),
        ("name=A,name=B,random", "twice"),
        ("name=A", "needs a SPEC"),
        ("name=A,", "needs a SPEC"),
        ("name=,random", "empty"),
        ("name=a\x1b[2Jb,random", "control"),
        ("", "needs a SPEC"),
    ],
)
def test_refused(text: str, what: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse_player(text)
    assert what in str(caught.value)
    assert "\x1b" not in str(caught.value)
