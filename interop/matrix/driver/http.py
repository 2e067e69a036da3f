"""HTTP/1.1 and event streams as bytes: what a connection carried, taken apart into the messages of JSON-RPC in it."""


def bodies(stream, responses):
    """(head, body) of each message in one direction of a connection. The last may be incomplete: a stream left open."""
    found = []
    while True:
        end = stream.find(b"\r\n\r\n")
        if end < 0:
            return found
        head, stream = stream[:end].decode("latin-1"), stream[end + 4 :]
        start, *lines = head.split("\r\n")
        headers = dict((name.strip().lower(), value.strip()) for name, _, value in (line.partition(":") for line in lines))
        body, stream = _body(start, headers, stream, responses)
        found.append((start, headers, body))


def _body(start, headers, stream, responses):
    if headers.get("transfer-encoding", "").lower() == "chunked":
        return _chunked(stream)
    if "content-length" in headers:
        length = int(headers["content-length"])
        return stream[:length], stream[length:]
    if responses and start.split(" ")[1] not in ("204", "304", "202", "100"):
        return stream, b""
    return b"", stream


def _chunked(stream):
    body = b""
    while True:
        line, separator, rest = stream.partition(b"\r\n")
        if not separator:
            return body, b""
        size = int(line.split(b";")[0], 16)
        body += rest[:size]
        stream = rest[size + 2 :]
        if size == 0:
            return body, stream


def messages(headers, body):
    """The JSON-RPC messages of a body, each as text."""
    kind = headers.get("content-type", "")
    if kind.startswith("text/event-stream"):
        return [data for event, data in events(body) if event in ("message", "") and data]
    if kind.startswith("application/json") and body.strip():
        return [body.decode("utf-8")]
    return []


def events(body):
    """(name, data) of each whole event of a stream."""
    found = []
    text = body.decode("utf-8", "surrogateescape").replace("\r\n", "\n").replace("\r", "\n")
    *whole, _rest = text.split("\n\n")
    for block in whole:
        name, data = "", []
        for line in block.split("\n"):
            field, _, value = line.partition(":")
            value = value[1:] if value.startswith(" ") else value
            if field == "event":
                name = value
            elif field == "data":
                data.append(value)
        found.append((name, "\n".join(data)))
    return found
