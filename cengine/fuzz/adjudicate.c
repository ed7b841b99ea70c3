/* Phases of Diplomacy on the maps that come with the engine. The input: the map, whether units
 * stand anywhere, then a byte or two for each province of each phase, which choose its order. */
#include <string.h>

#include "../diplomacy/diplomacy.h"
#include "input.h"

static const char *const names[] = {"standard", "fva", "gvi", "pure", "tiny"};
enum { MAPS = sizeof names / sizeof *names };

static uint64_t order_sets;

__attribute__((destructor)) static void tell(void)
{
    printf("%llu phases of moves, retreats and adjustments\n", (unsigned long long)order_sets);
}

static const dip_map *map_of(int number)
{
    static dip_map maps[MAPS];
    dip_map *map = &maps[number];
    char error[200];
    if (!map->provinces)
        MUST(dip_read_map(map, dip_map_text(names[number]), error, sizeof error));
    return map;
}

/* Any bytes as units, where they are some. */
static void place_units(const dip_map *map, dip_position *position, input *in)
{
    for (int p = 0; p < map->provinces; p++) {
        uint8_t old = position->unit[p];
        position->unit[p] = take8(in);
        if (dip_check(map, position))
            position->unit[p] = old;
    }
}

/* Whether a support or a convoy is of what its unit is ordered to do. */
static int fits(const dip_map *map, dip_order help, const dip_order *orders)
{
    if (help.verb < DIP_SUPPORT_HOLD || help.verb > DIP_CONVOY)
        return 0;
    dip_order of = orders[help.whom];
    int moves = of.verb == DIP_MOVE || of.verb == DIP_VIA;
    if (help.verb == DIP_SUPPORT_HOLD)
        return !moves;
    return moves && map->parent[of.whither] == map->parent[help.whither];
}

/* A legal order for each province; many help another one. Any three bytes can be asked about. */
static void choose(const dip_map *map, const dip_position *position, input *in, dip_order *orders)
{
    static dip_order legal[DIP_PROVINCES][DIP_MOST_ORDERS], helping[DIP_MOST_ORDERS];
    int n[DIP_PROVINCES];
    for (int p = 0; p < map->provinces; p++) {
        n[p] = dip_legal(map, position, p, legal[p]);
        MUST(n[p] <= DIP_MOST_ORDERS);
        orders[p] = n[p] ? legal[p][take16(in) % n[p]] : (dip_order){DIP_HOLD, DIP_NONE, DIP_NONE};
        MUST(!n[p] || dip_is_legal(map, position, p, orders[p]));
    }
    for (int p = 0; p < map->provinces; p++) {
        int n_helping = 0, pick = n[p] ? take8(in) : 0;
        for (int i = 0; i < n[p] && pick & 1; i++)
            if (fits(map, legal[p][i], orders))
                helping[n_helping++] = legal[p][i];
        if (n_helping)
            orders[p] = helping[(pick >> 1) % n_helping];
    }
    dip_order any = {take8(in), take8(in), take8(in)};
    dip_is_legal(map, position, take8(in) % map->provinces, any);
}

/* Whether an order of this verb can come to that. */
static int can_come_to(int verb, int outcome)
{
    int moves = verb == DIP_MOVE || verb == DIP_VIA;
    switch (outcome) {
    case DIP_CARRIED_OUT: return 1;
    case DIP_BOUNCE: return moves;
    case DIP_NO_CONVOY: return verb == DIP_VIA;
    case DIP_CUT: return verb == DIP_SUPPORT_HOLD || verb == DIP_SUPPORT_MOVE;
    case DIP_DISRUPTED: return verb == DIP_CONVOY;
    default: return outcome == DIP_VOID && !moves && verb != DIP_HOLD;
    }
}

/* Every unit is there afterwards, and nothing but its coast has changed. Those whose moves are
 * carried out have left. */
static void check_moves(const dip_map *map, const dip_position *before, const dip_order *orders)
{
    dip_position after = *before;
    uint8_t outcomes[DIP_PROVINCES];
    dip_adjudicate(map, &after, orders, outcomes);
    int old[256] = {0}, now[256] = {0};
    for (int p = 0; p < map->provinces; p++) {
        old[before->unit[p] & ~DIP_COAST]++;
        now[after.unit[p] & ~DIP_COAST]++;
        now[after.dislodged[p] & ~DIP_COAST]++;
        int moves = orders[p].verb == DIP_MOVE || orders[p].verb == DIP_VIA;
        MUST(before->unit[p] ? can_come_to(orders[p].verb, outcomes[p]) : !outcomes[p]);
        if (before->unit[p] && !(moves && outcomes[p] == DIP_CARRIED_OUT))
            MUST(after.unit[p] == before->unit[p] || after.dislodged[p] == before->unit[p]);
        MUST(!after.dislodged[p] || after.unit[p]);
    }
    MUST(!memcmp(old + 1, now + 1, sizeof old - sizeof *old));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    input in = {data, size};
    const dip_map *map = map_of(take8(&in) % MAPS);
    dip_position position = map->start;
    if (take8(&in) & 1)
        place_units(map, &position, &in);
    while (in.left) {
        dip_order orders[DIP_PROVINCES];
        choose(map, &position, &in, orders);
        if (position.phase == SPRING_MOVES || position.phase == FALL_MOVES)
            check_moves(map, &position, orders);
        dip_resolve(map, &position, orders);
        MUST(!dip_check(map, &position));
        order_sets++;
    }
    return 0;
}
