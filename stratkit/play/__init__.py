"""Seats players at batches of games; self-play and matches are two uses of it."""
