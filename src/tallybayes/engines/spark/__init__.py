"""Spark DataFrames, partition by partition; the only package that imports pyspark."""
