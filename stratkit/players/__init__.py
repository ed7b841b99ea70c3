"""What can sit at a board."""
