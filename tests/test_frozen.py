"""`frozen` makes what `dataclass(frozen=True)` makes."""

from __future__ import annotations

import copy
import dataclasses
import pickle
from collections.abc import Callable
from typing import Any

import pytest

from stratkit.frozen import frozen


@frozen()
class Base:
    """Two fields."""

    x: int
    y: tuple[int, ...] = (1,)


@frozen(kw_only=True)
class More(Base):
    """A field by name, and one with a new list each time."""

    word: str = "a"
    names: list[str] = dataclasses.field(default_factory=list)


@frozen(eq=False)
class Same:
    """Which is only itself."""

    x: int


@frozen()
class Checked:
    """Which looks at its fields."""

    x: int = 0

    def __post_init__(self) -> None:
        if self.x < 0:
            raise ValueError("x")


class Standard:
    """The same by Python's own decorator."""

    @dataclasses.dataclass(frozen=True)
    class Base:
        x: int
        y: tuple[int, ...] = (1,)

    @dataclasses.dataclass(frozen=True, kw_only=True)
    class More(Base):
        word: str = "a"
        names: list[str] = dataclasses.field(default_factory=list)


ARGUMENTS: list[tuple[tuple[Any, ...], dict[str, Any]]] = [
    ((), {}),
    ((1,), {}),
    ((1, (2,)), {}),
    ((1,), {"x": 1}),
    ((1,), {"z": 1}),
    ((1,), {"word": "b", "names": ["c"]}),
    ((1, (2,), "b"), {}),
    ((), {"y": (3,), "x": 2}),
]


def made(cls: Callable[..., Any], given: tuple[Any, ...], named: dict[str, Any]) -> Any:
    """The fields of an instance, or None: there is none."""
    try:
        return dataclasses.asdict(cls(*given, **named))
    except TypeError:
        return None


@pytest.mark.parametrize(("given", "named"), ARGUMENTS)
def test_arguments_are_those_of_a_dataclass(given: tuple[Any, ...], named: dict[str, Any]) -> None:
    for ours, standard in ((Base, Standard.Base), (More, Standard.More)):
        assert made(ours, given, named) == made(standard, given, named)


def test_errors_of_arguments_name_them() -> None:
    for given, named, what in (
        ((), {}, "Base lacks x"),
        ((1, (2,), 3), {}, "Base takes 2 positional arguments, not 3"),
        ((1,), {"x": 1}, "Base takes no other x"),
        ((1,), {"z": 1}, "Base takes no other z"),
    ):
        with pytest.raises(TypeError, match=what):
            Base(*given, **named)  # type: ignore[arg-type]


def test_nothing_can_be_set_or_deleted() -> None:
    one = More(1)
    for name in ("x", "word", "other"):
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(one, name, 2)
        with pytest.raises(dataclasses.FrozenInstanceError):
            delattr(one, name)
    assert one == More(1) and one.names is not More(1).names


def test_equal_are_those_of_a_class_with_equal_fields() -> None:
    assert (
        Base(1) == Base(1, (1,))
        and hash(Base(1)) == hash(Base(1))
        and len({Base(1)} | {Base(1)}) == 1
    )
    assert Base(1) != Base(2) and Base(1) != Same(1) and Base(1) != (1, (1,)) and More(1) != Base(1)
    assert Same(1) != Same(1)
    one = Same(1)
    assert one == one and {one: 2}[one] == 2


def test_dataclasses_know_them() -> None:
    assert repr(More(1)) == "More(x=1, y=(1,), word='a', names=[])"
    assert [one.name for one in dataclasses.fields(More)] == ["x", "y", "word", "names"]
    assert dataclasses.replace(More(1), word="b") == More(1, word="b")
    assert copy.copy(Base(1)) == Base(1) == pickle.loads(pickle.dumps(Base(1)))
    match Base(1):
        case Base(x, y):
            assert (x, y) == (1, (1,))
    with pytest.raises(ValueError):
        Checked(-1)
    with pytest.raises(ValueError):
        dataclasses.replace(Checked(), x=-1)


def test_a_dataclass_may_extend_them() -> None:
    @dataclasses.dataclass(frozen=True)
    class Own(Base):
        z: float = 0.5

    assert Own(1, z=2.0) == Own(1, (1,), 2.0) != Base(1) and Own(1).z == 0.5
    with pytest.raises(dataclasses.FrozenInstanceError):
        Own(1).z = 1.0  # type: ignore[misc]
    with pytest.raises(TypeError, match="frozen"):
        dataclasses.dataclass(type("Plain", (Base,), {}))


def test_a_class_keeps_what_is_its_own() -> None:
    @frozen()
    class Own:
        """Which shows itself, and hides a field where it does not."""

        x: int
        hidden: int = dataclasses.field(default=2, repr=False)

        def __hash__(self) -> int:
            return 7

    assert repr(Own(1)).endswith("Own(x=1)")
    assert hash(Own(1)) == 7 and Own(1) == Own(1) != Own(1, 3)


def test_a_field_without_a_default_behind_one_with_it() -> None:
    with pytest.raises(TypeError, match="y has no default"):

        @frozen()
        class Wrong:
            """Which Python refuses, too."""

            x: int = 1
            y: int  # type: ignore[misc]
