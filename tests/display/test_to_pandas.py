"""Every result gives the numbers behind its table, as Arrow and as a DataFrame."""

from collections.abc import Iterator

import numpy as np
import pytest

import tallybayes as tb
from tallybayes.display.tables import Result

rng = np.random.default_rng(4)
CLASSES = rng.choice(["left", "right"], 80)
TABLE = {
    "prior": rng.normal(np.where(CLASSES == "left", 0.0, 1.0)),  # a column may be called like one of ours
    "value": rng.choice(["p", "q", "r"], 80).tolist(),
    "side": CLASSES.tolist(),
}


def results() -> Iterator[tuple[Result, int]]:
    model = tb.fit(TABLE, "side")
    found = tb.validate(TABLE, "side", "4-fold")
    yield found, 80
    yield found.evaluation, 1
    yield found.evaluation.confusion, 2
    yield found.evaluation.roc, len(found.evaluation.roc.fpr)
    yield found.evaluation.calibration, 10
    yield found.evaluation.operating_point(), 1
    yield model.contributions(TABLE), 80
    yield model.shapley(TABLE), 80
    why = model.explain([{"prior": 0.25, "value": "q"}])
    yield why, 2
    assert why.counterfactual is not None
    yield why.counterfactual, len(why.counterfactual.changes)
    yield model.table("value"), 3
    yield model.tables(), 2 * sum(len(one.rows) for one in model.tables().columns)
    yield model.nomogram(), sum(len(one.values) for one in model.nomogram().scales)
    yield model.importance(), 2
    yield model.predict_interval([{"prior": 1.0}, {"value": "p"}]), 2
    yield tb.dependence(TABLE, "side"), 1
    yield tb.probability(TABLE, "left | value = p"), 1
    yield tb.report(TABLE, "side", how="2-fold"), 5
    yield tb.profile(TABLE), 3
    yield model.drift({name: values[:40] for name, values in TABLE.items()}), 2
    compared = tb.compare(TABLE, "side", "2-fold", partners=())
    yield compared, len(compared.candidates)


def test_each_result_has_a_row_for_each_line() -> None:
    for result, rows in results():
        table = result.to_arrow()
        assert table.num_rows == rows, type(result).__name__
        assert len(set(table.column_names)) == table.num_columns > 0
        frame = result.to_pandas()
        assert list(frame.columns) == table.column_names
        assert repr(result) == str(result)


def test_the_numbers_are_those_of_the_result() -> None:
    found = tb.validate(TABLE, "side", "loo")
    frame = found.to_pandas()
    assert (frame["true"] == CLASSES).all()
    np.testing.assert_array_equal(frame[["P(left)", "P(right)"]], found.probabilities)
    assert (frame["true"] == frame["predicted"]).mean() == pytest.approx(found.evaluation.accuracy)
    terms = tb.fit(TABLE, "side").contributions(TABLE)
    frame = terms.to_pandas()
    parts = frame["prior"] + frame["term(prior)"] + frame["term(value)"] + frame["split"]
    np.testing.assert_allclose(parts, frame["log_odds"])


def every_result(cls: type[Result]) -> Iterator[type[Result]]:
    for one in cls.__subclasses__():
        yield one
        yield from every_result(one)


def test_no_result_hides_its_table_behind_a_list_of_fields() -> None:
    list(results())  # their modules are imported
    for cls in every_result(Result):
        if cls.__module__.startswith("tallybayes"):
            assert cls.__repr__ is Result.__repr__, cls
