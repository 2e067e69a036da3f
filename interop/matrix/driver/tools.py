"""The programs of a run."""

from pathlib import Path


class Tools:
    """Where everything is that was installed or built."""

    def __init__(self, work, binaries):
        self.work = Path(work)
        self.countersign = str(Path(binaries) / "countersign")
        self.fixture = str(Path(binaries) / "countersign-fixture")
        self.node = self.module("node/bin/node")

    def module(self, path):
        return str(self.work / "node_modules" / path)

    def script(self, name):
        return str(self.work / "python2" / "bin" / name)

    def python(self, major):
        return str(self.work / f"python{major}" / "bin" / "python")

    def client(self, name):
        return str(self.work / "clients" / name)

    def file(self, name):
        return str(self.work / name)
