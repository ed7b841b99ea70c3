"""Search as a link of a player: between a blueprint and its post-processing."""
