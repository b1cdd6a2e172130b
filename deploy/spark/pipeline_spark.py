"""What embed.py, train.py and label.py share: the pipeline binary as the worker
of Spark tasks.

A task starts the binary once, sends it one JSON line per image and reads one
JSON line back. The binary limits the requests in progress, so nothing piles up
on either side. A task succeeds only if every image was answered; otherwise it
fails and Spark runs it again, possibly elsewhere. Spark commits the output of a
task once, so an executor that dies neither loses nor duplicates rows.
"""

import argparse
import json
import os
import subprocess
import tempfile
import threading

from pyspark.sql import SparkSession

# Exit code 3 means that some images failed; each still has an answer.
DONE = (0, 3)

IMAGES = (".jpg", ".jpeg", ".jpe", ".jfif", ".png", ".gif", ".bmp", ".tif", ".tiff", ".webp")


def escape(name):
    """Escapes an os.fsdecode'd name as the binary does: %XX for bytes that are
    not UTF-8, for a carriage return before a line feed, and for a % that would
    be read as one of these."""
    out = []
    for i, c in enumerate(name):
        code = ord(c)
        rest = name[i + 1 : i + 3]
        if 0xDC80 <= code <= 0xDCFF:  # a byte that is not UTF-8
            out.append("%%%02X" % (code - 0xDC00))
        elif c == "\r" and rest[:1] == "\n":
            out.append("%0D")
        elif c == "%" and len(rest) == 2 and all(h in "0123456789ABCDEF" for h in rest) and (
            rest in ("0D", "25") or int(rest, 16) >= 0x80
        ):
            out.append("%25")
        else:
            out.append(c)
    return "".join(out)


def list_images(root):
    """Returns the images below root, escaped, sorted by the bytes of their paths."""
    found = []
    for folder, folders, files in os.walk(root):
        folders[:] = [f for f in folders if not f.startswith(".")]
        for name in files:
            if name.lower().endswith(IMAGES) and not name.startswith("."):
                found.append(os.path.relpath(os.path.join(folder, name), root))
    return [escape(name) for name in sorted(found, key=os.fsencode)]


def read_list(file):
    """Reads a file with one escaped path per line."""
    with open(file, encoding="utf-8") as lines:
        return [line.rstrip("\n") for line in lines if line.strip() and not line.startswith("#")]


def arguments(description, **needs):
    """Returns a parser for the options of all jobs and the extra ones of this job."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--images", required=True, help="folder of images, at the same path on every machine")
    parser.add_argument("--list",
                        help="file with one path per line, relative to --images (default: all images of the folder)")
    parser.add_argument("--out", required=True, help=needs.pop("out"))
    parser.add_argument("--binary", default="pipeline",
                        help="the pipeline program on the executors (default: on the PATH)")
    parser.add_argument("--cache", help="cache folder on the executors (default: the user's)")
    parser.add_argument("--partitions", type=int, default=0, help="number of tasks (default: 4 per core)")
    for name, text in needs.items():
        parser.add_argument("--" + name.replace("_", "-"), help=text)
    return parser


def open_session(name):
    return SparkSession.builder.appName(name).getOrCreate()


def partitions(spark, args):
    """Returns the images as an RDD of paths; each partition is a contiguous part of
    the sorted list."""
    paths = read_list(args.list) if args.list else list_images(args.images)
    if not paths:
        raise SystemExit("no images in " + (args.list or args.images))
    n = args.partitions or 4 * spark.sparkContext.defaultParallelism
    return spark.sparkContext.parallelize(paths, min(n, len(paths)))


def command(args, spark, *words):
    """Returns a command line of the binary, with as many threads as Spark gives a
    task cores."""
    threads = spark.sparkContext.getConf().get("spark.task.cpus", "1")
    line = [args.binary, *words, "--images", os.path.abspath(args.images), "--threads", threads]
    return line + (["--cache", args.cache] if args.cache else [])


def answers(line, paths):
    """Runs the binary over paths and yields one parsed answer for each."""
    errors = tempfile.TemporaryFile("w+")
    worker = subprocess.Popen(line, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors)
    asked = [0]

    def feed():
        try:
            for path in paths:
                asked[0] += 1
                worker.stdin.write(json.dumps({"path": path}).encode() + b"\n")
            worker.stdin.close()
        except (BrokenPipeError, ValueError):
            pass  # the worker is gone; its exit code says so below

    feeder = threading.Thread(target=feed, daemon=True)
    feeder.start()
    answered = 0
    try:
        for text in worker.stdout:
            answered += 1
            yield json.loads(text)
        feeder.join()
        code = worker.wait()
        if code not in DONE or answered != asked[0]:
            errors.seek(0)
            raise RuntimeError(
                "%s: exit code %d after %d of %d answers: %s"
                % (" ".join(line), code, answered, asked[0], errors.read()[-2000:])
            )
    finally:
        worker.kill()  # no effect if it has ended; a cancelled task leaves no process behind
        worker.wait()


def run(line, what):
    """Runs the binary; if it fails, raises an error with its output."""
    done = subprocess.run(line, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode not in DONE:
        raise RuntimeError("%s: exit code %d: %s" % (what, done.returncode, done.stdout[-2000:]))
