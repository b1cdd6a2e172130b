"""Trains a model on a folder of images (DIR/CLASS/IMAGE) with Spark: every task
collects the exact statistics of its images, treeReduce merges them pairwise, and
the driver fits the model to the merged statistics."""

import os
import subprocess
import tempfile

import pipeline_spark as ps


def collect(line, root, paths):
    """Yields the statistics of the images, as the bytes of a file."""
    with tempfile.TemporaryDirectory() as folder:
        listed, stats = os.path.join(folder, "images.csv"), os.path.join(folder, "part.stats")
        with open(listed, "w", encoding="utf-8") as out:
            out.write("path,label\n")
            for path in paths:
                cells = [path, ps.class_of(path)]
                out.write(",".join('"%s"' % c.replace('"', '""') for c in cells) + "\n")
        ps.run(line + ["--list", listed, "--out", stats], "collect statistics")
        with open(stats, "rb") as text:
            yield text.read()


def merge(binary, a, b):
    """Returns the merged statistics of two sets of images."""
    with tempfile.TemporaryDirectory() as folder:
        files = [os.path.join(folder, name) for name in ("a.stats", "b.stats", "both.stats")]
        for file, data in zip(files, (a, b)):
            with open(file, "wb") as out:
                out.write(data)
        ps.run([binary, "stats", "merge", files[0], files[1], "--out", files[2]], "merge statistics")
        with open(files[2], "rb") as text:
            return text.read()


def main():
    args = ps.arguments(
        __doc__, out="file for the model", backbone="ONNX file or name (default: the built-in one)",
        classifier="method that trains on statistics (default: plda)"
    ).parse_args()
    spark = ps.open_session("pipeline train")
    backbone = ["--backbone", args.backbone] if args.backbone else []  # the built-in one is the same everywhere
    line = ps.command(args, spark, "stats", "collect", *backbone)
    binary, root = args.binary, os.path.abspath(args.images)
    together = (
        ps.partitions(spark, args)
        .mapPartitions(lambda paths: collect(line, root, paths))
        .treeReduce(lambda a, b: merge(binary, a, b))
    )
    with tempfile.TemporaryDirectory() as folder:
        stats = os.path.join(folder, "all.stats")
        with open(stats, "wb") as out:
            out.write(together)
        method = ["--classifier", args.classifier] if args.classifier else []
        subprocess.run([binary, "train", "--stats", stats, "--out", args.out, *backbone, *method], check=True)
    spark.stop()


if __name__ == "__main__":
    main()
