"""A real browser without a window, steered through its debugging pipe."""

from __future__ import annotations

import base64
import json
import os
import pathlib
import select
import shutil
import subprocess
import time
from typing import Any

NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome", "chrome")
ARROWS = {"ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39, "ArrowDown": 40}  # numbers on Windows
PATIENCE = 120  # seconds; it answers within one, where there is nothing else to do


def executable() -> str | None:
    """Where a browser of Chromium's family is."""
    return next(filter(None, map(shutil.which, NAMES)), None)


class Browser:
    """One page in a browser of its own, which has no network and no profile.

    `requests` are the addresses that were asked for, `errors` what scripts failed with.
    """

    def __init__(self, profile: pathlib.Path) -> None:
        (read_command, self._to), (self._from, write_answer) = os.pipe(), os.pipe()
        self._process = subprocess.Popen(
            [
                str(executable()),
                *("--headless", "--no-sandbox", "--disable-gpu", "--remote-debugging-pipe"),
                *("--no-first-run", "--disable-background-networking", "--disable-sync"),
                "--window-size=1200,900",  # the board and the moves side by side
                *(
                    f"--user-data-dir={profile}",
                    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
                ),
            ],
            stderr=subprocess.DEVNULL,
            preexec_fn=lambda: (os.dup2(read_command, 3), os.dup2(write_answer, 4)),
            pass_fds=(3, 4),
        )
        os.close(read_command)
        os.close(write_answer)
        self._buffer, self._number, self._session = b"", 0, ""
        self.requests: list[str] = []
        self.errors: list[Any] = []
        self._loaded = 0
        target = self._call("Target.createTarget", url="about:blank")["targetId"]
        attached = self._call("Target.attachToTarget", targetId=target, flatten=True)
        self._session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Network"):
            self._call(f"{domain}.enable")

    def open(self, path: pathlib.Path, fragment: str = "") -> None:
        """Loads a file, and waits until it has; `fragment` goes on with its address: #40."""
        self.visit(path.as_uri() + fragment)

    def visit(self, address: str) -> None:
        """Loads what is at an address, and waits until it has."""
        before = self._loaded
        self._call("Page.navigate", url=address)
        while self._loaded == before:
            self._take(self._next())

    def forget(self) -> None:
        """Leaves the page, which may go on asking, and forgets requests and errors."""
        self.visit("about:blank")
        self.requests.clear()
        self.errors.clear()

    def screen(self, width: int, height: int = 900, dark: bool = False) -> None:
        """Shows pages at this size, in CSS pixels, to somebody who likes them light or dark."""
        size = {"width": width, "height": height}
        self._call("Emulation.setDeviceMetricsOverride", **size, deviceScaleFactor=1, mobile=False)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self._call("Emulation.setEmulatedMedia", features=[scheme])

    def picture(self, path: pathlib.Path) -> None:
        """Saves what is shown, the whole page, as a PNG."""
        shot = self._call("Page.captureScreenshot", captureBeyondViewport=True)
        path.write_bytes(base64.b64decode(shot["data"]))

    def evaluate(self, script: str) -> Any:
        """The value of an expression in the page; that of a promise, once there is one."""
        answer = self._call(
            "Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True
        )
        assert "exceptionDetails" not in answer, answer
        return answer["result"].get("value")

    def dashes_at_ends(self, element: str) -> int:
        """How many dashes between names are seen in this element at the end of a line."""
        return int(
            self.evaluate(f"""(() => {{
            const texts = document.createTreeWalker({element}, NodeFilter.SHOW_TEXT);
            let ends = 0;
            for (let node; (node = texts.nextNode());) {{
                const at = node.data.indexOf("–"), dash = document.createRange();
                if (at < 0) continue;
                dash.setStart(node, at);
                dash.setEnd(node, at + 1);
                const here = dash.getBoundingClientRect();
                const after = node.nextSibling || node.parentElement.nextElementSibling;
                ends += here.width > 0 && after.getBoundingClientRect().top >= here.bottom;
            }}
            return ends;
        }})()""")
        )

    def sideways(self) -> list[str]:
        """The first heads of tables that scroll sideways, those that are folded too."""
        return list(
            self.evaluate("""(() => {
            for (const fold of document.querySelectorAll("details")) fold.open = true;
            return [...document.querySelectorAll(".wide")]
                .filter(box => box.scrollWidth > box.clientWidth)
                .map(box => box.querySelector("th").textContent);
        })()""")
        )

    def unnamed(self) -> list[str]:
        """The roles of controls and pictures of which a screen reader can say nothing else."""
        nodes = self._call("Accessibility.getFullAXTree")["nodes"]
        roles = ("button", "link", "slider", "checkbox", "textbox", "combobox", "radio", "image")
        named = [
            (node["role"]["value"], node.get("name", {}).get("value", "").strip())
            for node in nodes
            if not node["ignored"]
        ]
        return [role for role, name in named if role in roles and not name]

    def takes(self, key: str, element: str = "document.body") -> bool:
        """Whether the page uses this key with Alt itself, which is meant for the browser."""
        how = {"key": key, "altKey": True, "bubbles": True, "cancelable": True}
        event = f"new KeyboardEvent('keydown', {json.dumps(how)})"
        return not self.evaluate(f"{element}.dispatchEvent({event})")

    def press(self, key: str, code: int, shift: bool = False) -> None:
        """Presses a key and lets it go, with Shift or not; `code` is its number on Windows."""
        event = {"key": key, "code": key, "windowsVirtualKeyCode": code, "modifiers": 8 * shift}
        text = {"text": "\r"} if key == "Enter" else {}  # which is what presses a button
        self._call("Input.dispatchKeyEvent", type="keyDown", **event, **text)
        self._call("Input.dispatchKeyEvent", type="keyUp", **event)

    def tab_to(self, element: str, shift: bool = False) -> None:
        """Presses Tab until the focus is on the element that this script names."""
        for _ in range(60):
            if self.evaluate(f"document.activeElement === {element}"):
                return
            self.press("Tab", 9, shift)
        raise AssertionError(f"Tab does not reach {element}")

    def walk_to(self, square: int) -> None:
        """Presses arrows until the focus, which is on a board, is on this square."""
        way = f"""(() => {{
            const here = board.squares.indexOf(document.activeElement), {{width}} = board;
            if (here < 0) throw new Error("the focus is not on the board");
            const file = at => at % width, rank = at => Math.floor(at / width);
            const turn = board.below === "blue" ? -1 : 1;
            const right = turn * (file({square}) - file(here));
            const up = turn * (rank({square}) - rank(here));
            if (right) return right > 0 ? "ArrowRight" : "ArrowLeft";
            return up > 0 ? "ArrowUp" : up < 0 ? "ArrowDown" : "";
        }})()"""
        while key := self.evaluate(way):
            self.press(key, ARROWS[key])

    def click(self, element: str) -> None:
        """Clicks with the mouse into the middle of the element with this id.

        It waits until the element has stayed where it is for two frames, with nothing before it.
        """
        place = self.evaluate(f"""(async () => {{
            const e = document.getElementById({json.dumps(element)});
            const frame = () => new Promise(requestAnimationFrame);
            const end = performance.now() + {PATIENCE * 1000};
            for (let still = 0, was = ""; performance.now() < end; await frame()) {{
                e.scrollIntoView();
                const box = e.getBoundingClientRect();
                const place = [box.x + box.width / 2, box.y + box.height / 2];
                still = String(place) === was && e.contains(document.elementFromPoint(...place))
                    ? still + 1 : 0;
                if (still === 2) return place;
                was = String(place);
            }}
            throw new Error("{element} cannot be clicked");
        }})()""")
        self.mouse("Pressed", *place)
        self.mouse("Released", *place)

    def mouse(self, what: str, x: float, y: float) -> None:
        """The mouse, with its left button, has `Moved` to a place, or is `Pressed` or `Released`
        there."""
        place = {"x": x, "y": y, "button": "left", "clickCount": int(what != "Moved"), "buttons": 1}
        self._call("Input.dispatchMouseEvent", type=f"mouse{what}", **place)

    def touch(self, what: str, *places: tuple[float, float]) -> None:
        """Fingers: `Start`, `Move` or `End` with those that are on the screen."""
        points = [{"x": x, "y": y} for x, y in places]
        self._call("Input.dispatchTouchEvent", type=f"touch{what}", touchPoints=points)

    def close(self) -> None:
        self._process.terminate()
        self._process.wait(PATIENCE)
        os.close(self._to)
        os.close(self._from)

    def _call(self, method: str, **params: Any) -> Any:
        self._number += 1
        command = {"id": self._number, "method": method, "params": params}
        if self._session:
            command["sessionId"] = self._session
        os.write(self._to, json.dumps(command).encode() + b"\0")
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            message = self._next()
            if message.get("id") == self._number:
                assert "error" not in message, message
                return message["result"]
            self._take(message)
        raise TimeoutError(method)

    def _next(self) -> Any:
        while b"\0" not in self._buffer:
            readable, _, _ = select.select([self._from], [], [], 2 * PATIENCE)
            assert readable, "the browser does not answer"
            more = os.read(self._from, 1 << 16)
            assert more, "the browser went away"
            self._buffer += more
        message, _, self._buffer = self._buffer.partition(b"\0")
        return json.loads(message)

    def _take(self, event: Any) -> None:
        method = event.get("method")
        if method == "Network.requestWillBeSent":
            self.requests.append(event["params"]["request"]["url"])
        elif method == "Runtime.exceptionThrown":
            self.errors.append(event["params"])
        elif method == "Page.loadEventFired":
            self._loaded += 1
