/* Liar's Dice: hands and bids (liars_dice.c). */
#ifndef SK_LIARS_DICE_H
#define SK_LIARS_DICE_H

#include "small.h"

enum { MOST_FACES = SK_MOST_ACTIONS / 2, MOST_BIDS = SK_MOST_ACTIONS - 1 };

typedef struct {
    sk_game base;
    int dice, faces, bids, hands;
    uint8_t counts[SK_MOST_ACTIONS][MOST_FACES]; /* how many dice of each face make up each hand */
    double probability[SK_MOST_ACTIONS];         /* of each hand */
} liars_dice;

/* Is it this game? */
int sk_is_liars_dice(const sk_game *game);
/* Do two hands together show what the bid says? */
int sk_bid_is_true(const liars_dice *game, int bid, int hand, int other);

#endif
