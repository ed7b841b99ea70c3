"""Seats players at batches of games; self-play and matches are two uses of it."""

MAX_SLOTS = 1 << 16  # games at a time
