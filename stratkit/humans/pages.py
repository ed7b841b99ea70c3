"""The pages of a match: one for each person, and one for those who watch."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

from stratkit.humans.browser import LEAVE, REMATCH, Browser
from stratkit.humans.page_server import HOST, PageServer
from stratkit.humans.spectators import Spectators, Watched

DRAIN_S = 5.0  # seconds that a page has to fetch how the match ended
POLL_S = 0.05  # between two looks at what the pages have


class Pages:
    """Serves one person, whose page's address is written, or two, who are invited. `matches`: of
    each person, what its page is about. `write` is called when there is something to see."""

    def __init__(
        self,
        names: Sequence[str],
        matches: Sequence[dict[str, Any]],
        watched: dict[str, Any] | None,
        write: Callable[[str], None],
    ) -> None:
        self.names, self._write = names, write
        self.people = [Browser(match, self._begin) for match in matches]
        self.spectators = None if watched is None else Spectators(watched)
        self._server: PageServer | None = None
        self._lines = ""

    @property
    def fronts(self) -> list[Browser | Watched]:
        """The front end of each person."""
        watched = self.spectators
        return [page if watched is None else Watched(page, watched) for page in self.people]

    def open(self, port: int, host: str | None) -> None:
        """Serves the pages. `InputError`: not there."""
        self._server = server = PageServer(port, host or HOST)
        if len(self.people) == 1:
            lines = [server.add(self.people[0])]
        else:
            invited = zip(self.names, self.people, strict=True)
            lines = [f"{name}: {server.invite(page, name)}" for name, page in invited]
        if self.spectators is not None:
            lines.append(f"to watch: {server.add(self.spectators, stays=False)}")
        self._lines = "".join(f"{line}\n" for line in lines)

    def _begin(self) -> None:
        """There is something to see."""
        if self._lines:
            lines, self._lines = self._lines, ""
            self._write(lines)

    def again(self, games: int) -> bool:
        """Whether all people want a rematch, after which the match has so many games. Waits until
        they have said it, or one of them has gone. Ctrl-C is no: the match is over."""
        for page in self.people:
            page.offer_rematch()
        try:
            wanted = self._is_wanted()
        except KeyboardInterrupt:
            return False
        if wanted:
            for page in self.people:
                page.begin_rematch(games)
        return wanted

    def _is_wanted(self) -> bool:
        while True:
            answers = [page.answer for page in self.people]
            if LEAVE in answers:
                return False
            if all(answer == REMATCH for answer in answers):
                return True
            for at, page in enumerate(self.people):
                others = answers[:at] + answers[at + 1 :]
                if answers[at] == REMATCH:
                    page.show_rematch("mine")
                elif REMATCH in others:
                    page.show_rematch("theirs")
            time.sleep(POLL_S)

    def close(self, failed: bool) -> None:
        """Tells the pages that the match is over (or was left, or has `failed`), and ends them."""
        left = any(page.left for page in self.people)
        pages = [*self.people, *([self.spectators] if self.spectators else [])]
        for page in pages:
            page.finish("stopped" if failed else "left" if left else "over")
        deadline = time.monotonic() + DRAIN_S
        while time.monotonic() < deadline and any(
            page.is_open() and not page.is_delivered() for page in pages
        ):
            time.sleep(POLL_S)
        assert self._server is not None
        self._server.close()
