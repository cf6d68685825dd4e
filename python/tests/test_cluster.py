"""Runs that machines share, by the clients that are there."""

import concurrent.futures
import os
import pathlib
import tempfile
import unittest

from support import BOOK, needs
import kir


def problem():
    return kir.Problem(BOOK, total=100, maximize="liking", rules=[kir.within_book()])


class Cluster(unittest.TestCase):
    def same_as_one(self, client, **settings):
        with tempfile.TemporaryDirectory() as folder:
            one = problem().sample(os.path.join(folder, "one"), progress=False, time="none" if not settings else None, **settings)
            p = problem()
            run = kir.cluster.run(p, client, os.path.join(folder, "run"), **settings)
            self.assertEqual(list(run.draws("records")), list(one.draws("records")))
            for key in ("best", "log_density", "inclusion", "search"):
                self.assertEqual(run.summary.get(key), one.summary.get(key), key)
            again = kir.cluster.run(pathlib.Path(folder) / "run-problem" / "problem.yaml", client, os.path.join(folder, "run"), **settings)
            self.assertEqual(again.summary["best"], run.summary["best"])

    def test_threads(self):
        with concurrent.futures.ThreadPoolExecutor(2) as client:
            self.same_as_one(client, chains=3, draws_per_chain=500, warmup=100, seed=4)

    def test_draws_auto(self):
        with concurrent.futures.ThreadPoolExecutor(2) as client:
            self.same_as_one(client)

    def test_functions_stay(self):
        p = kir.Problem(BOOK, total=100, objectives={"taste": lambda table: table["Gin"]})
        with self.assertRaisesRegex(kir.Error, "function of this process"):
            kir.cluster.run(p, None, "nowhere")

    def test_a_task_that_fails(self):
        class Failing:
            def submit(self, do, *args):
                future = concurrent.futures.Future()
                future.set_exception(OSError("the node is gone"))
                return future

        with tempfile.TemporaryDirectory() as folder, self.assertRaisesRegex(OSError, "the node is gone"):
            kir.cluster.run(problem(), Failing(), os.path.join(folder, "run"), chains=1, draws_per_chain=10, warmup=0)

    @needs("distributed")
    def test_dask(self):
        from distributed import Client, LocalCluster

        with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster, Client(cluster) as client:
            self.same_as_one(client, chains=3, draws_per_chain=500, warmup=100, seed=4)

    @needs("ray")
    def test_ray(self):
        import ray

        package = str(pathlib.Path(kir.__file__).parents[1])
        ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, runtime_env={"env_vars": {"PYTHONPATH": package}})
        try:
            self.same_as_one(ray, chains=3, draws_per_chain=500, warmup=100, seed=4)
        finally:
            ray.shutdown()
