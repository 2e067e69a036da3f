"""Clients that listen for news through a proxy, and come back when their stream ends."""

import http.client
import threading

from driver.gateway import PATIENCE

from .checks import open_session
from .gateway import HEADERS, wait_until


class Streams:
    """Streams that are open until they are stopped. Remembers which could not be opened."""

    def __init__(self, port, count=20):
        self.failed = []
        self._port, self._stop, self._open = port, threading.Event(), {}
        self._threads = [threading.Thread(target=self._run, args=(number,), daemon=True) for number in range(count)]
        for thread in self._threads:
            thread.start()
        wait_until(lambda: len(self._open) == count or self.failed, "every stream is open")

    def _run(self, number):
        while not self._stop.is_set():
            try:
                self._listen(number)
            except (OSError, http.client.HTTPException, RuntimeError) as error:
                if not self._stop.is_set():
                    self.failed.append(f"a stream could not be opened: {error!r}")
                    return

    def _listen(self, number):
        connection = http.client.HTTPConnection("127.0.0.1", self._port, timeout=PATIENCE)
        headers = {**HEADERS, **open_session(self._port), "Accept": "text/event-stream"}
        connection.request("GET", "/mcp/s/shared", headers=headers)
        response = connection.getresponse()
        if response.status != 200:
            raise RuntimeError(f"a stream is answered with {response.status}")
        self._open[number] = True
        # The end of a stream is no failure: its gateway stops. One that is cut off is.
        while response.read1(1000) and not self._stop.is_set():
            pass
        connection.close()

    def stop(self):
        """Lets the streams end by themselves, which they do with the next comment or with the run."""
        self._stop.set()
