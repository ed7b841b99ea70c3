"""One browser for all pages."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from browser import Browser, executable


@pytest.fixture(scope="session")
def one_browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    if executable() is None:
        pytest.skip("there is no browser of Chromium's family on the PATH")
    browser = Browser(tmp_path_factory.mktemp("profile"))
    yield browser
    browser.close()


@pytest.fixture
def browser(one_browser: Browser) -> Browser:
    """On a large screen, whatever the test before has looked at."""
    one_browser.screen(1200)
    return one_browser
