"""A given prior is that of the rows to come: calibration on the rows at hand does not undo it."""

from typing import Any

import numpy as np
import pytest

import tallybayes as tb

rng = np.random.default_rng(3)
N = 3000
Y = np.where(rng.random(N) < 0.1, "rare", "common")
NUMBERS = rng.normal(np.where(Y == "rare", 1.0, 0.0)[:, None], 1.0, (N, 2))
TABLE = {"x": NUMBERS[:, 0], "same": NUMBERS[:, 0] + rng.normal(0, 0.1, N), "other": NUMBERS[:, 1], "y": Y}


@pytest.mark.parametrize("structure", ["naive", "pairs", "tan"])
@pytest.mark.parametrize("prior", ["uniform", {"rare": 0.5, "common": 0.5}, (0.5, 0.5)])
def test_only_the_prior_changes(prior: Any, structure: Any) -> None:
    learned = tb.fit(TABLE, "y", structure=structure)
    given = tb.fit(TABLE, "y", prior=prior, structure=structure)
    shares = np.log([learned.prior["common"], learned.prior["rare"]])
    moved = given.predict_log_proba(TABLE) - learned.predict_log_proba(TABLE) + shares
    np.testing.assert_allclose(moved[:, 0], moved[:, 1], atol=1e-9)  # the likelihoods are the same
    found = given.predict(TABLE) == "rare"
    assert found[Y == "rare"].mean() > 0.6


def test_one_weight_and_texts_too() -> None:
    texts = [
        " ".join(rng.choice(["aa", "bb", "cc", "dd", "ee", "ff", "gg", "hh"], 6, p=_shares(y == "rare")))
        for y in Y[:800]
    ]
    for rows, label, calibrate in ((TABLE, "y", "one"), (texts, Y[:800], "auto")):
        learned = tb.fit(rows, label, calibrate=calibrate)
        given = tb.fit(rows, label, calibrate=calibrate, prior="uniform")
        odds = (np.diff(model.predict_log_proba(rows))[:, 0] for model in (given, learned))
        moved = np.subtract(*odds)  # towards the rare class, by about what its share takes from it
        share = -np.diff(np.log(list(learned.prior.values())))[0]
        np.testing.assert_allclose(moved, share, rtol=0.25)


def _shares(rare: bool) -> Any:
    each = np.arange(1.0, 9.0) if rare else np.full(8, 1.0)
    return each / each.sum()
