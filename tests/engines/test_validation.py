"""Rows of a cluster are validated there, to the same bits as in this process."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import dask.dataframe as dd
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import tallybayes as tb
from tallybayes.engines.dask import DaskPartitions
from tallybayes.errors import BadData, BadOption
from tallybayes.evidence import count, row_sample
from tallybayes.validation import folds
from tallybayes.validation.fold_sample import FoldSample
from tallybayes.validation.result import Validation

from .rows import EVENTS, mixed

pytestmark = pytest.mark.filterwarnings("ignore:The inplace keyword:DeprecationWarning", "ignore::FutureWarning:dask")

PLANS: dict[str, dict[str, Any]] = {
    "loo": {"how": "loo"},
    "10-fold": {},
    "3x4": {"how": "3x4"},
    "holdout": {"how": "holdout"},
    "2xholdout(0.25)": {"how": "2xholdout(0.25)"},
    "groups": {"how": "5-fold", "groups": "who"},
    "each group": {"how": "loo", "groups": "who"},
    "given folds": {"folds": "who"},
    "prequential": {"how": "prequential(200)"},
    "ordered": {"how": "prequential(200)", "order": "when"},
}


def rows(n: int = 900) -> pd.DataFrame:
    """Return rows of every type, with columns to group and to order them by."""
    rng = np.random.default_rng(1)
    table = mixed(n)
    table = table.append_column("who", pa.array([f"person {k}" for k in rng.integers(0, 12, n)]))
    table = table.append_column("when", pa.array(rng.permutation(n)))
    return table.to_pandas(types_mapper=pd.ArrowDtype)


def partitions(frame: pd.DataFrame, parts: int = 5) -> Any:
    return dd.from_pandas(frame, npartitions=parts, sort=False)


def assert_same(there: Validation, here: Validation) -> None:
    np.testing.assert_array_equal(there.scores, here.scores)
    np.testing.assert_array_equal(there.probabilities, here.probabilities)
    np.testing.assert_array_equal(there.folds, here.folds)
    assert there.to_dict() == here.to_dict()


@pytest.fixture(scope="module")
def frame() -> pd.DataFrame:
    return rows()


@pytest.fixture
def nothing_comes_here(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(self: DaskPartitions) -> Iterator[pa.RecordBatch]:
        raise AssertionError("rows came here")

    monkeypatch.setattr(DaskPartitions, "__iter__", refused)


@pytest.mark.usefixtures("nothing_comes_here")
@pytest.mark.parametrize("plan", PLANS.values(), ids=PLANS)
@pytest.mark.parametrize(
    "options", [{}, {"weights": "times", "calibrate": None, "alpha": 1.0}], ids=["calibrated", "plain and weighted"]
)
def test_every_plan_gives_the_same_bits(frame: pd.DataFrame, plan: dict[str, Any], options: dict[str, Any]) -> None:
    here = tb.validate(frame, "label", events=EVENTS, **plan, **options)
    assert_same(tb.validate(partitions(frame), "label", events=EVENTS, **plan, **options), here)


@pytest.mark.parametrize("plan", PLANS.values(), ids=PLANS)
@pytest.mark.parametrize("share", [1.0, 0.2], ids=["all of its own", "less than its due"])
def test_rows_to_calibrate_by_are_chosen_by_each_fold_among_the_others(
    frame: pd.DataFrame, plan: dict[str, Any], share: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    alone: list[Any] = []
    plain = FoldSample.__init__

    def record(self: FoldSample, info: Any, place: Any, folds: int, before: bool, take: Any) -> None:
        plain(self, info, place, folds, before, lambda sampling: alone.append(sampling) or take(sampling))

    monkeypatch.setattr(FoldSample, "__init__", record)
    monkeypatch.setattr(count, "share_of", lambda places: share if places > 1 else 1.0)
    monkeypatch.setattr(row_sample, "MOST_ROWS", 60)
    monkeypatch.setattr(row_sample, "MOST_BYTES", 3000)
    here = tb.validate(frame, "label", events=EVENTS, **plan)
    alone.clear()
    assert_same(tb.validate(partitions(frame, 3), "label", events=EVENTS, **plan), here)
    # Early blocks are a small part of all rows: what calibrates theirs has to be asked for in any case.
    each_alone = "prequential" in plan.get("how", "") or (share < 1 and plan != {"how": "loo"})
    assert bool(alone) == each_alone


def test_a_model_validates_by_its_own_schema_and_choices(frame: pd.DataFrame) -> None:
    model = tb.fit(frame[:300].drop(columns=["who", "when"]), "label", events=EVENTS, estimate="map", weights="times")
    for how in ("loo", "4-fold"):
        assert_same(model.validate(partitions(frame), how=how), model.validate(frame, how=how))
    assert_same(
        model.validate(partitions(frame), how="4-fold", groups="who"), model.validate(frame, how="4-fold", groups="who")
    )


def test_folds_take_three_passes_however_often_they_are_drawn_and_leaving_one_out_two(
    frame: pd.DataFrame, monkeypatch: pytest.MonkeyPatch
) -> None:
    passes: list[str] = []
    plain = DaskPartitions._answers
    monkeypatch.setattr(
        DaskPartitions, "_answers", lambda self, *given: passes.append(type(given[0]).__name__) or plain(self, *given)
    )
    tb.validate(partitions(frame), "label", "3x4", events=EVENTS)
    assert passes == ["Count", "CountFolds", "ScoreFolds"]
    passes.clear()
    tb.validate(partitions(frame), "label", "loo", events=EVENTS)
    assert passes == ["Count", "LeaveOneOut"]


def test_few_sums_at_a_time_give_the_same(frame: pd.DataFrame, monkeypatch: pytest.MonkeyPatch) -> None:
    here = [tb.validate(frame, "label", how, events=EVENTS) for how in ("2x3", "prequential(300)")]
    monkeypatch.setattr(folds, "_MOST_CELLS", 1)
    for one in here:
        assert_same(tb.validate(partitions(frame), "label", one.how, events=EVENTS), one)


def test_partitions_may_be_empty_and_classes_in_one_of_them_only() -> None:
    frame = rows(200).drop(columns=["who", "when"]).sort_values("label")
    parts = [frame[:0], frame[:50], frame[50:50], frame[50:], frame[:0]]
    there = dd.concat([partitions(part, 1) for part in parts])
    for how in ("loo", "5-fold", "prequential(40)"):
        here = tb.validate(frame, "label", how, events=EVENTS)
        assert_same(tb.validate(there, "label", how, events=EVENTS), here)


def test_files_of_which_few_columns_are_read(tmp_path: Path) -> None:
    """Dask may read several files as one partition: each pass must find the same partitions."""
    frame = rows(600)
    for k in range(12):
        part = pa.Table.from_pandas(frame[50 * k : 50 * (k + 1)], preserve_index=False)
        pq.write_table(part, tmp_path / f"{k:02}.parquet")
    options: dict[str, Any] = {"events": {"size": "gaussian", "colour": "categorical", "*": "ignore"}}
    there = dd.read_parquet(tmp_path)
    for how, groups in (("loo", None), ("5-fold", None), ("5-fold", "who")):
        here = tb.validate(frame, "label", how, groups=groups, **options)
        assert_same(tb.validate(there, "label", how, groups=groups, **options), here)


def test_a_function_that_makes_words_goes_along(frame: pd.DataFrame) -> None:
    texts = frame[["prose", "label"]].dropna()
    for how in ("loo", "3-fold"):
        here = tb.validate(texts, "label", how, events={"prose": "text"}, tokenizer=str.split)
        assert_same(tb.validate(partitions(texts), "label", how, events={"prose": "text"}, tokenizer=str.split), here)


def test_rows_that_are_others_each_time_are_refused(frame: pd.DataFrame) -> None:
    rng = np.random.default_rng(0)
    plain = frame[["size", "label"]]
    there = partitions(plain).map_partitions(lambda part: part.iloc[rng.permutation(len(part))], meta=plain.iloc[:0])
    for how in ("loo", "5-fold"):
        with pytest.raises(BadData, match=r"partition \d.*the same rows in the same order.*got others. Persist"):
            tb.validate(there, "label", how)


def test_groups_are_named(frame: pd.DataFrame) -> None:
    with pytest.raises(BadOption, match="groups: wanted the name of a column, got a ndarray"):
        tb.validate(partitions(frame), "label", groups=np.zeros(len(frame)))
    with pytest.raises(BadData, match=r"folds: wanted a column of the Dask DataFrame.*'whom'.*'who'"):
        tb.validate(partitions(frame), "label", folds="whom")
    holes = frame.assign(who=frame["who"].where(frame["when"] != 5))
    with pytest.raises(BadData, match=r"groups: wanted a value in every row, got a missing one \(row \d+\)"):
        tb.validate(partitions(holes), "label", groups="who", events=EVENTS)


def test_an_error_of_a_row_names_its_partition(frame: pd.DataFrame) -> None:
    broken = frame[["size", "label"]].assign(size=np.where(frame["when"] == 5, np.inf, 1.0))
    with pytest.raises(BadData, match=r"the Dask DataFrame, partition \d, .*'size'"):
        tb.validate(partitions(broken), "label")


@pytest.mark.usefixtures("cluster")
class TestCluster:
    @pytest.mark.parametrize("how", ["loo", "2x5", "prequential(300)"])
    def test_every_way_to_hold_rows_out(self, frame: pd.DataFrame, how: str) -> None:
        options: dict[str, Any] = {"events": EVENTS, "weights": "times", "tokenizer": str.split}
        here = tb.validate(frame, "label", how, **options)
        assert_same(tb.validate(partitions(frame, 20), "label", how, **options), here)
