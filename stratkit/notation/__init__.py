"""Stratego on paper: squares and moves, setups, FENfS, and the log files of Gravon."""
