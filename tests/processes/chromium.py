"""Drives a headless Chromium with real layout and real keys, over pipes in the DevTools protocol."""

from __future__ import annotations

import json
import os
import select
import shutil
import subprocess
import time
from pathlib import Path
from typing import Any

FLAGS = ("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync",
         "--disable-background-networking", "--disable-component-update", "--disable-dev-shm-usage",
         "--remote-debugging-pipe", "--hide-scrollbars")  # fmt: skip
NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
KEYS = {
    "Tab": 9, "Enter": 13, "Escape": 27, "End": 35, "ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39, "ArrowDown": 40,
}  # fmt: skip
PATIENCE = 60  # seconds for one answer


def find() -> str:
    path = next((found for name in NAMES if (found := shutil.which(name))), None)
    if path is None:
        raise RuntimeError(
            f"the conformance page is tested in a real browser, and none of {', '.join(NAMES)} is on the PATH: "
            "install one (Debian, Ubuntu: apt-get install chromium)"
        )
    return path


class Chromium:
    """A browser with one page.

    Attributes:
        complaints: What the page's script threw or wrote to the console, and what the page asked of a network.
    """

    def __init__(self, profile: Path) -> None:
        to_browser, self._write = os.pipe()
        self._read, from_browser = os.pipe()
        # The browser reads commands from descriptor 3 and answers on descriptor 4.
        line = f'exec "$@" 3<&{to_browser} 4>&{from_browser}'
        command = ["bash", "-c", line, "bash", find(), *FLAGS, f"--user-data-dir={profile}", "about:blank"]
        self._process = subprocess.Popen(
            command, pass_fds=(to_browser, from_browser), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        os.close(to_browser)
        os.close(from_browser)
        self._pending, self._last, self._target = b"", 0, None
        self._loaded = 0
        self.complaints: list[str] = []
        pages = self._call("Target.getTargets")["targetInfos"]
        page = next(info["targetId"] for info in pages if info["type"] == "page")
        self._target = self._call("Target.attachToTarget", targetId=page, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self._call(f"{domain}.enable")

    def __enter__(self) -> Chromium:
        return self

    def __exit__(self, *error: object) -> None:
        self._target = None
        try:
            self._call("Browser.close")
            self._process.wait(PATIENCE)
        finally:
            self._process.kill()
            self._process.wait()
            os.close(self._write)
            os.close(self._read)

    def _call(self, method: str, **parameters: Any) -> dict[str, Any]:
        self._last += 1
        message: dict[str, Any] = {"id": self._last, "method": method, "params": parameters}
        if self._target:
            message["sessionId"] = self._target
        os.write(self._write, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._next()
            if answer.get("id") == self._last:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']['message']}")
                return answer["result"]
            self._event(answer)

    def _next(self) -> dict[str, Any]:
        while b"\0" not in self._pending:
            if not select.select([self._read], [], [], PATIENCE)[0]:
                raise RuntimeError(f"the browser has not answered for {PATIENCE} s")
            chunk = os.read(self._read, 1 << 16)
            if not chunk:
                raise RuntimeError(f"the browser ended with {self._process.wait()}")
            self._pending += chunk
        line, self._pending = self._pending.split(b"\0", 1)
        return json.loads(line)

    def _event(self, event: dict[str, Any]) -> None:
        name, what = event.get("method"), event.get("params", {})
        if name == "Page.loadEventFired":
            self._loaded += 1
        elif name == "Runtime.exceptionThrown":
            self.complaints.append(str(what["exceptionDetails"]))
        elif name in ("Runtime.consoleAPICalled", "Log.entryAdded"):
            self.complaints.append(str(what))
        elif name == "Network.requestWillBeSent" and not what["request"]["url"].startswith(("file:", "data:")):
            self.complaints.append(f"asked for {what['request']['url']}")

    def look(self, width: int, height: int, dark: bool = False) -> None:
        self._call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self._call("Emulation.setEmulatedMedia", features=[scheme])

    def open(self, path: Path) -> None:
        before = self._loaded
        self._call("Page.navigate", url=path.resolve().as_uri())
        end = time.monotonic() + PATIENCE
        while self._loaded == before and time.monotonic() < end:
            self._event(self._next())

    def evaluate(self, script: str) -> Any:
        answer = self._call("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(str(answer["exceptionDetails"]))
        return answer["result"].get("value")

    def press(self, key: str) -> None:
        about = {"key": key, "code": key, "windowsVirtualKeyCode": KEYS[key]}
        text = {"text": "\r"} if key == "Enter" else {}
        self._call("Input.dispatchKeyEvent", type="keyDown" if text else "rawKeyDown", **about, **text)
        self._call("Input.dispatchKeyEvent", type="keyUp", **about)
