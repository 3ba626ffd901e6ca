"""Spark with separate executors: the same bits as in this process, whatever happens to them.

Without Java these tests are skipped with a reason; if CI is true they fail.
"""

import contextlib
import hashlib
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import tallybayes as tb
from tallybayes import engines
from tallybayes.display import progress
from tallybayes.engines.spark import partitions as spark_module
from tallybayes.errors import BadData, LeftOutWarning
from tallybayes.storage.model_file import dump

from .spark_session import PACKAGE, SPLIT, connect_url

pytestmark = [
    pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas:FutureWarning"),
    pytest.mark.filterwarnings("ignore:unclosed:ResourceWarning"),  # of py4j's connections to Java
    pytest.mark.filterwarnings("ignore:.*is deprecated:DeprecationWarning:pyspark"),
]
FILES = 6
TEXTS = ["the film was good", "a bad plot, and a bad end", "good end", "the plot: none at all"]


def table(n, seed):
    """Return columns of every type, with missing values and names that Spark could misread."""
    rng = np.random.default_rng(seed)
    holes = rng.random(n) < 0.1
    real = rng.standard_normal(n)
    real[:3] = np.nan
    hours = pa.array(rng.integers(0, 9, n) * 3_600_000_000)
    return pa.table(
        {
            "a.real": pa.array(real, mask=holes),
            "narrow": rng.standard_normal(n).astype(np.float32),
            "out look": pa.array(np.array(["sun", "rain", None], object)[rng.integers(0, 3, n)], pa.string()),
            "wh`ole": pa.array(rng.integers(-5, 5, n), mask=holes),
            "small": rng.integers(0, 4, n).astype(np.int16),
            "price": pa.array(rng.integers(0, 9999, n)).cast(pa.decimal128(20, 0)).cast(pa.decimal128(22, 2)),
            "flag": pa.array(rng.random(n) < 0.3, mask=holes),
            "day": pa.array(rng.integers(0, 9, n).astype(np.int32)).cast(pa.date32()),
            "instant": hours.cast(pa.timestamp("us", tz="Europe/Berlin")),
            "clock": hours.cast(pa.timestamp("us")),
            "w": rng.random(n),
            "y": np.array(["no", "yes"])[rng.integers(0, 2, n)],
        }
    )


@pytest.fixture(scope="module")
def mixed(tmp_path_factory):
    """Return a folder of files: one without rows, one without values, one with its own class."""
    folder = tmp_path_factory.mktemp("mixed")
    for k in range(FILES):
        rows = table(2000, k)
        if k == 1:
            rows = rows.slice(0, 0)
        if k == 2:
            nothing = [pa.nulls(len(rows), field.type) for field in rows.schema.remove(11).remove(10)]
            rows = pa.table([*nothing, rows["w"], rows["y"]], names=rows.column_names)
        if k == 4:
            rows = rows.set_column(11, "y", pa.array(["maybe"] * len(rows)))
        pq.write_table(rows, folder / f"{k}.parquet")
    return str(folder)


@pytest.fixture(scope="module")
def texts(tmp_path_factory):
    """Return a folder of texts, one file per partition."""
    folder = tmp_path_factory.mktemp("texts")
    for k in range(4):
        rows = {
            "text": [f"{text} {k} {i}" for i in range(25) for text in TEXTS],
            "y": [i % 3 == k % 2 for i in range(100)],
        }
        pq.write_table(pa.table(rows), folder / f"{k}.parquet")
    return str(folder)


def digest(model):
    return hashlib.sha256(dump(model)).hexdigest()


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"calibrate": None},
        {"weights": "w", "missing": "category"},
        {"events": {"small": "poisson", "clock": "ignore", "a.real": "ignore"}, "missing_values": ["rain"]},
    ],
)
def test_a_mixed_table_has_the_bits_of_the_local_fit(spark, mixed, options):
    rows = spark.read.parquet(mixed)
    assert rows.rdd.getNumPartitions() >= FILES - 1
    assert digest(tb.fit(rows, "y", **options)) == digest(tb.fit(mixed, "y", **options))


def test_texts_have_the_bits_of_the_local_fit(spark, texts):
    rows = spark.read.parquet(texts)
    assert digest(tb.fit(rows, "y", events={"text": "text"})) == digest(tb.fit(texts, "y", events={"text": "text"}))


def test_the_index_of_a_pandas_frame_is_not_a_column(spark, mixed, tmp_path):
    path = str(tmp_path / "indexed.parquet")
    pq.read_table(mixed).select(["small", "narrow", "y"]).to_pandas().sample(frac=0.5, random_state=0).to_parquet(path)
    rows = spark.read.parquet(path)
    assert "__index_level_0__" in rows.columns
    assert digest(tb.fit(rows, "y")) == digest(tb.fit(path, "y"))


@pytest.mark.parametrize("known", [True, False])
def test_many_partitions_are_merged_in_a_tree_to_the_same_bits(spark, texts, known):
    rows = spark.read.parquet(texts)
    shuffled = rows.repartition(20)
    many = spark.createDataFrame(shuffled.rdd, rows.schema) if known else shuffled
    assert engines.read(many).count == (20 if known else None)
    assert digest(tb.fit(many, "y", events={"text": "text"})) == digest(tb.fit(texts, "y", events={"text": "text"}))


def test_a_model_learns_forgets_and_is_calibrated_by_rows_of_executors(spark, mixed, tmp_path):
    more = str(tmp_path / "more.parquet")
    pq.write_table(table(500, 99), more)
    here = tb.fit(mixed, "y")
    there = here.learn(spark.read.parquet(more))
    assert digest(there) == digest(here.learn(more))
    assert digest(there.forget(spark.read.parquet(more))) == digest(here.learn(more).forget(more))
    assert digest(there.calibrate(spark.read.parquet(mixed))) == digest(here.learn(more).calibrate(mixed))


def test_an_executor_killed_midway_changes_no_bit(spark, texts, tmp_path):
    mark = str(tmp_path / "killed")

    def words(text):
        if os.environ.get("SPARK_EXECUTOR_DIRS") and not os.path.exists(mark):
            open(mark, "w").close()
            with open(f"/proc/{os.getppid()}/stat") as file:  # the daemon's parent is the executor
                executor = int(file.read().rsplit(")", 1)[1].split()[1])
            os.kill(executor, signal.SIGKILL)
            time.sleep(60)
        return text.split()

    rows = spark.read.parquet(texts)
    there = tb.fit(rows, "y", events={"text": "text"}, tokenizer=words)
    assert os.path.exists(mark)
    assert digest(there) == digest(tb.fit(texts, "y", events={"text": "text"}, tokenizer=words))


def test_bad_rows_are_refused_at_once_in_one_sentence(spark, mixed):
    rows = spark.read.parquet(mixed)
    with pytest.raises(
        BadData, match=r"^the Spark DataFrame, partition \d+, column 'wh`ole': wanted .*not below 0"
    ) as no:
        tb.fit(rows, "y", events={"wh`ole": "poisson"})
    assert no.value.__cause__ is None  # no task failed, so none was retried


def test_a_file_of_another_schema_is_named_with_its_column(spark, tmp_path):
    pq.write_table(pa.table({"age": [1.5, 2.0], "y": ["a", "b"]}), tmp_path / "0.parquet")
    pq.write_table(pa.table({"age": ["x", "z"], "y": ["a", "b"]}), tmp_path / "1.parquet")
    rows = spark.read.schema("age double, y string").parquet(str(tmp_path))
    with pytest.raises(BadData, match=r"file '.*/1\.parquet', column 'age': wanted double, as in the other files, got"):
        tb.fit(rows, "y")


def test_an_error_of_the_users_own_function_becomes_one_sentence(spark, texts):
    def words(text):
        raise RuntimeError("no words today")

    with pytest.raises(BadData, match=r"got an error of a worker \(RuntimeError: no words today\)\.$"):
        tb.fit(spark.read.parquet(texts), "y", events={"text": "text"}, tokenizer=words)


@pytest.fixture
def opened(monkeypatch):
    """Record the files that workers opened themselves, for each fold."""
    found = []
    whole = spark_module.files_of
    monkeypatch.setattr(spark_module, "files_of", lambda *given: found.append(whole(*given)) or found[-1])
    return found


def plain(folder, k, rows):
    pq.write_table(pa.table(rows), folder / f"{k} é.parquet", row_group_size=100)


def rows_of(k, n=1000):
    rng = np.random.default_rng(k)
    return {"x": rng.normal(size=n), "n": rng.integers(0, 9, n), "y": rng.choice(["no", "yes"], n)}


def test_workers_open_plain_files_themselves_to_the_same_bits(spark, tmp_path, opened):
    for k in range(5):
        plain(tmp_path, k, rows_of(k, 500 if k else 10_000))
    there = spark.read.parquet(str(tmp_path))
    here = digest(tb.fit(str(tmp_path), "y"))
    assert digest(tb.fit(there, "y")) == here
    assert digest(tb.fit(there.select("y", "n", "x").withColumnRenamed("x", "z"), "y")) == digest(
        tb.fit(pq.read_table(tmp_path).select(["y", "n", "x"]).rename_columns(["y", "n", "z"]), "y")
    )
    assert all(found is not None and len(found.tasks) > 1 for found in opened)
    assert sum(len(task) for task in opened[0].tasks) > 5  # files were split


@pytest.mark.parametrize("query", [False, True])
def test_rows_without_a_class_are_left_out_and_counted(spark, tmp_path, query):
    given = []
    for k in range(3):
        rows = rows_of(k, 1200)
        y = [None if k == 0 or n % 5 == 0 else "NA" if n % 9 == 0 else str(v) for n, v in enumerate(rows["y"])]
        plain(tmp_path, k, {**rows, "y": pa.array(y, pa.string())})
        given += y
    there = spark.read.parquet(str(tmp_path))
    there = there.where("n >= 0") if query else there
    gone = sum(one in (None, "NA") for one in given)
    sentence = rf"^label 'y': {gone:,} of 3,600 rows have no class and are left out\.$"
    with pytest.warns(LeftOutWarning, match=sentence) as said:
        model = tb.fit(there, "y")
    assert sum(one.category is LeftOutWarning for one in said) == 1
    with pytest.warns(LeftOutWarning, match=sentence):
        here = tb.fit(str(tmp_path), "y")
    assert digest(model) == digest(here)
    assert there.count() == model.predict(there).count() == 3600


def test_a_query_on_top_of_files_is_read_by_spark(spark, tmp_path, opened):
    for k in range(2):
        plain(tmp_path, k, rows_of(k))
    there = spark.read.parquet(str(tmp_path))
    table = pq.read_table(tmp_path)
    some = table.filter(pa.compute.greater(table["n"], 3))
    assert digest(tb.fit(there.filter("n > 3"), "y")) == digest(tb.fit(some, "y"))
    doubled = table.set_column(0, "x", pa.compute.multiply(table["x"], 2.0))
    assert digest(tb.fit(there.selectExpr("x * 2 AS x", "n", "y"), "y")) == digest(tb.fit(doubled, "y"))
    assert digest(tb.fit(there.union(there), "y")) == digest(tb.fit(pa.concat_tables([table, table]), "y"))
    merged = spark.read.option("mergeSchema", "true").parquet(str(tmp_path))
    assert digest(tb.fit(merged, "y")) == digest(tb.fit(table, "y"))
    pq.write_to_dataset(table, tmp_path / "keyed", partition_cols=["n"])
    assert digest(tb.fit(spark.read.parquet(str(tmp_path / "keyed")), "y", events={"n": "gaussian"})) == digest(
        tb.fit(str(tmp_path / "keyed"), "y", events={"n": "gaussian"})
    )
    assert opened == [None] * 5


def test_a_file_unlike_the_others_is_left_to_spark(spark, tmp_path, opened):
    plain(tmp_path, 0, rows_of(0))
    rows = rows_of(1)
    plain(tmp_path, 1, {"n": rows["n"], "y": rows["y"]})  # Spark reads a missing column as null
    there = spark.read.schema("x double, n long, y string").parquet(str(tmp_path))
    first, second = pa.table(rows_of(0)), pa.table({"n": rows["n"], "y": rows["y"]})
    here = pa.concat_tables([first, second], promote_options="default")
    assert digest(tb.fit(there, "y")) == digest(tb.fit(here, "y"))
    assert opened[0] is not None


def test_rows_refused_in_a_file_name_it(spark, tmp_path):
    plain(tmp_path, 0, rows_of(0))
    plain(tmp_path, 1, {**rows_of(1), "n": np.full(1000, -1)})
    with pytest.raises(
        BadData, match=r"partition \d+ \(.*1 é\.parquet\), column 'n': wanted finite numbers not below 0"
    ):
        tb.fit(spark.read.parquet(str(tmp_path)), "y", events={"n": "poisson"})


def test_no_rows_are_refused_as_in_a_local_fit(spark):
    with pytest.raises(BadData, match="the Spark DataFrame: wanted rows to learn from, got none"):
        tb.fit(spark.createDataFrame([], "x double, y string"), "y")


def test_an_rdd_and_a_stream_are_refused(spark):
    with pytest.raises(BadData, match=r"wanted a DataFrame, got a .*RDD"):
        tb.fit(spark.sparkContext.parallelize([1, 2]), "y")
    with pytest.raises(BadData, match="wanted a finite number of rows, got a stream"):
        tb.fit(spark.readStream.format("rate").load(), "value")


def test_answers_are_computed_beside_the_rows_when_read(spark, mixed):
    partitions = engines.read(spark.read.parquet(mixed))

    class Added(engines.Columns):
        fields = (pa.field("added", pa.int64()), pa.field("clock", pa.date32()), pa.field("when", pa.timestamp("us")))
        reads = ("small", "day", "instant")

        def of(self, batch):
            added = pa.compute.add(batch["small"].cast(pa.int64()), 1)
            when = batch["instant"].cast(pa.timestamp("us"))
            return pa.record_batch({"added": added, "clock": batch["day"], "when": when})

    answered = partitions.with_columns(Added())
    assert answered.columns == [name for name in partitions.names if name != "clock"] + ["added", "clock", "when"]
    got = answered.toArrow()
    assert got.num_rows == 2000 * (FILES - 1)
    assert got["added"].to_pylist() == [None if one is None else one + 1 for one in got["small"].to_pylist()]
    assert got["clock"].equals(got["day"])
    assert got["when"].equals(got["instant"].cast(pa.timestamp("us")))
    assert sorted(got["price"].drop_null().to_pylist()) == sorted(pq.read_table(mixed)["price"].drop_null().to_pylist())


def test_a_model_answers_beside_the_rows(spark, mixed):
    rows, model = spark.read.parquet(mixed), tb.fit(mixed, "y")
    answered = model.predict_proba(rows)
    assert answered.columns == [*rows.columns, "P(maybe)", "P(no)", "P(yes)"]
    got = answered.toArrow()
    said = np.column_stack([got[name].to_numpy() for name in got.column_names[-3:]])
    np.testing.assert_array_equal(said, model.predict_proba(got.select(rows.columns)))
    got = model.predict(rows, abstain=0.7).toArrow()
    assert got["predicted"].to_pylist() == model.predict(got.select(rows.columns), abstain=0.7).tolist()
    with pytest.raises(BadData, match="wanted a column 'day' as in training, got none"):
        model.predict(rows.drop("day"))


@pytest.mark.parametrize(("how", "folder"), [("loo", "mixed"), ("3-fold", "mixed"), ("3-fold", "texts")])
def test_executors_validate_to_the_same_bits(spark, how, folder, request):
    rows = spark.read.parquet(request.getfixturevalue(folder))
    there, here = tb.validate(rows, "y", how), tb.validate(rows.toArrow(), "y", how)
    np.testing.assert_array_equal(there.probabilities, here.probabilities)
    assert there.evaluation.to_dict() == here.evaluation.to_dict()


def test_rows_arrive_in_the_order_of_their_partitions(spark, mixed):
    class Packed(engines.Task):
        columns = ("y", "instant")

        def run(self, source, info):
            return pa.Table.from_batches(list(source), source.schema)

        def pack(self, result):
            sink = pa.BufferOutputStream()
            with pa.ipc.new_stream(sink, result.schema) as writer:
                writer.write_table(result)
            return sink.getvalue().to_pybytes()

        def unpack(self, content):
            return pa.ipc.open_stream(content).read_all()

    partitions = engines.read(spark.read.parquet(mixed)).select(["y", "instant"])
    here = pa.Table.from_batches(list(partitions))
    assert here.schema.names == ["y", "instant"]
    assert here.num_rows == 2000 * (FILES - 1)
    assert pa.concat_tables([one for one in partitions.each(Packed()) if len(one)]).equals(here)
    head = partitions.head(7)
    assert head.num_rows == 7
    assert head["instant"].to_pylist() == here["instant"].slice(0, 7).to_pylist()


def test_progress_is_shown_on_a_terminal(spark, texts, monkeypatch):
    told = []

    @contextlib.contextmanager
    def counting(name, unit, total):
        yield told.append

    def slow(text):
        time.sleep(0.01)
        return text.split()

    monkeypatch.setattr(progress, "watched", lambda: True)
    monkeypatch.setattr(progress, "counting", counting)
    rows = spark.read.parquet(texts)
    tb.fit(rows.union(rows), "y", events={"text": "text"}, tokenizer=slow, calibrate=None)
    assert told == sorted(told)
    assert told[-1] >= 1  # of eight partitions two at a time, each a second long
    assert not spark.sparkContext.getJobTags()


CONNECT = """
import contextlib, hashlib, sys, warnings
warnings.simplefilter("ignore")
from pyspark.sql import SparkSession
import tallybayes as tb
from tallybayes import engines
from tallybayes.display import progress
from tallybayes.storage.model_file import dump
spark = SparkSession.builder.remote(sys.argv[3]).getOrCreate()
spark.conf.set("spark.sql.session.timeZone", "America/New_York")
spark.conf.set("spark.sql.files.maxPartitionBytes", sys.argv[2])
spark.conf.set("spark.sql.files.openCostInBytes", sys.argv[2])
rows = spark.read.parquet(sys.argv[1])
assert type(rows).__module__.startswith("pyspark.sql.connect."), type(rows)
partitions = engines.read(rows)
told = []
progress.watched = lambda: True
progress.counting = contextlib.contextmanager(lambda *_: (yield told.append))
print(hashlib.sha256(dump(tb.fit(rows, "y"))).hexdigest())
print(partitions.count, partitions.head(5).num_rows, sum(batch.num_rows for batch in partitions))
try:
    tb.fit(rows, "y", events={"wh`ole": "poisson"})
except tb.errors.BadData as error:
    print(error)
assert told and told[-1] >= 1, told
spark.stop()
"""


def test_connect_gives_the_same_bits(spark, mixed, tmp_path):
    words = [sys.executable, "-c", CONNECT, mixed, str(SPLIT), connect_url(spark)]
    own = {**os.environ, "PYTHONPATH": PACKAGE}
    done = subprocess.run(words, cwd=tmp_path, env=own, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    bits, found, refused = done.stdout.strip().splitlines()
    assert bits == digest(tb.fit(mixed, "y"))
    count, head, rows = map(int, found.split())
    assert count >= FILES - 1
    assert (head, rows) == (5, 2000 * (FILES - 1))
    assert refused.startswith("the Spark DataFrame, partition ")


def test_a_running_number_is_left_out_of_a_frame_of_spark_too(spark):
    kinds = ["kept", "lost"] * 60
    rows = pa.table({"Kundennr": range(7000, 7120), "size": [k % 9 + 0.5 for k in range(120)], "state": kinds})
    there = spark.createDataFrame(rows.to_pandas()).repartition(3)
    with pytest.warns(LeftOutWarning, match=r"^column 'Kundennr': not used, since it looks like an id"):
        model = tb.fit(there, "state")
    assert model.evidence == tb.fit(rows.drop_columns(["Kundennr"]), "state").evidence
