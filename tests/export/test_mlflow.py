"""The example of MLflow in docs/export.md; MLflow is not needed otherwise, so it is tested where it is installed."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tallybayes as tb

PAGE = Path(__file__).parents[2] / "docs" / "export.md"


def test_a_model_comes_back_from_mlflow(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mlflow = pytest.importorskip("mlflow", reason="no mlflow is here: pip install mlflow")
    monkeypatch.chdir(tmp_path)
    mlflow.set_tracking_uri(f"sqlite:///{tmp_path / 'runs.db'}")
    [example] = re.findall(r"```py\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    model = tb.fit({"outlook": ["sunny", "rainy"] * 4, "humidity": [80, 60] * 4, "play": ["no", "yes"] * 4}, "play")
    names: dict[str, Any] = {"tb": tb, "model": model, "today": {"outlook": "sunny", "humidity": 75}}
    exec(example, names)
    np.testing.assert_array_equal(names["answers"], model.predict_proba([names["today"]]))
