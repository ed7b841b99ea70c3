"""Analysis of games: what a player thinks of each ply, and what the largest mistakes were."""
