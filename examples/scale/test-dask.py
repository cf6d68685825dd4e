"""64 chains by eight workers of Dask, each killed twice, beside one process.

    python3 examples/scale/test-dask.py [PROBLEM [OUT [SETTINGS...]]]

needs Dask, this package and kir in the PATH or in KIR. OUT is a directory, or s3://bucket/prefix.
"""

import os
import pathlib
import signal
import sys
import tempfile
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "python"))
os.environ["PYTHONPATH"] = sys.path[0]

import kir
from distributed import Client, LocalCluster

SETTINGS = {"chains": 64, "draws_per_chain": 20_000, "warmup": 20_000, "effort": 0.2}


def kill_with_children(pid: int) -> int:
    """Kill a worker and the processes of kir that it has started."""
    for one in [pid, *(int(c) for task in pathlib.Path(f"/proc/{pid}/task").glob("*/children") for c in task.read_text().split())]:
        try:
            os.kill(one, signal.SIGKILL)
        except ProcessLookupError:
            pass
    return pid


def main() -> None:
    """Compare the draws and the figures of the two runs."""
    problem = sys.argv[1] if len(sys.argv) > 1 else "examples/cocktails/problem.yaml"
    with tempfile.TemporaryDirectory() as folder:
        out = sys.argv[2] if len(sys.argv) > 2 else os.path.join(folder, "run")
        killed: list[int] = []
        over = threading.Event()
        # A worker that is killed is started again by its nanny, and its tasks go to others.
        with LocalCluster(n_workers=8, threads_per_worker=1, dashboard_address=None) as cluster, Client(cluster) as client:

            def kill() -> None:
                for _ in range(2):
                    for index in range(8):
                        if over.wait(1.5):
                            return
                        pids = sorted(client.run(os.getpid).values())
                        killed.append(kill_with_children(pids[index % len(pids)]))

            killer = threading.Thread(target=kill)
            begun = time.monotonic()
            killer.start()
            run = kir.cluster.run(problem, client, out, retries=20, **SETTINGS)
            took = time.monotonic() - begun
            over.set()
            killer.join()
        one = kir.Problem.load(problem).sample(os.path.join(folder, "one"), progress=False, **SETTINGS)
        if list(run.draws("records")) != list(one.draws("records")):
            sys.exit("the draws are others")
        strange = [key for key in one.summary if key not in ("parts", "timing", "files", "again", "checksum") and one.summary[key] != run.summary[key]]
        if strange:
            sys.exit(f"the figures are others: {strange}")
        print(f"{len(killed)} workers were killed in {took:.0f} s; draws and figures are those of one process.")


if __name__ == "__main__":
    main()
