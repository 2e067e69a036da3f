"""A PostgreSQL of its own for the run, in a folder that goes with it."""

import glob
import os
import pwd
import shutil
import subprocess
import tempfile
import time

from driver.gateway import PATIENCE, free_port


class Database:
    def __init__(self, logs):
        found = sorted(glob.glob("/usr/lib/postgresql/*/bin"))
        self._programs = found[-1] if found else os.path.dirname(shutil.which("initdb"))
        self._folder = tempfile.mkdtemp(prefix="gateways-pg-")
        self._port = free_port()
        if os.geteuid() == 0:
            shutil.chown(self._folder, "postgres", "postgres")
        data = f"{self._folder}/data"
        self._run("initdb", "--auth=trust", "--username=postgres", "--no-sync", "--encoding=UTF8", "--locale=C", "-D", data)
        self._server = subprocess.Popen(
            [*self._as_user(), f"{self._programs}/postgres", "-D", data, "-k", self._folder, "-p", str(self._port),
             "-c", "listen_addresses=127.0.0.1"],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=open(f"{logs}/postgres.log", "wb"),
            start_new_session=True,
        )
        end = time.monotonic() + PATIENCE
        while subprocess.run([f"{self._programs}/pg_isready", "-q", "-h", "127.0.0.1", "-p", str(self._port)]).returncode:
            if time.monotonic() > end:
                raise RuntimeError("PostgreSQL does not start")
            time.sleep(0.05)
        self._run("createdb", "-h", "127.0.0.1", "-p", str(self._port), "-U", "postgres", "log")
        self.url = f"postgres://postgres@127.0.0.1:{self._port}/log?sslmode=disable"

    def _as_user(self):
        # PostgreSQL refuses to run as root.
        if os.geteuid() != 0:
            return []
        user = pwd.getpwnam("postgres")
        return ["setpriv", f"--reuid={user.pw_uid}", f"--regid={user.pw_gid}", "--clear-groups"]

    def _run(self, program, *arguments):
        command = [*self._as_user(), f"{self._programs}/{program}", *arguments]
        subprocess.run(command, check=True, cwd=self._folder, stdout=subprocess.DEVNULL)

    def stop(self):
        self._server.send_signal(subprocess.signal.SIGINT)
        self._server.wait(PATIENCE)
        shutil.rmtree(self._folder, ignore_errors=True)
