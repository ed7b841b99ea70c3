"""What each order comes to, by the rules: supports, convoys and moves that came to nothing, and
those that did not. The words are those of the engine, and stand where a person reads them."""

from __future__ import annotations

import pytest

from stratkit.engine.diplomacy import OUTCOMES, DiplomacyMap, map_text
from stratkit.games.diplomacy.orders import Order, orders_array, parse_order, parse_unit
from stratkit.games.diplomacy.told import told

TEXT = map_text("standard")
assert TEXT is not None
BOARD = DiplomacyMap(TEXT)

# Lines of what comes of an order (`ok`: it is carried out), a power, and the order.
SITUATIONS = {
    "a support that nobody attacks holds": """
        ok     FRANCE  A PAR - BUR
        ok     FRANCE  A MAR S A PAR - BUR
        bounce GERMANY A MUN - BUR""",
    "an attack cuts a support, though it bounces": """
        bounce FRANCE  A PAR - BUR
        cut    FRANCE  A MAR S A PAR - BUR
        bounce ITALY   A PIE - MAR
        bounce GERMANY A MUN - BUR""",
    "an attack from where the support is directed cuts nothing": """
        ok     FRANCE  A PAR - BUR
        ok     FRANCE  A MAR S A PAR - BUR
        bounce GERMANY A BUR - MAR""",
    "it does if it dislodges": """
        bounce FRANCE  A PAR - BUR
        cut    FRANCE  A MAR S A PAR - BUR
        ok     GERMANY A BUR - MAR
        ok     GERMANY A PIE S A BUR - MAR
        bounce GERMANY A MUN - BUR""",
    "an attack of its own power cuts nothing": """
        ok     FRANCE  A PAR - BUR
        ok     FRANCE  A MAR S A PAR - BUR
        bounce FRANCE  A GAS - MAR
        bounce GERMANY A MUN - BUR""",
    "a support to hold is cut as well": """
        ok     GERMANY A BER H
        cut    GERMANY A MUN S A BER
        bounce AUSTRIA A TYR - MUN
        ok     RUSSIA  A PRU - BER
        ok     RUSSIA  A SIL S A PRU - BER""",
    "a support to hold of a unit that moves is void, where it bounces too": """
        bounce FRANCE  A BUR - MUN
        void   FRANCE  A MAR S A BUR
        bounce GERMANY A BER - MUN""",
    "a support of another move than is ordered is void": """
        ok     FRANCE  A PAR - PIC
        void   FRANCE  A MAR S A PAR - BUR
        ok     GERMANY A MUN - BUR""",
    "a support of a move of a unit that holds is void": """
        ok     FRANCE  A PAR H
        void   FRANCE  A MAR S A PAR - BUR""",
    "a support to hold of a unit that itself supports is carried out": """
        ok     FRANCE  A PAR S A BUR
        ok     FRANCE  A BUR S A MAR
        ok     FRANCE  A MAR H
        bounce ITALY   A PIE - MAR""",
    "a support of a move that bounces is carried out": """
        bounce FRANCE  A PAR - BUR
        ok     FRANCE  A MAR S A PAR - BUR
        bounce GERMANY A MUN - BUR
        ok     GERMANY A RUH S A MUN - BUR""",
    "a convoy that carries": """
        ok     ENGLAND A LON - NWY VIA
        ok     ENGLAND F NTH C A LON - NWY""",
    "a convoy of an army that bounces": """
        bounce ENGLAND A LON - NWY VIA
        ok     ENGLAND F NTH C A LON - NWY
        bounce RUSSIA  A STP - NWY""",
    "a convoy that is attacked in vain": """
        ok     ENGLAND A LON - NWY VIA
        ok     ENGLAND F NTH C A LON - NWY
        bounce GERMANY F DEN - NTH""",
    "a convoy whose fleet is dislodged": """
        no-convoy ENGLAND A LON - NWY VIA
        disrupted ENGLAND F NTH C A LON - NWY
        ok     GERMANY F DEN - NTH
        ok     GERMANY F HEL S F DEN - NTH""",
    "of a chain one fleet is dislodged": """
        no-convoy ENGLAND A LON - BRE VIA
        ok     ENGLAND F NTH C A LON - BRE
        ok     ENGLAND F NWG C A LON - BRE
        disrupted ENGLAND F NAO C A LON - BRE
        ok     ENGLAND F MAO C A LON - BRE
        ok     FRANCE  F IRI - NAO
        ok     FRANCE  F LVP S F IRI - NAO""",
    "another way holds": """
        ok     ENGLAND A LON - BEL VIA
        disrupted ENGLAND F ENG C A LON - BEL
        ok     ENGLAND F NTH C A LON - BEL
        ok     FRANCE  F MAO - ENG
        ok     FRANCE  F BRE S F MAO - ENG""",
    "a convoy of an army that is ordered otherwise": """
        ok     ENGLAND A LON - YOR
        void   ENGLAND F NTH C A LON - NWY""",
    "an army that no fleet convoys": """
        no-convoy ENGLAND A LON - NWY VIA
        ok     ENGLAND F NTH H""",
    "too few fleets": """
        no-convoy ENGLAND A LON - BRE VIA
        void   ENGLAND F NTH C A LON - BRE
        ok     ENGLAND F NWG H
        ok     ENGLAND F NAO H
        ok     ENGLAND F MAO H""",
    "an army goes over land where the fleets make no way": """
        ok     FRANCE  A BRE - GAS VIA
        void   ENGLAND F ENG C A BRE - GAS
        ok     ENGLAND F MAO H""",
    "a paradox stops a convoy whose fleet stays (DATC 6.F.16)": """
        ok     ENGLAND F LON S F WAL - ENG
        bounce ENGLAND F WAL - ENG
        no-convoy FRANCE A BRE - LON VIA
        disrupted FRANCE F ENG C A BRE - LON
        ok     GERMANY F NTH S F BEL - ENG
        bounce GERMANY F BEL - ENG""",
    "three armies in a circle": """
        ok     TURKEY  A ANK - CON
        ok     TURKEY  A CON - SMY
        ok     TURKEY  A SMY - ANK""",
    "two units that change places over land": """
        bounce TURKEY  A ANK - CON
        bounce TURKEY  A CON - ANK""",
}


def _read(text: str) -> list[tuple[str, str, str]]:
    lines = (line.split(None, 2) for line in text.strip().splitlines())
    return [(word.replace("-", " "), power, order) for word, power, order in lines]


@pytest.mark.parametrize("situation", SITUATIONS)
def test_what_each_order_comes_to(situation: str) -> None:
    lines, position = _read(SITUATIONS[situation]), BOARD.start()
    position["unit"] = 0
    for _, power, order in lines:
        number = BOARD.powers.index(power)
        province, unit = parse_unit(BOARD, number, " ".join(order.split()[:2]))
        position["unit"][0, province] = unit
    orders: dict[int, Order] = {}
    wanted: dict[int, str] = {}
    for word, power, order in lines:
        province, given = parse_order(BOARD, position, BOARD.powers.index(power), order)
        orders[province] = given
        wanted[province] = word.replace("ok", OUTCOMES[0])
    given_orders = orders_array(BOARD, orders.items())
    _, outcomes = BOARD.adjudicate(position, given_orders)
    assert {p: OUTCOMES[outcomes[0, p]] for p in orders} == wanted
    assert outcomes.sum() == sum(OUTCOMES.index(word) for word in wanted.values())
    _, said = told(BOARD, position, given_orders, BOARD.resolve(position, given_orders))
    texts = {text for line in said for text in line.partition(": ")[2].split("; ")}
    assert {order if word == "ok" else f"{order} ({word})" for word, _, order in lines} <= texts
