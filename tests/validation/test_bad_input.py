"""Invalid validations are refused in one sentence."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tallybayes as tb
from tallybayes.engines import memory

ROWS = {"x": [1.0, 2.0, 4.0, 5.0, 9.0], "g": ["p", "p", "q", "q", "q"], "y": ["a", "a", "b", "b", "b"]}


def refused(kind: type[Exception], sentence: str, **options: Any) -> None:
    source = options.pop("source", ROWS)
    with pytest.raises(kind) as caught:
        tb.validate(source, "y", **options)
    assert sentence in str(caught.value)


def test_an_unknown_how_lists_the_forms() -> None:
    refused(tb.errors.BadOption, "how: wanted one of 'loo', '10-fold', '10x10', 'holdout',", how="tenfold")
    refused(tb.errors.BadOption, "or 'prequential(500)', got 10.", how=10)


def test_folds_must_be_two_or_more_and_no_more_than_rows() -> None:
    refused(tb.errors.BadOption, "how: wanted at least 2 folds, got '1-fold'.", how="1-fold")
    refused(tb.errors.BadOption, "how: wanted at least 1 repeat, got '0x10'.", how="0x10")
    refused(
        tb.errors.BadOption,
        "how: wanted at most as many folds as rows (5), got '10-fold'. Choose fewer folds, or how='loo'.",
        how="10-fold",
    )


def test_a_share_is_between_none_and_all() -> None:
    for how in ("holdout(0)", "holdout(1)", "holdout(1.5)", "holdout(1/0)"):
        refused(tb.errors.BadOption, "how: wanted a share above 0 and below 1, as in 'holdout(0.25)'", how=how)


def test_blocks_have_rows_and_not_all_of_them() -> None:
    refused(tb.errors.BadOption, "how: wanted blocks of at least 1 row", how="prequential(0)")
    refused(tb.errors.BadOption, "how: wanted blocks of fewer rows than there are (5)", how="prequential(5)")


def test_groups_folds_and_order_have_a_value_for_each_row() -> None:
    for role, how in (("groups", "2-fold"), ("folds", "2-fold"), ("order", "prequential")):
        sentence = f"column '{role}': wanted 5 values, one for each row of the dict, got 4."
        refused(tb.errors.BadData, sentence, how=how, **{role: np.arange(4)})
        sentence = f"{role}: wanted a column of the dict, or an array, got 'h'."
        refused(tb.errors.BadData, sentence, how=how, **{role: "h"})
        refused(
            tb.errors.BadData,
            f"{role}: wanted a value in every row, got a missing one (row 2).",
            how=how,
            **{role: [1, None, 2, 3, 4]},
        )


def test_too_few_groups_are_refused() -> None:
    refused(tb.errors.BadOption, "groups: wanted at least 3, got 2. Choose how='2-fold'.", how="3-fold", groups="g")
    refused(tb.errors.BadOption, "groups: wanted at least 2, got 1. Group", how="2-fold", groups=["p"] * 5)
    refused(tb.errors.BadOption, "groups: wanted at least 2, got 1, 'p'.", how="loo", groups=["p"] * 5)
    refused(tb.errors.BadOption, "folds: wanted at least 2, got 1, 0.", folds=[0] * 5)


def test_options_that_do_not_go_together_are_refused() -> None:
    refused(tb.errors.BadOption, "order: wanted how='prequential', got '2-fold'.", how="2-fold", order="x")
    refused(tb.errors.BadOption, "groups: wanted another how than 'prequential'", how="prequential", groups="g")
    refused(tb.errors.BadOption, "groups: wanted none beside folds, got both.", groups="g", folds="g")
    refused(
        tb.errors.BadOption, "option: wanted one of this function or of fit, got 'alfa'. Did you mean 'alpha'", alfa=1
    )
    refused(tb.errors.BadOption, "seed: wanted a whole number not below 0, got -1.", seed=-1)


def test_what_fit_refuses_is_refused_with_the_same_words() -> None:
    refused(
        tb.errors.BadData,
        "column 'x': wanted finite numbers, got inf (row 3)",
        source=ROWS | {"x": [1.0, 2.0, np.inf, 3.0, 4.0]},
    )
    refused(tb.errors.BadData, "wanted at least two classes", source=ROWS | {"y": ["a"] * 5})


def test_a_value_never_seen_is_named_with_its_own_row() -> None:
    rows = {"x": ["p", "q", "p", "q", "p", "r"], "y": ["a", "a", "b", "b", "b", "a"]}
    refused(
        tb.errors.BadData,
        "column 'x': wanted a value seen in training, got 'r' (row 6)",
        source=rows,
        how="2-fold",
        unseen="error",
    )


def test_scores_that_do_not_fit_into_memory_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "_LITTLE", 0)
    monkeypatch.setattr(memory, "_free_memory", lambda: 400)
    got = "the scores of 5 rows and 2 classes, which take 0 GB, where 0 are free."
    for how in ("2-fold", "loo"):
        refused(tb.errors.BadData, f"label 'y': wanted what fits into memory, got {got}", how=how)
    monkeypatch.setattr(memory, "_free_memory", lambda: 600)  # 8 · (6 · 5 · 2 + 4) = 512 bytes
    assert len(tb.validate(ROWS, "y", how="2-fold").probabilities) == 5
