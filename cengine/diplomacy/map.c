/* Reading the text of a map (formats/diplomacy.md). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "diplomacy.h"

enum { MOST_LINE = 500, MOST_WORDS = MOST_LINE / 2 };

typedef struct {
    dip_map *map;
    const char *at; /* what is still to be read */
    int line;
    char *error;
    size_t error_size;
    char text[MOST_LINE];
    char *words[MOST_WORDS];
    int n;
} reader;

/* Tells the line and, if it is to be found there, the number of `word`, which is not shown: the
 * file may be no map, and a secret. */
static int refuse(const reader *in, const char *what, const char *word)
{
    int n = 0;
    while (n < in->n && in->words[n] != word)
        n++;
    if (n < in->n)
        snprintf(in->error, in->error_size, "line %d, word %d: %s", in->line, n + 1, what);
    else
        snprintf(in->error, in->error_size, "line %d: %s", in->line, what);
    return 0;
}

/* The location of a name, or DIP_NONE. */
static int find(const dip_map *map, const char *name)
{
    for (int i = 0; i < map->locations; i++)
        if (!strcmp(map->names[i], name))
            return i;
    return DIP_NONE;
}

/* Capital letters and digits, for a coast with a slash and letters behind; at most seven. */
static int is_name(const char *word, int coast)
{
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
    size_t n = strlen(word), first = strspn(word, letters);
    if (n > 7 || !first)
        return 0;
    if (!coast)
        return first == n;
    return word[first] == '/' && n > first + 1
           && strspn(word + first + 1, letters) == n - first - 1;
}

static void split(reader *in)
{
    static const char blanks[] = " \t\r";
    in->text[strcspn(in->text, "#")] = 0;
    in->n = 0;
    for (char *at = in->text + strspn(in->text, blanks); *at && in->n < MOST_WORDS;) {
        in->words[in->n++] = at;
        at += strcspn(at, blanks);
        if (*at)
            *at++ = 0;
        at += strspn(at, blanks);
    }
}

/* Reads the next line with words in it; 0 at the end of the text or after a fault, in *ok. */
static int next_line(reader *in, int *ok)
{
    *ok = 1;
    while (*in->at) {
        size_t n = strcspn(in->at, "\n");
        in->line++;
        if (n >= MOST_LINE) {
            *ok = refuse(in, "too long", "");
            return 0;
        }
        memcpy(in->text, in->at, n);
        in->text[n] = 0;
        in->at += n + (in->at[n] == '\n');
        split(in);
        if (in->n)
            return 1;
    }
    return 0;
}

static int kind_of(const char *word)
{
    static const char *const kinds[] = {"inland", "coast", "sea"};
    for (int i = 0; i < 3; i++)
        if (!strcmp(word, kinds[i]))
            return i;
    return -1;
}

/* ---- First pass: names ---- */

static int add_province(reader *in, int kind)
{
    dip_map *map = in->map;
    if (in->n < 2 || !is_name(in->words[1], 0))
        return refuse(in, "a province needs a name of at most seven capital letters", "");
    if (find(map, in->words[1]) != DIP_NONE)
        return refuse(in, "a second province of this name", in->words[1]);
    if (map->provinces == DIP_PROVINCES)
        return refuse(in, "more than 76 provinces", "");
    int p = map->provinces++;
    map->locations = map->provinces;
    strcpy(map->names[p], in->words[1]);
    map->kind[p] = (uint8_t)kind;
    map->parent[p] = map->coasts[p][0] = (uint8_t)p;
    map->home[p] = map->centre[p] = DIP_NONE;
    if (kind == DIP_SEA)
        map->seas |= bit(p);
    if (kind == DIP_COASTAL)
        map->coastal |= bit(p);
    if (in->n > 2 && !strcmp(in->words[2], "*")) {
        if (map->centres == DIP_CENTRES)
            return refuse(in, "more than 40 centres", "");
        map->centre[p] = (uint8_t)map->centres++;
    }
    return 1;
}

static int add_coast(reader *in)
{
    dip_map *map = in->map;
    if (in->n < 2 || !is_name(in->words[1], 1))
        return refuse(in, "a coast is named like SPA/NC", in->n < 2 ? "" : in->words[1]);
    char province[8];
    strcpy(province, in->words[1]);
    *strchr(province, '/') = 0;
    int p = find(map, province);
    if (p == DIP_NONE || map->kind[p] != DIP_COASTAL)
        return refuse(in, "a coast of no coastal province", in->words[1]);
    if (find(map, in->words[1]) != DIP_NONE)
        return refuse(in, "a second coast of this name", in->words[1]);
    if (map->split[p] == DIP_COASTS - 1 || map->locations == DIP_LOCATIONS)
        return refuse(in, "too many coasts", in->words[1]);
    int l = map->locations++;
    strcpy(map->names[l], in->words[1]);
    map->parent[l] = (uint8_t)p;
    map->coasts[p][++map->split[p]] = (uint8_t)l;
    map->coast_number[l] = map->split[p];
    return 1;
}

static int read_names(reader *in, const char *text, int coasts)
{
    int ok;
    for (in->at = text, in->line = 0; next_line(in, &ok);) {
        int kind = kind_of(in->words[0]);
        if (!coasts && kind >= 0 && !add_province(in, kind))
            return 0;
        if (coasts && !strcmp(in->words[0], "part") && !add_coast(in))
            return 0;
    }
    return ok;
}

/* ---- Second pass: borders ---- */

static int read_borders(reader *in, int fleet_only)
{
    dip_map *map = in->map;
    int from = find(map, in->words[1]), fleet = -1;
    for (int i = 2; i < in->n; i++) {
        const char *word = in->words[i];
        if (i == 2 && !strcmp(word, "*") && !fleet_only)
            continue;
        if (!strcmp(word, "army") || !strcmp(word, "fleet")) {
            fleet = *word == 'f';
            continue;
        }
        int to = find(map, word);
        if (fleet < 0 || to == DIP_NONE || to == from)
            return refuse(in,
                          fleet < 0 ? "army or fleet is needed before neighbours"
                                    : "no other province of the map",
                          word);
        int a = map->parent[from], b = map->parent[to];
        if (!fleet) {
            if (fleet_only || to >= map->provinces || map->kind[a] == DIP_SEA
                || map->kind[b] == DIP_SEA)
                return refuse(in, "an army cannot go there", word);
            map->army[from] |= bit(to);
            continue;
        }
        if (map->kind[a] == DIP_INLAND || map->kind[b] == DIP_INLAND)
            return refuse(in, "a fleet cannot go there", word);
        if ((from < map->provinces && map->split[from]) || (to < map->provinces && map->split[to]))
            return refuse(in, "a fleet's way needs the coast", word);
        map->fleet[from] |= bit(to);
        map->near[from] |= bit(b);
    }
    return 1;
}

/* Borders go both ways. */
static int check_borders(const reader *in)
{
    const dip_map *map = in->map;
    for (int a = 0; a < map->locations; a++)
        for (int b = 0; b < map->locations; b++) {
            int one = has(map->fleet[a], b) && !has(map->fleet[b], a);
            if (a < map->provinces && b < map->provinces)
                one |= has(map->army[a], b) && !has(map->army[b], a);
            if (one) {
                snprintf(in->error, in->error_size, "a border goes one way only: %s to %s",
                         map->names[a], map->names[b]);
                return 0;
            }
        }
    return 1;
}

/* ---- Powers ---- */

static int add_unit(reader *in, int power, const char *type, const char *name)
{
    dip_map *map = in->map;
    int at = find(map, name), fleet = *type == 'F';
    if ((strcmp(type, "A") && strcmp(type, "F")) || at == DIP_NONE)
        return refuse(in, "a unit is written like A PAR", name);
    int p = map->parent[at], kind = map->kind[p];
    if (fleet ? kind == DIP_INLAND || (at == p && map->split[p]) : kind == DIP_SEA || at != p)
        return refuse(in, "such a unit cannot stand there", name);
    if (map->start.unit[p])
        return refuse(in, "a second unit in the province", name);
    map->start.unit[p] = dip_at(map, (uint8_t)(DIP_UNIT | (fleet ? DIP_FLEET : 0) | power), at);
    return 1;
}

static int add_power(reader *in)
{
    dip_map *map = in->map;
    if (map->powers == DIP_POWERS)
        return refuse(in, "more than seven powers", "");
    if (in->n < 2 || strlen(in->words[1]) > 15
        || strspn(in->words[1], "ABCDEFGHIJKLMNOPQRSTUVWXYZ") != strlen(in->words[1]))
        return refuse(in, "a power needs a name in capital letters", "");
    for (int i = 0; i < map->powers; i++)
        if (!strcmp(map->power_names[i], in->words[1]))
            return refuse(in, "a second power of this name", in->words[1]);
    int power = map->powers++, units = -1;
    strcpy(map->power_names[power], in->words[1]);
    for (int i = 2; i < in->n; i++) {
        const char *word = in->words[i];
        if (!strcmp(word, "home") || !strcmp(word, "units")) {
            units = *word == 'u';
            continue;
        }
        if (units < 0)
            return refuse(in, "home or units is needed before places", word);
        if (units) {
            if (!add_unit(in, power, word, ++i < in->n ? in->words[i] : ""))
                return 0;
            continue;
        }
        int p = find(map, word);
        if (p == DIP_NONE || p >= map->provinces || map->centre[p] == DIP_NONE)
            return refuse(in, "no centre of the map", word);
        if (map->home[p] != DIP_NONE)
            return refuse(in, "the home centre of two powers", word);
        map->home[p] = (uint8_t)power;
        map->start.owner[map->centre[p]] = (uint8_t)(1 + power);
    }
    return 1;
}

static int read_count(reader *in, int most, int *out)
{
    if (in->n != 2 || strspn(in->words[1], "0123456789") != strlen(in->words[1])
        || strlen(in->words[1]) > 4)
        return refuse(in, "a number is needed", in->n > 1 ? in->words[1] : "");
    *out = atoi(in->words[1]);
    return *out <= most ? 1 : refuse(in, "too large", in->words[1]);
}

/* Everything but names. A `base` gives provinces only. */
static int read_lines(reader *in, const char *text, int base)
{
    int ok;
    for (in->at = text, in->line = 0; next_line(in, &ok);) {
        const char *word = in->words[0];
        int part = !strcmp(word, "part"), power = !strcmp(word, "power");
        if (part || kind_of(word) >= 0)
            ok = read_borders(in, part);
        else if (power)
            ok = base || add_power(in);
        else if (!strcmp(word, "year"))
            ok = read_count(in, 9999, &in->map->year);
        else if (!strcmp(word, "years"))
            ok = read_count(in, 250, &in->map->years);
        else if (!strcmp(word, "win"))
            ok = read_count(in, DIP_CENTRES, &in->map->win);
        else if (strcmp(word, "like"))
            ok = refuse(in, "unknown", word);
        if (!ok)
            return 0;
    }
    return ok;
}

/* ---- Distances ---- */

/* Steps from each location to the nearest of `from`, over `next`. */
static void measure(const sk_bits *next, int locations, sk_bits from, uint8_t *steps)
{
    memset(steps, DIP_NONE, (size_t)locations);
    sk_bits seen = 0;
    for (int step = 0; from; step++) {
        sk_bits further = 0;
        seen |= from;
        for (sk_bits left = from; left; left &= left - 1) {
            steps[lsb(left)] = (uint8_t)step;
            further |= next[lsb(left)];
        }
        from = further & ~seen;
    }
}

static void measure_all(dip_map *map)
{
    sk_bits both[DIP_PROVINCES];
    for (int p = 0; p < map->provinces; p++) {
        for (int c = 0; c <= map->split[p]; c++)
            map->sea_beside[p] |= map->near[map->coasts[p][c]] & map->seas;
        both[p] = map->army[p] | map->near[p];
        for (int c = 1; c <= map->split[p]; c++)
            both[p] |= map->near[map->coasts[p][c]];
    }
    for (int power = 0; power < map->powers; power++) {
        sk_bits provinces = 0, locations = 0;
        for (int l = 0; l < map->locations; l++)
            if (map->home[map->parent[l]] == power) {
                provinces |= bit(map->parent[l]);
                locations |= bit(l);
            }
        measure(both, map->provinces, provinces, map->army_distance[power]);
        measure(map->fleet, map->locations, locations, map->fleet_distance[power]);
    }
}

/* The text of the map that this one is like, the text itself where there is none; NULL: unknown. */
static const char *base_of(reader *in, const char *text)
{
    int ok;
    for (in->at = text, in->line = 0; next_line(in, &ok);)
        if (!strcmp(in->words[0], "like")) {
            const char *base = in->n == 2 ? dip_map_text(in->words[1]) : NULL;
            if (!base)
                refuse(in, "like needs the name of a map", in->n == 2 ? in->words[1] : "");
            return base;
        }
    return ok ? text : NULL;
}

int dip_read_map(dip_map *map, const char *text, char *error, size_t error_size)
{
    reader in = {.map = map, .error = error, .error_size = error_size};
    memset(map, 0, sizeof *map);
    map->year = 1901;
    map->years = 12;
    memset(map->start.from, DIP_NONE, sizeof map->start.from);
    const char *base = base_of(&in, text);
    if (!base)
        return 0;
    for (int coasts = 0; coasts < 2; coasts++) {
        if (!read_names(&in, base, coasts) || (base != text && !read_names(&in, text, coasts)))
            return 0;
    }
    if ((base != text && !read_lines(&in, base, 1)) || !read_lines(&in, text, 0)
        || !check_borders(&in))
        return 0;
    const char *missing = map->powers < 2 ? "fewer than two powers"
                          : !map->centres ? "no centre"
                          : !map->win     ? "no line like: win 18"
                          : !map->years   ? "a game of no years"
                                          : NULL;
    if (missing) {
        snprintf(error, error_size, "%s", missing);
        return 0;
    }
    measure_all(map);
    return 1;
}
