"""The textbook weather table, with words and numbers: fit, predict, forget, merge, save and load.

Run it with `python examples/weather.py`. Every figure can be checked by hand, and is checked here.
"""

from __future__ import annotations

import math
import tempfile
from pathlib import Path

import tallybayes as tb

DAYS: list[tuple[str, float, float, bool, str]] = [
    ("sunny", 85, 85, False, "no"),
    ("sunny", 80, 90, True, "no"),
    ("overcast", 83, 86, False, "yes"),
    ("rainy", 70, 96, False, "yes"),
    ("rainy", 68, 80, False, "yes"),
    ("rainy", 65, 70, True, "no"),
    ("overcast", 64, 65, True, "yes"),
    ("sunny", 72, 95, False, "no"),
    ("sunny", 69, 70, False, "yes"),
    ("rainy", 75, 80, False, "yes"),
    ("sunny", 75, 70, True, "yes"),
    ("overcast", 72, 90, True, "yes"),
    ("overcast", 81, 75, False, "yes"),
    ("rainy", 71, 91, True, "no"),
]
COLUMNS = ("outlook", "temperature", "humidity", "windy", "play")
NEW_DAY = {"outlook": "sunny", "temperature": 66.0, "humidity": 90.0, "windy": True}


def main() -> None:
    """Fit, predict, forget, merge, save and load."""
    days = [dict(zip(COLUMNS, day, strict=True)) for day in DAYS]
    model = tb.fit(days, "play")
    print(model)

    counted = tb.fit(days, "play", estimate="mle", variance="n-1", calibrate=None)  # normal densities
    joint = dict(zip(counted.classes, map(math.exp, counted.log_joint([NEW_DAY])[0]), strict=True))
    print("as counted: prior × likelihood", {name: f"{p:.9f}" for name, p in joint.items()})
    assert round(joint["yes"], 9) == 0.000035787
    assert round(joint["no"], 9) == 0.000136347

    probabilities = dict(zip(model.classes, model.predict_proba([NEW_DAY])[0].tolist(), strict=True))
    print(
        "averaged over the posterior of the parameters, calibrated:",
        {name: f"{p:.4f}" for name, p in probabilities.items()},
    )
    print("play?", model.predict([NEW_DAY])[0])
    assert model.predict([NEW_DAY]).tolist() == ["yes"]  # nearly even

    first, rest = days[:6], days[6:]
    assert tb.fit(first, "play").learn(rest).evidence == model.evidence
    assert (tb.fit(rest, "play") + tb.fit(first, "play")).evidence == model.evidence
    assert model.forget(rest).evidence == tb.fit(first, "play").evidence
    print("learned in two parts, merged, and forgotten again: the same to the last bit")

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "weather.tally"
        model.save(path)
        assert tb.load(path) == model
        print(f"saved in {path.stat().st_size} bytes and loaded")


if __name__ == "__main__":
    main()
