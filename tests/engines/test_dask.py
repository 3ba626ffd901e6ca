"""Dask: the model of a collection equals, to the byte, that of the same rows in this process."""

from __future__ import annotations

import io
import os
import signal
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import dask
import dask.bag
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import tallybayes as tb
from tallybayes import engines
from tallybayes.engines.dask import DaskPartitions
from tallybayes.errors import BadData, BadOption, LeftOutWarning
from tallybayes.evidence import count, row_sample
from tallybayes.sources import Source

from .rows import EVENTS, digest, mixed

# What Dask itself does with a newer pandas than it was made for.
pytestmark = pytest.mark.filterwarnings("ignore:The inplace keyword:DeprecationWarning", "ignore::FutureWarning:dask")
OPTIONS: dict[str, Any] = {"events": EVENTS}


def files(folder: Path, table: pa.Table, parts: int) -> Path:
    """Write the table to n parquet files."""
    folder.mkdir(exist_ok=True)
    bounds = np.linspace(0, len(table), parts + 1).astype(int)
    for k, (start, stop) in enumerate(pairwise(bounds)):
        pq.write_table(table.slice(start, stop - start), folder / f"{k:02}.parquet")
    return folder


def as_pandas(table: pa.Table) -> pd.DataFrame:
    """Return the table with its own types; Dask converts pandas' objects to text."""
    return table.to_pandas(types_mapper=pd.ArrowDtype)


def frame(*parts: pd.DataFrame) -> Any:
    """Return a collection of these partitions, unchanged."""
    made = [dask.delayed(part) for part in parts]
    return dd.from_delayed(made, meta=parts[0].iloc[:0], verify_meta=False)


def unlabelled(table: pa.Table) -> pa.Table:
    """Return the table without a class in its first half and in some later rows: null, or "?"."""
    labels = table["label"].to_pylist()
    for k in range(len(labels)):
        labels[k] = None if k < len(labels) // 2 or k % 7 == 0 else "?" if k % 11 == 0 else labels[k]
    return table.set_column(table.schema.get_field_index("label"), "label", pa.array(labels, pa.string()))


def left_out(work: Callable[[], Any]) -> tuple[Any, str]:
    """Return the result of some work, and its one warning about rows without a class."""
    with pytest.warns(LeftOutWarning) as said:
        found = work()
    [sentence] = [str(one.message) for one in said if one.category is LeftOutWarning]
    return found, sentence


def check_left_out(there: Any, rows: Any) -> None:
    """Fit, learn and validate a collection of rows of which some have no class, there and here."""
    here, sentence = left_out(lambda: tb.fit(rows, "label", **OPTIONS))
    assert sentence == "label 'label': 366 of 600 rows have no class and are left out."
    model, said = left_out(lambda: tb.fit(there, "label", **OPTIONS))
    assert (digest(model), said) == (digest(here), sentence)
    twice, said = left_out(lambda: model.learn(there))
    assert (twice.evidence, said) == (here.evidence + here.evidence, sentence)
    seen, said = left_out(lambda: tb.validate(there, "label", "3-fold", **OPTIONS))
    assert said == sentence
    np.testing.assert_array_equal(
        seen.scores, left_out(lambda: tb.validate(rows, "label", "3-fold", **OPTIONS))[0].scores
    )


@pytest.fixture(scope="module")
def table() -> pa.Table:
    return mixed()


@pytest.fixture(scope="module")
def folder(table: pa.Table, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return files(tmp_path_factory.mktemp("rows") / "parts", table, 7)


@pytest.mark.parametrize("options", [{}, {"weights": "times"}, {"calibrate": None, "alpha": 1.0}], ids=str)
def test_a_frame_without_a_cluster(table: pa.Table, folder: Path, options: dict[str, Any]) -> None:
    here = tb.fit(table, "label", **OPTIONS, **options)
    assert digest(tb.fit(dd.read_parquet(folder), "label", **OPTIONS, **options)) == digest(here)


class TestCluster:
    def test_mixed_columns_and_text(self, cluster: Any, table: pa.Table, folder: Path) -> None:
        there = tb.fit(dd.read_parquet(folder), "label", weights="times", **OPTIONS)
        assert digest(there) == digest(tb.fit(folder, "label", weights="times", **OPTIONS))
        assert digest(there) == digest(tb.fit(table, "label", weights="times", **OPTIONS))

    def test_rows_without_a_class(self, cluster: Any, table: pa.Table) -> None:
        rows = unlabelled(table.slice(0, 600))
        check_left_out(dd.from_pandas(as_pandas(rows), npartitions=20), rows)

    def test_a_function_that_makes_words_goes_along(self, cluster: Any, table: pa.Table, folder: Path) -> None:
        options: dict[str, Any] = {**OPTIONS, "tokenizer": str.split}
        there = tb.fit(dd.read_parquet(folder), "label", **options)
        assert digest(there) == digest(tb.fit(table, "label", **options))
        said = there.predict_proba(dd.read_parquet(folder)).compute()
        np.testing.assert_array_equal(said[[f"P({c})" for c in there.classes]], there.predict_proba(table))

    def test_more_partitions_than_are_merged_at_a_time(self, cluster: Any, table: pa.Table) -> None:
        there = tb.fit(dd.from_pandas(as_pandas(table), npartitions=40), "label", **OPTIONS)
        assert digest(there) == digest(tb.fit(as_pandas(table), "label", **OPTIONS))

    def test_a_bag_of_dicts_of_paths_and_of_tables(self, cluster: Any, table: pa.Table, folder: Path) -> None:
        rows = table.drop_columns(["day", "small"])
        here = digest(tb.fit(rows.to_pylist(), "label", **OPTIONS))
        assert digest(tb.fit(dask.bag.from_sequence(rows.to_pylist(), npartitions=5), "label", **OPTIONS)) == here
        paths = dask.bag.from_sequence([str(path) for path in sorted(folder.iterdir())], npartitions=3)
        assert digest(tb.fit(paths, "label", **OPTIONS)) == digest(tb.fit(table, "label", **OPTIONS))
        tables = dask.bag.from_sequence([table.slice(0, 1000), table.slice(1000)], npartitions=2)
        assert digest(tb.fit(tables, "label", **OPTIONS)) == digest(tb.fit(table, "label", **OPTIONS))

    def test_a_worker_killed_on_the_way(self, cluster: Any, table: pa.Table, tmp_path: Path) -> None:
        mark = tmp_path / "killed"

        def deadly(part: pd.DataFrame) -> pd.DataFrame:
            if not mark.exists() and len(part):
                mark.touch()
                os.kill(os.getpid(), signal.SIGKILL)
            return part

        rows = as_pandas(table)
        there = dd.from_pandas(rows, npartitions=6).map_partitions(deadly, meta=rows.iloc[:0])
        assert digest(tb.fit(there, "label", **OPTIONS)) == digest(tb.fit(rows, "label", **OPTIONS))
        assert mark.exists()

    def test_what_cannot_be_read_names_the_partition_and_its_file(
        self, cluster: Any, table: pa.Table, tmp_path: Path
    ) -> None:
        folder = files(tmp_path / "parts", table, 3)
        pq.write_table(table.drop_columns(["size"]), folder / "01.parquet")
        with pytest.raises(BadData, match=r"^the Dask DataFrame, partition 1 \(.*01\.parquet\): wanted rows that"):
            tb.fit(dd.read_parquet(folder), "label", **OPTIONS)

    def test_learning_forgetting_and_calibrating(self, cluster: Any, table: pa.Table, folder: Path) -> None:
        model = tb.fit(table.slice(0, 1000), "label", **OPTIONS)
        rest = dd.from_pandas(as_pandas(table.slice(1000)), npartitions=3)
        whole = model.learn(rest)
        assert whole.evidence == tb.fit(table, "label", **OPTIONS).evidence
        assert whole.forget(rest).evidence == whole.forget(table.slice(1000)).evidence  # buckets stay as coarse
        bells = tb.fit(table.slice(0, 1000), "label", events=EVENTS, estimate="map")
        assert "histogram" not in bells.schema.events().values()
        assert bells.learn(rest).forget(rest).evidence == bells.evidence
        assert digest(whole.calibrate(dd.read_parquet(folder))) == digest(whole.calibrate(table))


def test_few_rows_are_sent_and_they_are_those_chosen_here(table: pa.Table, monkeypatch: pytest.MonkeyPatch) -> None:
    """One pass suffices for a small sample, unless one partition has nearly all rows."""
    monkeypatch.setattr(row_sample, "MOST_ROWS", 400)
    monkeypatch.setattr(count, "share_of", lambda places: 0.2 if places > 1 else 1.0)
    passes: list[int] = []
    fold = DaskPartitions.fold
    monkeypatch.setattr(DaskPartitions, "fold", lambda *given, **how: passes.append(1) or fold(*given, **how))
    rows = as_pandas(table.drop_columns(["prose"]))
    here = digest(tb.fit(rows, "label", events={"calls": "poisson"}))
    assert digest(tb.fit(dd.from_pandas(rows, npartitions=8), "label", events={"calls": "poisson"})) == here
    assert len(passes) == 1
    assert digest(tb.fit(frame(rows[:10], rows[10:]), "label", events={"calls": "poisson"})) == here
    assert len(passes) == 3


def test_empty_partitions_only_nulls_and_a_class_of_one_partition(table: pa.Table) -> None:
    rows = as_pandas(table)
    first, second, third = rows[:500], rows[500:900].assign(colour=None, size=None, prose=None), rows[900:1200]
    third = third.assign(label=np.where(third["label"] == "no", "never", third["label"]))
    there = frame(first, rows[:0], second, third, rows[:0])
    here = pd.concat([first, second.astype(first.dtypes), third.astype(first.dtypes)])
    assert digest(tb.fit(there, "label", **OPTIONS)) == digest(tb.fit(here, "label", **OPTIONS))
    assert tb.fit(there, "label", **OPTIONS).classes == ("never", "no", "perhaps", "yes")


def test_categories_and_objects(table: pa.Table) -> None:
    rows = as_pandas(table).astype({"colour": "category", "label": "category"})
    rows["day"] = rows["day"].astype(str).astype(object)
    there = dd.from_pandas(rows, npartitions=4)
    here = digest(tb.fit(rows, "label", **OPTIONS))
    assert digest(tb.fit(there, "label", **OPTIONS)) == here
    assert digest(tb.fit(there.categorize(), "label", **OPTIONS)) == here


@pytest.mark.parametrize(
    ("spoil", "sentence"),
    [
        (lambda r: r.drop(columns="size"), "partition 1: wanted a column 'size', as in the other partitions, got none"),
        (lambda r: r.assign(size="x"), "partition 1, column 'size': wanted numbers, as in the other partitions, got"),
        (lambda r: r.assign(calls=-1), "partition 1, column 'calls': wanted finite numbers not below 0"),
    ],
    ids=["column", "type", "value"],
)
def test_a_partition_unlike_the_others_is_named(table: pa.Table, spoil: Any, sentence: str) -> None:
    rows = as_pandas(table)
    with pytest.raises(BadData) as refused:
        tb.fit(frame(rows[:100], spoil(rows[100:200])), "label", **OPTIONS)
    assert sentence in str(refused.value)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("kind", ["frame", "files", "bag"])
def test_rows_without_a_class_are_left_out_and_counted(table: pa.Table, tmp_path: Path, kind: str) -> None:
    rows = unlabelled(table.slice(0, 600).drop_columns(["day"]))
    if kind == "bag":
        check_left_out(dask.bag.from_sequence(rows.to_pylist(), npartitions=4), rows.to_pylist())
    elif kind == "files":
        check_left_out(dd.read_parquet(files(tmp_path / "parts", rows, 4)), rows)
    else:
        check_left_out(dd.from_pandas(as_pandas(rows), npartitions=4), rows)


def test_rows_without_a_class_are_predicted(table: pa.Table) -> None:
    rows = unlabelled(table.slice(0, 300))
    model = tb.fit(table, "label", **OPTIONS)
    said = model.predict(dd.from_pandas(as_pandas(rows), npartitions=3)).compute()
    assert said["predicted"].tolist() == model.predict(rows).tolist()


def test_rows_without_a_class_are_left_out_of_those_brought_here(table: pa.Table) -> None:
    rows = unlabelled(table.slice(0, 200))
    model = tb.fit(table, "label", **OPTIONS)
    there, said = left_out(lambda: model.log_likelihood(dd.from_pandas(as_pandas(rows), npartitions=3)))
    here, sentence = left_out(lambda: model.log_likelihood(rows))
    assert said == sentence
    assert there == pytest.approx(here)  # summed in other parts


def test_a_collection_without_any_class_is_refused(table: pa.Table) -> None:
    rows = as_pandas(table.slice(0, 50)).assign(label=None).astype({"label": as_pandas(table)["label"].dtype})
    with pytest.warns(LeftOutWarning, match="50 of 50"), pytest.raises(BadData, match="wanted rows to learn from"):
        tb.fit(dd.from_pandas(rows, npartitions=2), "label", **OPTIONS)


def test_a_file_unlike_the_others_is_named(table: pa.Table, tmp_path: Path) -> None:
    folder = files(tmp_path / "parts", table, 2)
    changed = table.set_column(0, "size", pa.array(["large"] * len(table)))
    pq.write_table(changed, folder / "01.parquet")
    with pytest.raises(BadData, match=r"partition 1 \(.*01\.parquet\), column 'size': wanted numbers, as in the other"):
        tb.fit(dd.read_parquet(folder), "label", **OPTIONS)


def test_partitions_stay_as_they_are_whatever_columns_are_read(table: pa.Table, folder: Path) -> None:
    partitions = engines.read(dd.read_parquet(folder))
    assert isinstance(partitions, DaskPartitions)
    assert len(partitions.each(_Rows(("label",)))) == len(partitions.each(_Rows(partitions.schema.names))) == 7
    calls = tb.fit(dd.read_parquet(folder)[["calls", "label"]], "label")
    assert digest(calls) == digest(tb.fit(table.select(["calls", "label"]), "label"))


def test_plain_files_are_opened_by_workers_and_others_left_to_dask(
    table: pa.Table, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found: list[Any] = []
    whole = DaskPartitions._plain_files
    monkeypatch.setattr(DaskPartitions, "_plain_files", lambda self: found.append(whole(self)) or found[-1])
    rows = table.select(["size", "calls", "colour", "flag", "label"])
    folder = files(tmp_path / "parts", rows, 3)
    there = dd.read_parquet(folder)
    here = digest(tb.fit(rows, "label"))
    assert digest(tb.fit(there, "label")) == here
    assert found.pop() is not None
    assert digest(tb.fit(there[there["calls"] > 1], "label")) == digest(
        tb.fit(rows.filter(pa.compute.greater(rows["calls"], 1)), "label")
    )
    assert found.pop() is None
    wider = rows.set_column(1, "calls", rows["calls"].cast(pa.float64()))  # of another type in one of the files
    pq.write_table(wider.slice(2000, 1000), folder / "02.parquet")
    assert digest(tb.fit(dd.read_parquet(folder), "label")) == here
    assert found.pop() is not None


@pytest.mark.parametrize("filesystem", ["fsspec", "arrow"])
def test_partitions_that_are_not_whole_files_are_counted_as_they_are(
    table: pa.Table, tmp_path: Path, filesystem: str
) -> None:
    """Row groups, selected or repeated partitions, and several files in one."""
    rows = table.select(["size", "colour", "label"])
    pq.write_table(rows.slice(0, 1800), tmp_path / "0.parquet", row_group_size=600)
    pq.write_table(rows.slice(1800), tmp_path / "1.parquet", row_group_size=600)

    def same(there: Any) -> None:
        assert digest(tb.fit(there, "label")) == digest(tb.fit(there.compute(), "label"))

    whole = dd.read_parquet(tmp_path, filesystem=filesystem)
    for there in (whole, whole.partitions[[0, 0]], whole.partitions[[1]], whole.repartition(npartitions=1)):
        same(there)
    if filesystem == "fsspec":
        groups = dd.read_parquet(tmp_path, split_row_groups=True)
        assert groups.npartitions == 5
        same(groups)
        same(groups.partitions[[4, 2]])
        same(dd.read_parquet(tmp_path, aggregate_files=True, split_row_groups=False, blocksize="1GB"))


def test_labels_are_named_and_other_collections_refused(table: pa.Table) -> None:
    there = dd.from_pandas(as_pandas(table), npartitions=2)
    with pytest.raises(BadOption, match=r"^label: wanted the name of a column, got a list\. Add it to the collection"):
        tb.fit(there, ["no"] * len(table))
    with pytest.raises(BadData, match=r"^the Dask Array: wanted a DataFrame or a Bag"):
        tb.fit(there[["size"]].to_dask_array(), "label")
    with pytest.raises(BadData, match=r"^the data: wanted a query, since a connection was given, got a DataFrame\.$"):
        tb.fit(there, "label", connection="duckdb")
    with pytest.raises(
        BadOption, match=r"^where: wanted files, or rows that are here, got the Dask DataFrame\. Filter it"
    ):
        tb.fit(there, "label", where="size > 0")
    with pytest.raises(BadData, match="label: wanted a column of the Dask DataFrame, got 'lable'"):
        tb.fit(there, "lable")


def test_answers_are_computed_beside_the_rows_when_read(table: pa.Table, folder: Path) -> None:
    model = tb.fit(table, "label", **OPTIONS)
    there = dd.read_parquet(folder)
    lazily = model.predict(there, abstain=0.6)
    assert list(lazily.columns) == [*there.columns, "predicted"]
    here = pd.Series(model.predict(table, abstain=0.6), dtype=object)
    assert lazily.compute()["predicted"].astype(object).where(lambda s: s.notna(), None).tolist() == here.tolist()
    for method, name in (("predict_proba", "P"), ("predict_log_proba", "log P"), ("log_joint", "log joint")):
        said = getattr(model, method)(there).compute()[[f"{name}({c})" for c in model.classes]]
        np.testing.assert_array_equal(said.to_numpy(), getattr(model, method)(table))
    bounds, known = model.predict_interval(there, level=0.9).compute(), model.predict_interval(table, level=0.9)
    np.testing.assert_array_equal(bounds["low(no)"], known.low[:, 0])
    bag = dask.bag.from_sequence(table.drop_columns(["day", "small"]).to_pylist()[:50], npartitions=3)
    narrow = tb.fit(table.drop_columns(["day", "small"]), "label", **OPTIONS)
    answers = [row["predicted"] for row in narrow.predict(bag).compute()]
    assert answers == narrow.predict(table.slice(0, 50)).tolist()


def test_answers_are_refused_before_anything_is_computed(table: pa.Table) -> None:
    model = tb.fit(table, "label", **OPTIONS)
    there = dd.from_pandas(as_pandas(table), npartitions=2)
    with pytest.raises(BadData, match="wanted a column 'colour' as in training, got none of that name"):
        model.predict(there.drop(columns="colour"))
    with pytest.raises(BadOption, match="wanted no column 'predicted'"):
        model.predict(model.predict(there))


def test_a_fold_knows_nothing_of_bayes(table: pa.Table, folder: Path) -> None:
    partitions = engines.read(dd.read_parquet(folder))
    assert isinstance(partitions, DaskPartitions)
    assert partitions.count == 7
    rows, own = _Rows(("label",)), [10 * k for k in range(7)]
    assert partitions.each(rows) == [len(pq.read_table(path)) for path in sorted(folder.iterdir())]
    assert partitions.fold(rows) == len(table)
    assert partitions.each(_Told(("label",)), own=own) == [11 * k for k in range(7)]
    assert partitions.fold(_Told(("label",)), own=own) == sum(11 * k for k in range(7))
    assert sum(batch.num_rows for batch in partitions) == len(table)


@dataclass(frozen=True)
class _Rows(engines.MergeTask[int]):
    """Count rows."""

    columns: Sequence[str]

    def run(self, rows: Source, info: engines.PartitionInfo) -> int:
        return sum(batch.num_rows for batch in rows)

    def zero(self) -> int:
        return 0

    def merge(self, one: int, other: int) -> int:
        return one + other

    def pack(self, result: int) -> bytes:
        return str(result).encode()

    def unpack(self, content: bytes) -> int:
        return int(content)


class _Told(_Rows):
    """Return each partition's argument and its number."""

    def run(self, rows: Source, info: engines.PartitionInfo) -> int:
        return int(info.own) + info.partition


def test_a_bar_counts_partitions(table: pa.Table, monkeypatch: pytest.MonkeyPatch) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    terminal = Terminal()
    monkeypatch.setattr("sys.stderr", terminal)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr("tallybayes.display.progress._PATIENCE", 0.0)
    tb.fit(dd.from_pandas(as_pandas(table), npartitions=5), "label", **OPTIONS)
    assert "5 partitions" in terminal.getvalue()
    assert "the Dask DataFrame" in terminal.getvalue()


def test_a_running_number_is_left_out_of_a_collection_too() -> None:
    kinds = ["kept", "lost"] * 60
    rows = pa.table({"Kundennr": range(7000, 7120), "size": [k % 9 + 0.5 for k in range(120)], "state": kinds})
    with pytest.warns(LeftOutWarning, match=r"^column 'Kundennr': not used, since it looks like an id"):
        here = tb.fit(rows, "state")
    with pytest.warns(LeftOutWarning, match=r"^column 'Kundennr': not used, since it looks like an id"):
        there = tb.fit(dd.from_pandas(as_pandas(rows), npartitions=3), "state")
    assert there.schema.columns == ("size",)
    assert there.evidence == here.evidence
