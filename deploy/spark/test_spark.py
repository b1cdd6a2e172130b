"""Tests the Spark jobs in local-cluster mode, with executors in separate
processes: `make spark-test`. Needs pyspark and Java; takes a few minutes."""

import csv
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

try:
    import pyspark
except ImportError:
    pyspark = None

HERE = os.path.dirname(os.path.abspath(__file__))
BINARY = os.path.abspath(os.environ.get("SPARK_TEST_BINARY") or os.path.join(HERE, "..", "..", "bin", "pipeline"))


def pipeline(*words):
    done = subprocess.run([BINARY, *words], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode not in (0, 3):
        raise AssertionError("pipeline %s: exit code %d\n%s" % (" ".join(words), done.returncode, done.stdout))


def rows_of(folder):
    """Returns the rows of a Parquet data set, in the order of its files."""
    import pyarrow.parquet as pq

    rows = []
    for name in sorted(os.listdir(folder)):
        if name.endswith(".parquet"):
            rows += pq.read_table(os.path.join(folder, name)).to_pylist()
    return rows


def descendants(pid):
    """Returns the descendants of a process, from /proc, as (pid, command line)."""
    parents, lines = {}, {}
    for entry in os.listdir("/proc"):
        if not entry.isdigit():
            continue
        try:
            with open("/proc/%s/stat" % entry) as f:
                parents[int(entry)] = int(f.read().rsplit(")", 1)[1].split()[1])
            with open("/proc/%s/cmdline" % entry, "rb") as f:
                lines[int(entry)] = f.read().replace(b"\0", b" ").decode(errors="replace")
        except OSError:
            continue
    below = {pid}
    while True:
        more = {p for p, parent in parents.items() if parent in below} - below
        if not more:
            return [(p, lines.get(p, "")) for p in below - {pid}]
        below |= more


@unittest.skipIf(pyspark is None, "pyspark is missing: pip install pyspark pyarrow")
@unittest.skipIf(shutil.which("java") is None, "java is missing")
@unittest.skipUnless(os.path.exists(BINARY), "bin/pipeline is missing: make build")
class SparkTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.demo = cls.path("demo")
        pipeline("demo", "--out", cls.demo, "--cache", cls.path("cache"))
        cls.images = os.path.join(cls.demo, "images")
        cls.model = os.path.join(cls.demo, "demo.model")
        with open(os.path.join(cls.images, "photos", "broken, \"bad\".jpg"), "w") as f:
            f.write("not an image")
        pipeline("label", cls.model, "--images", os.path.join(cls.images, "photos"), "--out", cls.path("one"),
                 "--cache", cls.path("cache"), "--format", "csv,parquet")

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    @classmethod
    def path(cls, *names):
        return os.path.join(cls.folder.name, *names)

    def submit(self, script, *words, executors=2, during=None):
        """Runs a job as spark-submit does, each executor with one core."""
        env = dict(os.environ, SPARK_HOME=os.path.dirname(pyspark.__file__), PYSPARK_PYTHON=sys.executable,
                   SPARK_LOCAL_IP="127.0.0.1")
        line = [
            os.path.join(env["SPARK_HOME"], "bin", "spark-submit"), "--master", "local-cluster[%d,1,1024]" % executors,
            "--conf", "spark.ui.enabled=false", "--conf", "spark.executor.memory=512m",
            "--conf", "spark.driver.memory=512m",
            "--conf", "spark.task.maxFailures=8", "--conf", "spark.driver.host=127.0.0.1",
            "--conf", "spark.local.dir=" + self.path("spark"),
            "--py-files", os.path.join(HERE, "pipeline_spark.py"), os.path.join(HERE, script), *words,
            "--binary", BINARY,
        ]
        with open(self.path("log"), "w+") as log:
            job = subprocess.Popen(line, env=env, cwd=self.path(), stdout=log, stderr=subprocess.STDOUT)
            if during:
                during(job)
            code = job.wait(timeout=600)
            log.seek(0)
            text = log.read()
        self.assertEqual(code, 0, text[-4000:])
        return text

    def label(self, out, *words, **options):
        return self.submit("label.py", "--images", os.path.join(self.images, "photos"), "--model", self.model,
                           "--out", self.path(out), *words, **options)

    def check_labels(self, out):
        """Checks that the rows equal those of one machine, to the last digit, once each."""
        got = rows_of(self.path(out))
        labelled = [r for r in got if r["error"] is None]
        want = rows_of(self.path("one"))
        for g, w in zip(labelled, want):
            self.assertEqual({k: v for k, v in g.items() if k != "error"}, w)
        self.assertEqual(len(labelled), len(want))
        with open(self.path("one", "errors.csv"), newline="") as f:
            errors = list(csv.DictReader(f))
        self.assertEqual([(r["path"], r["error"]) for r in got if r["error"]],
                         [(e["path"], e["error"]) for e in errors])

    def test_labels_are_those_of_one_machine(self):
        self.label("labels", "--cache", self.path("cache-labels"), "--partitions", "7")
        self.check_labels("labels")
        images = len(rows_of(self.path("labels")))
        print("\n%d images, 7 tasks, 2 executors: the labels equal those of one machine" % images)

    def test_executor_is_killed(self):
        """SIGKILL to a working executor: no row is lost or duplicated."""
        killed = []

        def kill(job):
            deadline = time.time() + 300
            while job.poll() is None and not killed and time.time() < deadline:
                everything = descendants(job.pid)
                busy = [p for p, line in everything if "--stdin" in line]
                for pid, line in everything:
                    if "CoarseGrainedExecutorBackend" in line and "java" in line.split(" ")[0]:
                        inside = [p for p, _ in descendants(pid) if p in busy]
                        if inside:
                            os.kill(pid, signal.SIGKILL)
                            killed.append(pid)
                            return
                time.sleep(0.02)

        text = self.label("killed", "--cache", self.path("cache-killed"), "--partitions", "12", during=kill)
        self.assertEqual(len(killed), 1, "no working executor was found to kill")
        self.assertIn("Lost executor", text)
        self.check_labels("killed")
        print("\nexecutor %d killed while working: the labels equal those of one machine, none lost or duplicated"
              % killed[0])

    def test_embeddings(self):
        self.submit("embed.py", "--images", os.path.join(self.images, "new"), "--out", self.path("embedded"),
                    "--cache", self.path("cache-embed"))
        rows = rows_of(self.path("embedded"))
        pipeline("embed", "--images", os.path.join(self.images, "new"), "--out", self.path("featdir"),
                 "--cache", self.path("cache"))
        with open(self.path("featdir", "samples.csv"), newline="") as f:
            samples = list(csv.DictReader(f))
        self.assertEqual([(r["path"], r["label"]) for r in rows], [(s["path"], s["label"]) for s in samples])
        import numpy as np

        want = np.load(self.path("featdir", "embeddings.npy"))
        self.assertEqual(float(np.abs(np.array([r["embedding"] for r in rows], dtype=np.float32) - want).max()), 0.0)

    def test_training(self):
        """A model trained by parts labels like one trained on one machine from the
        statistics of all images."""
        base, photos = os.path.join(self.images, "base"), os.path.join(self.images, "photos")
        self.submit("train.py", "--images", base, "--out", self.path("parts.model"),
                    "--cache", self.path("cache-train"), "--partitions", "5")
        pipeline("stats", "collect", "--images", base, "--out", self.path("whole.stats"), "--cache", self.path("cache"))
        pipeline("train", "--stats", self.path("whole.stats"), "--out", self.path("whole.model"))
        labels = {}
        for name in ("parts", "whole"):
            pipeline("label", self.path(name + ".model"), "--images", photos, "--out", self.path(name),
                     "--cache", self.path("cache"), "--format", "jsonl")
            with open(self.path(name, "labels.jsonl")) as f:
                labels[name] = [json.loads(line) for line in f]
        self.assertEqual(len(labels["parts"]), len(labels["whole"]))
        for p, w in zip(labels["parts"], labels["whole"]):
            self.assertEqual((p["path"], p["label"]), (w["path"], w["label"]))
            self.assertAlmostEqual(p["probability"], w["probability"], places=4)

    def test_throughput(self):
        """Prints the throughput for the images in $SPARK_TEST_IMAGES; asserts nothing,
        because machines are shared and noisy. With a few hundred images, start-up
        is most of the time."""
        images = os.environ.get("SPARK_TEST_IMAGES") or self.images
        for executors in (1, 2):
            out = "fast-%d" % executors
            start = time.time()
            self.submit("label.py", "--images", images, "--model", self.model, "--out", self.path(out),
                        "--cache", self.path("cache-" + out), "--partitions", "8", executors=executors)
            took = time.time() - start
            n = len(rows_of(self.path(out)))
            print("\n%d executors with one core each: %d images in %.1f s with start-up, %.1f per second"
                  % (executors, n, took, n / took))


if __name__ == "__main__":
    unittest.main()
