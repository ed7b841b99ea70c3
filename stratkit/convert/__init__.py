"""Logs, records, episodes and positions into one another: what `fenfs` and `rate` share."""
