"""Labels a folder of images with Spark and writes a Parquet data set with the
columns of labels.parquet plus a column error for images that failed."""

import os

import pipeline_spark as ps

# The columns of labels.parquet, in their order. A test of package label compares them.
COLUMNS = {
    "path": "string", "label": "string", "probability": "double", "margin": "double", "entropy": "double",
    "novelty": "double", "rejected": "boolean", "top_k": "array<struct<label:string,probability:double>>",
    "p_new": "double", "by": "string", "box": "string", "event": "string", "event_label": "string",
    "event_probability": "double", "split": "string",
}
SCHEMA = ", ".join("`%s` %s" % column for column in COLUMNS.items()) + ", error string"


def row(answer):
    """Returns an answer of label --stdin as a row of SCHEMA. JSON writes 1.0 as 1, and
    leaves out what an image does not have."""
    cells = [answer.get(name) for name in COLUMNS]
    for i, kind in enumerate(COLUMNS.values()):
        if kind == "double" and cells[i] is not None:
            cells[i] = float(cells[i])
    if "top_k" in answer:
        cells[list(COLUMNS).index("top_k")] = [(label, float(p)) for label, p in answer["top_k"]]
    return (*cells, answer.get("error"))


def main():
    args = ps.arguments(
        __doc__, out="Parquet folder to write", model="model file, at the same path on every machine",
        reject="share of known-class images that may be rejected as unknown"
    ).parse_args()
    spark = ps.open_session("pipeline label")
    words = ["label", os.path.abspath(args.model), "--stdin"] + (["--reject", args.reject] if args.reject else [])
    line = ps.command(args, spark, *words)
    rows = ps.partitions(spark, args).mapPartitions(lambda paths: map(row, ps.answers(line, paths)))
    spark.createDataFrame(rows, SCHEMA).write.mode("overwrite").parquet(args.out)
    spark.stop()


if __name__ == "__main__":
    main()
