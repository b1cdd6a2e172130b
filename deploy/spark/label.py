"""Labels a folder of images with Spark and writes a Parquet data set with the
columns of labels.parquet plus a column error for images that failed."""

import os

from pyspark.sql.types import ArrayType, BooleanType, DoubleType, StringType, StructField, StructType

import pipeline_spark as ps

RANKED = StructType([StructField("label", StringType()), StructField("probability", DoubleType())])
SCHEMA = StructType(
    [StructField("path", StringType(), False), StructField("label", StringType())]
    + [StructField(name, DoubleType()) for name in ("probability", "margin", "entropy", "novelty")]
    + [StructField("rejected", BooleanType()), StructField("top_k", ArrayType(RANKED)),
       StructField("error", StringType())]
)


def row(answer):
    """Returns an answer of label --stdin as a row of SCHEMA. JSON writes 1.0 as 1.
    A rejected image has no probability, margin and entropy."""
    if "error" in answer:
        return (answer["path"], None, None, None, None, None, None, None, answer["error"])
    numbers = [None if answer[name] is None else float(answer[name])
               for name in ("probability", "margin", "entropy", "novelty")]
    top_k = [(label, float(p)) for label, p in answer["top_k"]]
    return (answer["path"], answer["label"], *numbers, answer["rejected"], top_k, None)


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
