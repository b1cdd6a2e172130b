"""Computes the embeddings of a folder of images with Spark and writes a Parquet
data set with path, label (the first-level folder), embedding and error."""

from pyspark.sql.types import ArrayType, FloatType, StringType, StructField, StructType

import pipeline_spark as ps

SCHEMA = StructType(
    [
        StructField("path", StringType(), False),
        StructField("label", StringType()),
        StructField("embedding", ArrayType(FloatType(), False)),
        StructField("error", StringType()),
    ]
)


def row(answer):
    path = answer["path"]
    vector = [float(x) for x in answer["embedding"]] if "embedding" in answer else None
    return (path, ps.class_of(path), vector, answer.get("error"))


def main():
    args = ps.arguments(__doc__, out="Parquet folder to write",
                        backbone="ONNX file or name (default: the built-in one)").parse_args()
    spark = ps.open_session("pipeline embed")
    # The network is the same on every machine.
    backbone = ["--backbone", args.backbone] if args.backbone else []  # the built-in one is the same everywhere
    line = ps.command(args, spark, "embed", "--stdin", *backbone)
    rows = ps.partitions(spark, args).mapPartitions(lambda paths: map(row, ps.answers(line, paths)))
    spark.createDataFrame(rows, SCHEMA).write.mode("overwrite").parquet(args.out)
    spark.stop()


if __name__ == "__main__":
    main()
