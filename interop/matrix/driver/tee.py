"""What went over the wire between a client and the gateway: a listener that copies bytes both ways, and a pipe that does."""

import asyncio
import json
from pathlib import Path

from . import spans
from .http import bodies, messages

# A child of a client that keeps what passes, one pair of files a process. `tee` does not hold bytes back.
PIPE = 'tee "$0/$$.in" | "$@" | tee "$0/$$.out"'


class Wire:
    """The requests of a client and the answers to them, in order."""

    def __init__(self):
        self._exchanges = []

    def add(self, requests, answers):
        """The messages of one connection, each as text."""
        asked = {}
        for text in requests:
            said = spans.members(text)
            if "id" in said and "method" in said:
                exchange = [json.loads(said["method"]), json.loads(said["id"]), None, said.get("params", "{}")]
                self._exchanges.append(exchange)
                asked[said["id"]] = exchange
        for text in answers:
            said = spans.members(text)
            if said.get("id") in asked and "method" not in said:
                asked[said["id"]][2] = said

    def answers(self, method):
        """What was answered to each request of this kind, in the order of their ids; None where nothing was.

        A client may use several connections at once, so the order of the bytes says nothing."""
        found = [(number, said) for asked, number, said, _params in self._exchanges if asked == method]
        return [said for _, said in sorted(found, key=lambda pair: pair[0])]

    def capabilities(self):
        """What a legacy client says it can be asked."""
        greetings = [params for asked, _number, _said, params in self._exchanges if asked == "initialize"]
        return json.loads(greetings[0])["capabilities"] if greetings else {}


class Listener:
    """Stands before the gateway at a port of its own."""

    def __init__(self, host, port):
        self._to = (host, port)
        self._connections = []

    async def __aenter__(self):
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", 0)
        self.address = "http://127.0.0.1:%d" % self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *_):
        self._server.close()

    async def _accept(self, reader, writer):
        kept = (bytearray(), bytearray())
        self._connections.append(kept)
        onward_reader, onward_writer = await asyncio.open_connection(*self._to)
        await asyncio.gather(
            _copy(reader, onward_writer, kept[0]),
            _copy(onward_reader, writer, kept[1]),
        )

    def wire(self):
        # A client may use several connections; an answer is on the one its request was on.
        wire = Wire()
        for requests, answers in self._connections:
            wire.add(_messages(bytes(requests), False), _messages(bytes(answers), True))
        return wire


async def _copy(reader, writer, kept):
    try:
        while data := await reader.read(65536):
            kept.extend(data)
            writer.write(data)
            await writer.drain()
    except ConnectionError:
        pass
    writer.close()


def _messages(stream, responses):
    found = bodies(stream, responses)
    return [text for _start, headers, body in found for text in messages(headers, body)]


def piped(folder, command):
    """(command, arguments) that runs the command and keeps what passes in the folder."""
    Path(folder).mkdir(parents=True)
    return "/bin/sh", ["-c", PIPE, str(folder), *command]


def wire_of_pipes(folder):
    wire = Wire()
    for requests in sorted(Path(folder).glob("*.in")):
        lines = [_lines(requests), _lines(requests.with_suffix(".out"))]
        wire.add(*lines)
    return wire


def _lines(path):
    return [line for line in path.read_text(encoding="utf-8").split("\n") if line.strip()]
