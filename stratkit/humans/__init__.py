"""A person at a board: terminal and page, what was seen, what was said, going on."""
