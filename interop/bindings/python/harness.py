"""Runs the tests of one file: every coroutine or function whose name begins with `test_`. The servers are real
processes; a test has a limit, so that a lost answer is a failure and not a hang."""

import asyncio
import contextlib
import inspect
import pathlib
import subprocess
import sys
import traceback

SERVER = str(pathlib.Path(__file__).parent.parent / "server.py")
SECRET = "PAYLOAD-THAT-NO-MODEL-MAY-READ"
SECONDS = 180
STRICT = {"output_validation": {"mode": "strict"}}


@contextlib.contextmanager
def http_server():
    """The address of a server over HTTP, without the path."""
    process = subprocess.Popen([sys.executable, SERVER, "http"], stdout=subprocess.PIPE, text=True)
    try:
        yield f"http://127.0.0.1:{int(process.stdout.readline())}"
    finally:
        process.kill()
        process.wait()


def check_blocked(received):
    """What a model receives of `bad`."""
    text = str(received)
    assert SECRET not in text, text
    assert "output schema validation failed: type at /n: expected integer, got string" in text, text


def check_good(received):
    text = str(received)
    assert "41" in text and "failed" not in text, text


def check_token(received):
    text = str(received)
    assert "im_start" not in text and "(removed: control token)" in text, text


def main(module):
    passed, failed = 0, 0
    tests = {name: value for name, value in vars(module).items() if name.startswith("test_")}
    for name, test in tests.items():
        try:
            if inspect.iscoroutinefunction(test):
                asyncio.run(asyncio.wait_for(test(), SECONDS))
            else:
                test()
            passed += 1
        except Exception:
            failed += 1
            print(f"FAILED {module.__file__}::{name}")
            traceback.print_exc()
    print(f"{pathlib.Path(module.__file__).name}: {passed} passed, {failed} failed")
    sys.exit(1 if failed or not passed else 0)
