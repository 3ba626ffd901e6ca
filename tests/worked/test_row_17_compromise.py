"""Row 17: only some features are independent: a tree of pairs, all pairs, and pairs, chosen by rows left out."""

from __future__ import annotations

import numpy as np
import pytest

import tallybayes as tb


def witnesses(n: int, seed: int) -> dict[str, np.ndarray]:
    """Two columns with a common cause that is not written down, and one of its own."""
    rng = np.random.default_rng(seed)
    guilty, dark = rng.random(n) < 0.5, rng.random(n) < 0.5

    def says(share: np.ndarray) -> np.ndarray:
        return np.where(rng.random(n) < share, "yes", "no")

    seen = np.where(dark, 0.1, np.where(guilty, 0.9, 0.6))
    alone = np.where(guilty, 0.7, 0.3)
    return {"one": says(seen), "two": says(seen), "other": says(alone), "y": np.where(guilty, "guilty", "not")}


@pytest.mark.parametrize("structure", ["tan", "pairs", "auto"])
def test_the_dependent_pair_is_found_and_no_other(structure: str) -> None:
    model = tb.fit(witnesses(4000, 1), "y", structure=structure)
    assert [name for name in model.schema.terms if "&" in name] == ["one & two"]


@pytest.mark.parametrize("structure", ["tan", "aode", "pairs", "auto"])
def test_leave_one_out_and_new_rows_say_that_it_pays(structure: str) -> None:
    rows, new = witnesses(3000, 2), witnesses(20_000, 3)

    def losses(**options: str | None) -> tuple[float, float]:
        left_out = tb.validate(rows, "y", "loo", **options).evaluation.log_loss
        p = tb.fit(rows, "y", **options).predict_proba(new)
        return left_out, tb.evaluate(new["y"], p, ["guilty", "not"]).log_loss

    plain, found = losses(calibrate=None), losses(structure=structure)
    assert found[0] < plain[0] - 0.005
    assert found[1] < plain[1] - 0.005
    assert found[0] == pytest.approx(found[1], abs=0.02)


def test_leave_one_out_chooses_among_tree_and_average() -> None:
    """Where each column follows the one before it, the tree is right; where all share a cause, the average is near."""
    rows = witnesses(3000, 5)
    found = tb.compare(rows, "y", "5-fold", partners=())
    rungs = {one.options["structure"]: one for one in found.candidates if one.kind == "structure"}
    assert set(rungs) == {"pairs", "tan", "aode", "auto"}
    left_out = {one: tb.validate(rows, "y", "loo", structure=one).evaluation.log_loss for one in ("naive", *rungs)}
    assert min(left_out, key=left_out.__getitem__) != "naive"
    for one, rung in rungs.items():  # folds and rows left out agree
        assert rung.log_loss == pytest.approx(left_out[one], abs=0.01)


def test_where_nothing_depends_nothing_is_added() -> None:
    rows = witnesses(4000, 4)
    del rows["two"]
    assert tb.fit(rows, "y", structure="auto").schema.terms == ("one", "other")
