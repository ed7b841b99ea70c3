"""Our players in games of the package `diplomacy` of PyPI (1.1.2, AGPL), which it runs itself.

    python bench/diplomacy_seat.py GAMES [SEED] [--player PLAYER] [--years YEARS] [--all]

The package must be importable here. PLAYER sits at one power, by game number the next one; the
others order at random among what the package offers. With --all it sits at all powers. After each
phase centres and units there are compared with our adjudicator's. Prints orders that the
package does not offer, those that it does not take as they are, phases that differ, and the counts;
then the share of squares.
"""

from __future__ import annotations

import random
import sys
from typing import Any

from stratkit.adapters.diplomacy import DiplomacyPlayer
from stratkit.declared import SEED, whole
from stratkit.engine.diplomacy import map_of
from stratkit.errors import InputError, StratkitError
from stratkit.games.diplomacy.games import actions_of, game_json, game_of
from stratkit.script import Parser, argument


def played(players: dict[str, DiplomacyPlayer], seed: str, years: int) -> tuple[Any, list[int]]:
    """The game, and of our orders how many were given, not offered there, and not taken."""
    try:
        from diplomacy import Game
    except ModuleNotFoundError:
        raise SystemExit("diplomacy_seat.py: the package diplomacy is not installed") from None

    game, rng, counts = Game(), random.Random(seed), [0, 0, 0]
    while not game.is_game_done and int(game.get_current_phase()[1:5]) < 1901 + years:
        possible = game.get_all_possible_orders()
        for power in game.powers:
            places = game.get_orderable_locations(power)
            if power not in players:
                some = [sorted(possible[place]) for place in places if possible[place]]
                game.set_orders(power, [rng.choice(orders) for orders in some])
                continue
            orders = players[power].orders(game)
            game.set_orders(power, orders)
            offered = {order for place in places for order in possible[place]}
            taken = [order for order in game.get_orders(power) if order != "WAIVE"]
            odd, refused = set(orders) - offered, set(orders) ^ set(taken)
            for at, some in enumerate((orders, odd, refused)):
                counts[at] += len(some)
            if odd or refused:
                print(f"{game.get_current_phase()}: not offered {odd}, not taken {refused}")
        game.process()
    return game, counts


def compared(game: Any) -> tuple[int, int]:
    """How many phases a game has, and in how many of those here units or centres differ."""
    from diplomacy.utils.export import to_saved_game_format

    data = to_saved_game_format(game)
    ours = game_of(data)
    mine = {
        phase["name"]: phase["state"] for phase in game_json(ours, actions_of(ours, data))["phases"]
    }
    differ = 0
    for phase in data["phases"]:
        state = mine.get(phase["name"])
        if state is None:  # here nothing can be ordered in it
            continue
        for what in ("centers", "units") if phase["name"][-1] != "R" else ("centers",):
            there = {power: sorted(some) for power, some in phase["state"][what].items()}
            if there != {power: sorted(some) for power, some in state[what].items()}:
                differ += 1
                print(f"{phase['name']}: other {what}")
    return len(data["phases"]) - 1, differ


def main(games: int, seed: int, player: str, years: int, everywhere: bool) -> None:
    powers = map_of(game_of({})).powers
    phases = differ = refused = 0
    shares, totals = [], [0, 0, 0]
    for number in range(games):
        some = powers if everywhere else [powers[number % len(powers)]]
        players = {power: DiplomacyPlayer(player, power, seed + number) for power in some}
        try:
            game, counts = played(players, f"{seed} {number}", years)
            count, other = compared(game)
        except InputError as error:
            refused += 1
            print(f"game {number}: {error}")
            continue
        totals = [sum(two) for two in zip(totals, counts, strict=True)]
        phases, differ = phases + count, differ + other
        squares = {name: len(power.centers) ** 2 for name, power in game.powers.items()}
        shares.append(sum(squares[name] for name in some) / sum(squares.values()))
    print(f"{games} games, {refused} of them refused; {phases} phases, {differ} differ")
    given, odd, not_taken = totals
    print(f"{given} orders, {odd} not offered, {not_taken} not taken")
    if shares:
        print(f"share of squares {sum(shares) / len(shares):.3f}")


if __name__ == "__main__":
    parser = Parser(description=__doc__)
    parser.add_argument("games", metavar="GAMES", type=argument(whole(1)))
    parser.add_argument("seed", metavar="SEED", nargs="?", default=1, type=argument(SEED))
    parser.add_argument("--player", metavar="PLAYER", default="diplomacy-v1")
    parser.add_argument("--years", metavar="YEARS", type=argument(whole(1)), default=12)
    parser.add_argument("--all", action="store_true", dest="everywhere", help="at all powers")
    try:
        main(**vars(parser.parse_args()))
    except StratkitError as error:
        sys.exit(f"diplomacy_seat.py: {error}")
