"""Waits until the gateway of the image answers, then checks that it runs as the image's user and asks clients for a key."""

import sys
import time
import urllib.error
import urllib.request
from pathlib import Path


def status(url):
    try:
        return urllib.request.urlopen(url, timeout=5).status
    except urllib.error.HTTPError as error:
        return error.code
    except urllib.error.URLError:
        return None


def main(port, process, user):
    address = f"http://127.0.0.1:{port}"
    for _ in range(300):
        if status(f"{address}/readyz") == 200:
            break
        time.sleep(0.1)
    else:
        sys.exit("the gateway does not answer")
    ids = dict(line.split(":", 1) for line in Path(f"/proc/{process}/status").read_text().splitlines())
    assert set(ids["Uid"].split()) == {user.split(":")[0]}, ids["Uid"]
    assert status(f"{address}/healthz") == 200
    assert status(f"{address}/mcp") == 401, "a client needs the key"


main(*sys.argv[1:])
