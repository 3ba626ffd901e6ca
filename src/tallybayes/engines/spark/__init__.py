"""Spark collections, partition by partition: the one door to pyspark."""
