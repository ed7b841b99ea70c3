/* The list of games. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "games.h"
#include "stratego.h"

/* The variants of Stratego come before these. To add a game, write its table (game.h) and a row
 * here. */
static const struct {
    const char *name; /* with a colon at the end if the game has a parameter */
    sk_opener *open;
} small_games[] = {
    {"kuhn", sk_open_kuhn},
    {"leduc", sk_open_leduc},
    {"leduc:", sk_open_leduc},
    {"liars_dice:", sk_open_liars_dice},
    {"hex:", sk_open_hex},
    {"dark_hex:", sk_open_dark_hex},
    {"phantom_ttt", sk_open_phantom_ttt},
    {"phantom_ttt:", sk_open_phantom_ttt},
    {"matrix:", sk_open_matrix},
    {"moves:", sk_open_moves},
    {"diplomacy:", sk_open_diplomacy},
};

static int32_t variants(void)
{
    int32_t n = 0;
    while (stratego_variant_row(n))
        n++;
    return n;
}

int32_t sk_games(void) { return variants() + (int32_t)(sizeof small_games / sizeof *small_games); }

const char *sk_game_name(int32_t index)
{
    if (index < 0 || index >= sk_games())
        return NULL;
    return index < variants() ? stratego_variant_row(index)->name
                              : small_games[index - variants()].name;
}

sk_game *sk_game_open(const char *name, const char *rules, char *error, size_t error_size)
{
    const char *colon = strchr(name, ':');
    size_t length = colon ? (size_t)(colon - name) + 1 : strlen(name);
    if (stratego_variant_named(name, strcspn(name, ":")))
        return stratego_open(name, rules, error, error_size);
    for (size_t i = 0; i < sizeof small_games / sizeof *small_games; i++)
        if (strlen(small_games[i].name) == length
            && strncmp(small_games[i].name, name, length) == 0)
            return small_games[i].open(colon ? colon + 1 : NULL, rules, error, error_size);
    snprintf(error, error_size, colon ? "this game has no parameter" : "unknown game");
    return NULL;
}

void sk_game_close(sk_game *game) { free(game); }

void sk_game_describe(const sk_game *game, sk_description *out) { *out = game->is; }

void sk_game_rules(const sk_game *game, char *out, size_t size)
{
    game->ops->rules(game, out, size);
}

const char *sk_game_ending(const sk_game *game, int32_t code)
{
    for (int32_t i = 0; i <= code; i++)
        if (!game->endings[i])
            return NULL;
    return code < 0 ? NULL : game->endings[code];
}

void sk_expand(const sk_game *game, const uint8_t *packed, int64_t n, float *out)
{
    size_t squares = game->is.height ? (size_t)game->is.height * (size_t)game->is.width : 1;
    size_t plane_set = (size_t)game->is.planes * squares;
    for (int64_t i = 0; i < n; i++)
        game->ops->expand(game, packed + (size_t)i * (size_t)game->is.observation_bytes,
                          out + (size_t)i * plane_set);
}

/* The build defines it as the hash of all sources. */
const char *sk_source_hash(void) { return SK_SOURCE_HASH; }
