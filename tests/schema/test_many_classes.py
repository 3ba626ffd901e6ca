"""With thousands of classes numbers are Gaussian: buckets of each class would fill the memory."""

from __future__ import annotations

import numpy as np
import pytest

import tallybayes as tb
from tallybayes.inference.leave_one_out import prior_without


@pytest.mark.parametrize(("classes", "event"), [(1000, "histogram"), (1100, "gaussian")])
def test_the_event_model_of_numbers_depends_on_the_number_of_classes(classes, event):
    rng = np.random.default_rng(0)
    y = np.arange(2 * classes) % classes
    x = y[:, None] % [7, 11] + rng.normal(size=(len(y), 2))
    labels = np.char.add("c", y.astype(str))
    model = tb.fit(x, labels, calibrate=None)
    assert set(model.schema.events().values()) == {event}
    assert set(tb.fit(x, labels, events="histogram", calibrate=None).schema.events().values()) == {"histogram"}


def test_the_prior_without_a_row_is_the_same_for_few_rows_and_for_many():
    y = np.arange(12) % 5
    model = tb.fit(np.arange(12.0)[:, None], y, events="gaussian")
    classes = np.arange(5, dtype=np.int32)
    many = np.tile(classes, 3)
    few = prior_without(model.evidence, model.choices, classes, None)
    np.testing.assert_array_equal(few, prior_without(model.evidence, model.choices, many, None)[:5])
    np.testing.assert_allclose(np.exp(few[0]), [2 / 11, 3 / 11, 2 / 11, 2 / 11, 2 / 11])
