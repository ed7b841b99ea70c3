"""A player of the user's own: `py:MODULE:CLASS[,key=value...]`.

MODULE is imported from the working directory or from where Python finds modules. CLASS is called
with the options and, where it takes them, with `game` and `seed`. Options are text; those of a
dataclass are made what its annotations say: int, float, bool (on or off) or str.

A class that only has a policy plays by it: that is all that `exploit` needs to judge it.
"""

from __future__ import annotations

import contextlib
import dataclasses
import inspect
from collections.abc import Callable, Iterator, Mapping
from typing import Any, get_type_hints

import numpy as np

from stratkit.arrays import Float64s
from stratkit.declared import switch
from stratkit.engine import Game, sample
from stratkit.errors import InputError, StratkitError, UsageError, nearest_or_all, one_line
from stratkit.players.player import Decision, Explanation, Floats, Player, Views
from stratkit.players.spec import Contestant, OpenContext, PlayerSpec, split_options
from stratkit.python_class import PYTHON, printing_aside, python_class
from stratkit.storage.columns import MU_ROUNDING

OFFERED = ("game", "seed")  # what a class may ask for beside its options


def open_python(spec: PlayerSpec, game: Game, context: OpenContext) -> Contestant[Player]:
    """The player that `spec` asks for. `InputError` or `UsageError`: there is no such module or
    class, it does not take these options, or what it makes is no player."""
    target, _, rest = spec.spec.removeprefix(PYTHON).partition(",")
    module, _, name = target.partition(":")
    if not module or not name.isidentifier():
        raise UsageError("py:MODULE:CLASS is needed", where="PLAYER", text=spec.text)
    given, left = split_options(rest)
    if left:
        raise UsageError("no key=value", where="PLAYER", text=left)
    cls: Any = python_class(target, spec.text)
    if not issubclass(cls, Player):
        if not callable(getattr(cls, "policy", None)):
            what = f"{target} makes no player: begin, act and end are needed, or policy"
            raise InputError(what, text=spec.text)
        cls = type(cls.__name__, (cls, _OfPolicy), {"_seed_of_draws": context.seed})
    values = _values(cls, given, {"game": game, "seed": context.seed}, spec.text)
    called = spec.name or name
    try:
        with printing_aside:
            player = _guarded(cls, called)(**values)
    except (Exception, SystemExit) as error:
        raise InputError(f"{target}: {one_line(error)}", text=spec.text) from error
    return Contestant(called, player, spec.spec)


class _OfPolicy(Player):
    """What a class lacks that only has a policy."""

    _seed_of_draws: int
    policy: Callable[[Views], Floats]  # the class's own

    def act(self, views: Views) -> Decision:
        policy = np.ascontiguousarray(self.policy(views), np.float32)
        key = self._seed_of_draws, views.games, views.numbers
        return Decision(*sample(policy, views.legal, *key))


class _Guarded:
    """Has a guard before each method of the protocols: exceptions become one line that names the
    player, and what it returns is checked."""

    __slots__ = ()


def _guarded(cls: Any, called: str) -> Any:
    """The class with guards."""

    def own(self: Any, name: str) -> Callable[..., Any]:
        return getattr(super(guarded, self), name)  # type: ignore[no-any-return]

    guarded = type(cls.__name__, (cls, _Guarded), _guards(cls, called, own))
    return guarded


def _in_its_place(player: Player, called: str) -> Any:
    """What passes all on to a player that plays in another's place, with guards. The player itself
    stays as it is: its class may be fixed, and others may know it."""

    def its(self: Any, name: str) -> Any:
        return getattr(player, name)

    members = {"__getattr__": its, **_guards(player, called, its)}
    return type(type(player).__name__, (_Guarded,), members)()


def _guards(of: Any, called: str, method_of: Callable[[Any, str], Any]) -> dict[str, Any]:
    """The guards of the methods that `of`, a class or a player, has; `method_of` gives one by the
    guarded player and its name."""

    def guard(name: str, check: Callable[..., Any]) -> Callable[..., Any]:
        def method(self: Any, *args: Any) -> Any:
            with _errors_of(f"{called}: {name}"):
                found = check(method_of(self, name)(*args), *args)
                if isinstance(found, Player) and not isinstance(found, _Guarded):
                    found = _in_its_place(found, called)
                return found

        return method

    guards: dict[str, Any] = {
        name: guard(name, check) for name, check in _CHECKS.items() if hasattr(of, name)
    }
    if "policy" in guards:
        guards["random_ties"] = getattr(of, "random_ties", False)
    return guards


@contextlib.contextmanager
def _errors_of(what: str) -> Iterator[None]:
    try:
        with printing_aside:
            yield
    except StratkitError:
        raise
    except (Exception, SystemExit) as error:
        raise StratkitError(f"{what}: {one_line(error)}") from error


def _decision(decision: Decision, views: Views) -> Decision:
    """The decision in the dtypes of `Decision`. `ValueError`: it is none about these views."""
    rows = np.arange(len(views))
    actions, mu = np.asarray(decision.actions), np.asarray(decision.mu, np.float32)
    if actions.shape != rows.shape or mu.shape != rows.shape:
        raise ValueError(f"{len(rows)} actions and mu are needed")
    if actions.dtype.kind not in "iu":
        raise ValueError(f"actions are whole numbers, not {actions.dtype}")
    resigned, values = decision.resigned, decision.values
    if any(np.any(ended) for ended in (decision.agreed, decision.out_of_time) if ended is not None):
        raise ValueError("agreed and out_of_time are for people, who are offered draws and timed")
    if resigned is not None:
        resigned = np.asarray(resigned, bool)
        if resigned.shape != rows.shape:
            raise ValueError(f"{len(rows)} of resigned are needed")
    if values is not None:
        values = np.asarray(values, np.float32)
        if values.shape != rows.shape or not np.isfinite(values).all():
            raise ValueError(f"{len(rows)} finite values are needed")
    played = rows if resigned is None else rows[~resigned]
    possible = (actions >= 0) & (actions < views.legal.shape[1])
    legal = possible & (views.legal[rows, np.where(possible, actions, 0)] > 0)
    if not legal[played].all():
        row = played[~legal[played]][0]
        raise ValueError(f"action {actions[row]} is illegal in game {views.games[row]}")
    if not ((mu[played] > 0) & (mu[played] <= 1 + MU_ROUNDING)).all():
        raise ValueError("mu is above 0 and at most 1")
    return Decision(actions.astype(np.int32), mu, values, resigned)


def _decision_with_values(decision: Decision, views: Views) -> Decision:
    """The same of a decision that needs values."""
    if decision.values is None:
        raise ValueError("values are needed")
    return _decision(decision, views)


def _policy(found: Any, views: Views) -> Floats | Float64s:
    """The policy as float32, or as float64 if it is that. `ValueError`: it is none about these
    views."""
    policy: Any = np.asarray(found)
    if policy.dtype != np.float64:
        policy = np.asarray(policy, np.float32)
    if policy.shape != views.legal.shape:
        raise ValueError(f"a policy of shape {views.legal.shape} is needed")
    if not (policy >= 0).all() or (policy[views.legal == 0] > 0).any():
        raise ValueError("a policy is from 0 to 1, and 0 where illegal")
    if not (abs(policy.sum(axis=1) - 1) <= MU_ROUNDING).all():
        raise ValueError("the probabilities of a policy sum to 1")
    return policy  # type: ignore[no-any-return]


def _explanations(found: Any, views: Views) -> list[Explanation]:
    if len(found) != len(views) or not all(isinstance(each, Explanation) for each in found):
        raise ValueError(f"{len(views)} explanations are needed")
    return list(found)


def _player(player: Any, log: Any) -> Player:
    if not isinstance(player, Player):
        raise ValueError("a player is needed")
    return player


def _nothing(returned: Any, *args: Any) -> None:
    return None


# The methods of the protocols, and what checks that which they return.
_CHECKS: Mapping[str, Callable[..., Any]] = {
    "begin": _nothing,
    "act": _decision,
    "end": _nothing,
    "policy": _policy,
    "act_with_values": _decision_with_values,
    "explained": _player,
    "logged": _player,
    "explain": _explanations,
    "watch": _nothing,
    "sit_down": _nothing,
}


def _values(
    cls: Any, given: Mapping[str, str], offered: Mapping[str, Any], text: str
) -> dict[str, Any]:
    """The arguments for the class."""
    known = inspect.signature(cls).parameters
    free = any(parameter.kind is parameter.VAR_KEYWORD for parameter in known.values())
    types = get_type_hints(cls) if dataclasses.is_dataclass(cls) else {}
    values = {key: value for key, value in offered.items() if key in known}
    for key, value in given.items():
        name = key.replace("-", "_")
        if name in OFFERED or not (free or name in known):
            keys = [word for word in known if word not in OFFERED]
            what = f"{cls.__name__} has no option {key!r}{nearest_or_all(key, keys)}"
            raise UsageError(what, where="PLAYER", text=text)
        try:
            values[name] = _read(types.get(name, str), value)
        except ValueError:
            what = f"{key}={value}: {types[name].__name__} is needed"
            raise UsageError(what, where="PLAYER", text=text) from None
    return values


def _read(kind: Any, text: str) -> Any:
    """The text as a value of a type; `ValueError`."""
    if kind is bool:
        return switch().read(text)
    return kind(text) if kind in (int, float) else text
