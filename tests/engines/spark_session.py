"""A Spark session with separate executors, which also serves Spark Connect."""

from __future__ import annotations

import os
import shutil
import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

import tallybayes as tb

from .java import QUICK_JAVA, java_is_here

__all__ = ["PACKAGE", "SPLIT", "connect_url", "spark_session"]

# Executors can import only this package.
PACKAGE = str(Path(tb.__file__).parents[1])
# Bytes. Opening a file is declared to cost as much as a partition holds, so each file is at least one partition.
SPLIT = 64 << 10
_PORT = "spark.connect.grpc.binding.port"


@contextmanager
def spark_session(own: Path) -> Iterator[Any]:
    """Start a session with two executor processes, in another time zone than the files; its files are in `own`."""
    java_is_here()
    import pyspark
    from pyspark.sql import SparkSession

    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYSPARK_PYTHON", sys.executable)
        patch.setenv("SPARK_LOCAL_IP", "127.0.0.1")
        for name, value in QUICK_JAVA.items():
            patch.setenv(name, value)
        settings = {
            "spark.ui.enabled": "false",
            "spark.ui.showConsoleProgress": "false",
            "spark.driver.host": "127.0.0.1",
            "spark.driver.bindAddress": "127.0.0.1",
            "spark.executorEnv.PYTHONPATH": PACKAGE,
            "spark.local.dir": str(own),
            "spark.plugins": "org.apache.spark.sql.connect.SparkConnectPlugin",
            _PORT: str(port),
            "spark.sql.warehouse.dir": str(own / "warehouse"),
            "spark.sql.session.timeZone": "America/New_York",
            "spark.sql.files.maxPartitionBytes": str(SPLIT),
            "spark.sql.files.openCostInBytes": str(SPLIT),
        }
        builder = SparkSession.builder.master("local-cluster[2,1,1024]").appName("tallybayes")
        for name, value in settings.items():
            builder = builder.config(name, value)
        session = builder.getOrCreate()
        session.sparkContext.setLogLevel("OFF")
        try:
            yield session
        finally:
            own_logs = Path(
                os.environ.get("SPARK_HOME", pyspark.__path__[0]), "work", session.sparkContext.applicationId
            )
            session.stop()
            shutil.rmtree(own_logs, ignore_errors=True)  # executors of a local cluster always write here


def connect_url(session: Any) -> str:
    """Return where clients of Spark Connect find a session's server."""
    return f"sc://127.0.0.1:{session.sparkContext.getConf().get(_PORT)}"
