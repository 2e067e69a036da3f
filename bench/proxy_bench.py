"""The parts of the proxy bench as processes, for the scripts beside this file. `bench` is its binary, which
`cargo bench -p countersign-gateway --bench proxy --no-run` builds and names."""

import subprocess

CONNECTIONS = 16


class Process:
    """A part of the bench: it prints its address, and what it has used whenever it is sent a line."""

    def __init__(self, *command, stderr=None):
        self.child = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=stderr, text=True)
        self.address = self.child.stdout.readline().strip()

    def cpu_micros(self):
        self.child.stdin.write("\n")
        self.child.stdin.flush()
        return int(self.child.stdout.readline().split()[0]) / 1000


def load(bench, process, era, tool, calls):
    command = [bench, "--load", process.address, era, tool, str(CONNECTIONS), str(calls)]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
