"""64 chains by eight workers of Dask, each killed twice, beside one process.

    python3 examples/scale/test-dask.py [PROBLEM]
    examples/scale/with-s3.sh python3 examples/scale/test-dask.py [PROBLEM]     # the runs in a bucket

needs Dask, and kir in the PATH or in KIR. One run finds its length itself, and one has a number of draws.
"""

from __future__ import annotations

import os
import pathlib
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
from typing import Any

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "python"))
os.environ["PYTHONPATH"] = sys.path[0]

import dask
import kir
from distributed import Client, LocalCluster

WORKERS = 8
RUNS: dict[str, dict[str, Any]] = {
    "auto": {"chains": 64, "effort": 0.2},
    "fixed": {"chains": 64, "effort": 0.2, "draws_per_chain": 20_000, "warmup": 20_000},
}
COMPARE = pathlib.Path(__file__).with_name("compare.sh")


class Killer(threading.Thread):
    """Kills each worker of a cluster twice, while it does a task if it does one within five seconds."""

    def __init__(self, cluster: LocalCluster):
        super().__init__(daemon=True)
        self.cluster = cluster
        self.killed = self.in_task = 0
        self.over = threading.Event()

    def run(self) -> None:
        """Kill the workers in turn, until the run is over."""
        for _ in range(2):
            for name in range(WORKERS):
                begun = time.monotonic()
                while not self.over.wait(random.uniform(0.3, 2)):
                    nanny = self.cluster.workers[name]
                    pid = nanny.process.pid if nanny.process else None
                    if pid and (tasks_of(pid) or time.monotonic() > begun + 5) and self.kill(pid):
                        break

    def kill(self, pid: int) -> bool:
        """Kill a worker with the processes of kir that it has started."""
        if not signalled(pid, signal.SIGSTOP):  # it starts no others
            return False
        tasks = tasks_of(pid)
        for one in [pid, *tasks]:
            signalled(one, signal.SIGKILL)
        self.killed += 1
        self.in_task += bool(tasks)
        return True


def signalled(pid: int, number: signal.Signals) -> bool:
    """Send a signal to a process, and return whether it was there."""
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        return False
    return True


def tasks_of(pid: int) -> list[int]:
    """Return the processes that a worker has started and that do a task."""
    found = []
    for task in pathlib.Path(f"/proc/{pid}/task").glob("*/children"):
        try:
            found += [int(c) for c in task.read_text().split() if b"--run" in pathlib.Path(f"/proc/{c}/cmdline").read_bytes()]
        except OSError:  # one of them has ended
            pass
    return found


def main() -> None:
    """Compare each run with that of one process."""
    dask.config.set({"distributed.deploy.lost-worker-timeout": "1h"})  # else a worker that starts slowly is given up
    problem = sys.argv[1] if len(sys.argv) > 1 else "examples/cocktails/problem.yaml"
    endpoint = os.environ.get("S3_ENDPOINT")
    for name, settings in RUNS.items():
        with tempfile.TemporaryDirectory() as folder:
            out = f"s3://bucket/dask/{name}?endpoint={endpoint}&region=us-east-1" if endpoint else os.path.join(folder, "run")
            one = os.path.join(folder, "one")
            # A worker that is killed is started again by its nanny, and its tasks go to others.
            with LocalCluster(n_workers=WORKERS, threads_per_worker=1, dashboard_address=None) as cluster, Client(cluster) as client:
                killer = Killer(cluster)
                begun = time.monotonic()
                killer.start()
                kir.cluster.run(problem, client, out, retries=20, **settings)
                took = time.monotonic() - begun
                killer.over.set()
                killer.join()
            kir.Problem.load(problem).sample(one, time="none", progress=False, **settings)
            subprocess.run([COMPARE, out, one], check=True)
            print(f"{name}: {killer.killed} workers were killed in {took:.0f} s, {killer.in_task} of them in a task; "
                  f"draws and summary of {out} are those of one process.", flush=True)
            if killer.killed < 2 * WORKERS:
                sys.exit("the run was over too soon")


if __name__ == "__main__":
    main()
