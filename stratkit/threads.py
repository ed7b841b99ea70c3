"""In how many threads this process searches: networks evaluate blocks of views side by side, and
the engine shares trees and rollouts out. Results do not depend on it. Only commands say how many:
the cores belong to the process, whichever of its players thinks."""

from __future__ import annotations

from stratkit.arguments import Threads, checked

_threads = 1


@checked
def use_threads(threads: Threads) -> None:
    """Searches in so many threads from now on."""
    global _threads
    _threads = threads


def search_threads() -> int:
    """In how many threads this process searches."""
    return _threads
