"""The most likely ratings: by hand, and of pools whose truth is known."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rating_games import both, colours, pool_of, scores, simulated
from stratkit.errors import CheckFailed
from stratkit.rating.bootstrap import rate
from stratkit.rating.elo import Anchor, DavidsonModel, davidson_score
from stratkit.rating.pool import Pool
from stratkit.rating.sprt import expected_score

THREE_TO_ONE = 400 * np.log10(3)  # 190.85 Elo: three points for each of the other
FIT = DavidsonModel(first_move=None, draws=None)


def elos(pool: Pool, **model: object) -> dict[str, float]:
    found = rate(pool, DavidsonModel(**model)).elo  # type: ignore[arg-type]
    return dict(zip(pool.names, found, strict=True))


def three_to_one(first: str, second: str) -> tuple[tuple[int, list], ...]:  # type: ignore[type-arg]
    return (30, both(first, second, "won")), (10, both(first, second, "lost"))


def test_two_players_by_hand() -> None:
    pool = pool_of(*three_to_one("a", "b"))
    assert elos(pool) == pytest.approx({"a": THREE_TO_ONE / 2, "b": -THREE_TO_ONE / 2})
    for elo in (0.0, 1500.0):
        anchored = elos(pool, anchors=[Anchor(1, elo)])
        assert anchored == pytest.approx({"a": elo + THREE_TO_ONE, "b": elo})


def test_a_draw_is_half_a_win() -> None:
    pool = pool_of((40, [("a", "b", "won"), ("b", "a", "drawn")]))  # three points of four
    assert elos(pool, anchors=[Anchor(1, 0)])["a"] == pytest.approx(THREE_TO_ONE)
    # Where equals draw half their games, Davidson's model has the same expected score.
    assert elos(pool, anchors=[Anchor(1, 0)], draws=0.5)["a"] == pytest.approx(THREE_TO_ONE)


def test_a_chain_adds_up() -> None:
    pool = pool_of(*three_to_one("a", "b"), *three_to_one("b", "c"))
    assert elos(pool, anchors=[Anchor(2, 0)]) == pytest.approx(
        {"a": 2 * THREE_TO_ONE, "b": THREE_TO_ONE, "c": 0}
    )


def test_a_circle_is_level() -> None:
    pool = pool_of(*three_to_one("a", "b"), *three_to_one("b", "c"), *three_to_one("c", "a"))
    assert elos(pool) == pytest.approx({"a": 0, "b": 0, "c": 0}, abs=1e-6)


def test_the_first_move_by_hand() -> None:
    """Equals, of whom red wins three of four games."""
    pool = pool_of((30, both("a", "b", "even")), (10, [("a", "b", "lost"), ("b", "a", "lost")]))
    found = rate(pool, DavidsonModel(first_move=None))
    assert found.elo == pytest.approx([0, 0], abs=1e-6)
    assert found.first_move.value == pytest.approx(THREE_TO_ONE)
    assert found.first_move.low < THREE_TO_ONE < found.first_move.high
    # A player who was red only owes its points to that, if the advantage is known.
    red_only = pool_of((3, [("a", "b", "won")]), [("a", "b", "lost")])
    assert elos(red_only, first_move=THREE_TO_ONE) == pytest.approx({"a": 0, "b": 0}, abs=1e-6)


def test_the_share_of_draws_by_hand() -> None:
    """Equals, who draw as often as they draw; and a:b wins:draws:losses as 9:3:1, where the root of
    wins times losses equals the draws: v = 1, so a third between equals, and odds of 9 to 1."""
    level = pool_of((6, both("a", "b", "even")), (4, both("a", "b", "drawn")))
    assert rate(level, DavidsonModel(draws=None)).draws.value == pytest.approx(0.4)
    games = [(9, [("a", "b", "won")]), (3, [("a", "b", "drawn")]), (1, [("a", "b", "lost")])]
    found = rate(pool_of(*games), DavidsonModel(draws=None, anchors=[Anchor(1, 0)]))
    assert found.draws.value == pytest.approx(1 / 3)
    assert found.elo[0] == pytest.approx(400 * np.log10(9) * 2 / 3)  # c is (2 + v) / 2 = 3 / 2


def test_the_expected_score() -> None:
    for score in (expected_score, davidson_score):
        assert score(400) == pytest.approx(10 / 11)
        assert score(-100) == pytest.approx(1 - score(100))
    assert davidson_score(400, draws=0.5) == pytest.approx(10 / 11)
    for draws in (0.0, 0.2, 0.5, 0.8):  # near equality an Elo is worth the same everywhere
        assert davidson_score(0, draws) == 0.5
        slope = (davidson_score(0.5, draws) - davidson_score(-0.5, draws)) * 400 / np.log(10)
        assert slope == pytest.approx(0.25, rel=1e-4)


def test_several_anchors() -> None:
    """a and c are fixed 400 apart; b scores half against each of them."""
    pool = pool_of((20, both("a", "b", "even")), (20, both("b", "c", "even")))
    fixed = elos(pool, anchors=[Anchor(0, 400), Anchor(2, 0)])
    assert fixed == pytest.approx({"a": 400, "b": 200, "c": 0})


def test_loose_anchors_by_hand() -> None:
    """Equals by their games are said to be 100 apart, give or take: the truth is in between."""
    pool = pool_of((50, both("a", "b", "even")))
    hard = elos(pool, anchors=[Anchor(0, 100, 0.01), Anchor(1, 0, 0.01)])
    assert hard == pytest.approx({"a": 100, "b": 0}, abs=0.1)
    soft = elos(pool, anchors=[Anchor(0, 100, 1e5), Anchor(1, 0, 1e5)])
    assert soft["a"] - soft["b"] == pytest.approx(0, abs=0.1)
    # 100 games give 25 / ELO^2 of information: sigma 49.1 / sqrt(2) each equals that, in all.
    sigma = 400 / np.log(10) / 5 / np.sqrt(2)
    half = elos(pool, anchors=[Anchor(0, 100, sigma), Anchor(1, 0, sigma)])
    assert half["a"] - half["b"] == pytest.approx(50, abs=1)
    assert half["a"] + half["b"] == pytest.approx(100, abs=0.1)


def test_loose_anchors_widen_intervals() -> None:
    pool = pool_of((500, both("a", "b", "even")), (10, both("a", "b", "won")))
    loose = rate(pool, DavidsonModel(anchors=[Anchor(0, 0, 40)]))
    assert loose.low is not None and loose.high is not None
    assert loose.high - loose.low == pytest.approx([2 * 1.96 * 40] * 2, rel=0.1)


def test_a_prior_by_hand() -> None:
    """Each of two players who win all against each other half, and one draw with a third: level.
    And one who only won: its rating is finite, and less so with less of a prior."""
    pool = pool_of((4, both("a", "b", "won")))
    one, two = (elos(pool, prior=n, anchors=[Anchor(1, 0)])["a"] for n in (1, 2))
    assert 0 < two < one < 1500
    # By symmetry the one made up is in the middle: 8 (1 - E(d)) = E(d / 2) - 1 / 2.
    assert 8 * (1 - davidson_score(one)) == pytest.approx(davidson_score(one / 2) - 0.5, abs=1e-6)


results = st.lists(st.integers(0, 4), min_size=12, max_size=12)


@settings(max_examples=25)
@given(results, st.sampled_from([DavidsonModel(), FIT]))
def test_everyone_scores_what_is_expected(counts: list[int], model: DavidsonModel) -> None:
    """At the maximum each player's expected points are its points, the first movers' expected
    points theirs: the likelihood equations."""
    units = [
        (n + 1, [(a, b, "won"), (a, b, "drawn"), (b, a, "lost")])
        for (a, b), n in zip(itertools.permutations("abcd", 2), counts, strict=True)
    ]
    pool = pool_of(*units)
    found = rate(pool, model)
    games = colours(pool).sum(2)
    ahead = found.elo[:, None] - found.elo[None, :] + found.first_move.value
    red = games * davidson_score(ahead, found.draws.value)
    points = (scores(pool) @ [0, 0.5, 1]).sum(1)
    assert np.allclose(red.sum(1) + (games - red).sum(0), points, atol=1e-5)
    assert found.elo.mean() == pytest.approx(0, abs=1e-6)
    if model.first_move is None:
        assert red.sum() == pytest.approx((pool.result / 2).sum(), abs=1e-5)


STRENGTHS = [0.0, 120.0, -200.0, 350.0]


@pytest.mark.parametrize("draws", [0.0, 0.2, 0.7])
def test_known_strengths_are_found(draws: float) -> None:
    rng = np.random.default_rng(3)
    pool = simulated(STRENGTHS, 4000, rng, first_move=40, draws=draws)
    for anchors in ([Anchor(0, 0)], [Anchor(0, 0), Anchor(3, 350)], [Anchor(0, 0, 0.1)]):
        found = rate(pool, DavidsonModel(None, None, anchors))
        assert np.abs(found.elo - STRENGTHS).max() < 12
        assert found.first_move.value == pytest.approx(40, abs=5)
        assert found.draws.value == pytest.approx(draws, abs=0.01)


def test_groups_that_never_met() -> None:
    pool = pool_of((5, both("a", "b", "even")), (5, both("c", "d", "even")))
    with pytest.raises(CheckFailed, match=r"never met.*: a, b; c, d"):
        rate(pool)
    assert elos(pool, prior=1) == pytest.approx(dict.fromkeys("abcd", 0), abs=1e-6)
    # A prior rates each group as if there were no other.
    strong = (5, both("c", "d", "won"))
    alone = rate(pool_of(strong), DavidsonModel(prior=1))
    assert alone.low is not None and alone.high is not None
    for anchors in ([], [Anchor(0, 700)]):
        found = rate(
            pool_of((5, both("a", "b", "even")), strong), DavidsonModel(prior=1, anchors=anchors)
        )
        assert found.low is not None and found.high is not None
        assert found.elo[2:] == pytest.approx(alone.elo, abs=1)
        assert found.low[2:] == pytest.approx(alone.low, abs=30)
        assert found.high[2:] == pytest.approx(alone.high, abs=30)
        assert found.elo[:2] == pytest.approx([700, 700] if anchors else [0, 0], abs=1e-6)
    with pytest.raises(CheckFailed, match="never met"):
        rate(pool, DavidsonModel(anchors=[Anchor(0, 0)]))
    # Ratings that are given on both sides make them comparable.
    anchored = elos(pool, anchors=[Anchor(0, 0), Anchor(2, 100, 5)])
    assert anchored == pytest.approx({"a": 0, "b": 0, "c": 100, "d": 100}, abs=0.1)


@pytest.mark.parametrize("strong", [("a",), ("a", "b"), ("a", "b", "c")])
def test_who_won_or_lost_every_game_is_named(strong: tuple[str, ...]) -> None:
    units = [
        (5, both(a, b, "won" if (a in strong) != (b in strong) else "even"))
        for a, b in itertools.combinations("abcd", 2)
    ]
    pool = pool_of(*units)

    def told(names: list[str], verb: str) -> str:
        return f"{', '.join(names)} {verb} every game" + " against the others" * (len(names) > 1)

    weak = [name for name in "abcd" if name not in strong]
    with pytest.raises(CheckFailed, match=f"^{told([*strong], 'won')}; {told(weak, 'lost')}: no"):
        rate(pool)
    found = rate(pool, DavidsonModel(prior=1))
    assert found.low is not None and found.high is not None
    assert np.isfinite([found.elo, found.low, found.high]).all()
    assert (found.low < found.elo).all() and (found.elo < found.high).all()
    met = (("a", "d", "won"), ("b", "d", "won"), ("a", "b", "even"))
    pool = pool_of(*((5, both(*who)) for who in met))
    with pytest.raises(CheckFailed, match="; d lost every game: no"):  # though the others are given
        rate(pool, DavidsonModel(anchors=[Anchor(0, 9), Anchor(2, 0)]))


def test_what_cannot_be_fitted_is_refused() -> None:
    red = pool_of((5, both("a", "b", "even")))  # red won every game
    with pytest.raises(CheckFailed, match="nor the first-move advantage: --first-move 0"):
        rate(red, DavidsonModel(first_move=None))
    odd = pool_of([("a", "b", "won")], [("b", "c", "drawn")], [("c", "a", "drawn")])
    assert np.isfinite(rate(odd).elo).all()
    with pytest.raises(CheckFailed, match="nor how often equals draw: --draws 0"):
        rate(odd, DavidsonModel(draws=None))
