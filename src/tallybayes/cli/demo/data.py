"""The bundled data: the weather, invented messages, flowers and digits."""

from __future__ import annotations

from importlib.resources import files
from typing import Any

_DAYS = """
sunny hot high false no
sunny hot high true no
overcast hot high false yes
rainy mild high false yes
rainy cool normal false yes
rainy cool normal true no
overcast cool normal true yes
sunny mild high false no
sunny cool normal false yes
rainy mild normal false yes
sunny mild normal true yes
overcast mild high true yes
overcast hot normal false yes
rainy mild high true no
"""
_COLUMNS = ("outlook", "temperature", "humidity", "windy", "play")
WEATHER = {name: [day.split()[k] for day in _DAYS.strip().splitlines()] for k, name in enumerate(_COLUMNS)}
NEW_DAY = {"outlook": "sunny", "temperature": "cool", "humidity": "high", "windy": "true"}
NEW_NUMERIC_DAY = {"outlook": "sunny", "temperature": 66, "humidity": 90, "windy": "true"}


def numeric_weather() -> dict[str, list[Any]]:
    """Return the same days with temperature and humidity as numbers."""
    temperature = [85, 80, 83, 70, 68, 65, 64, 72, 69, 75, 75, 72, 81, 71]
    humidity = [85, 90, 86, 96, 80, 70, 65, 95, 70, 80, 70, 90, 75, 91]
    return {**WEATHER, "temperature": temperature, "humidity": humidity}


def messages() -> str:
    """Return the path of the messages: sender, hour, links, text, and ham or spam."""
    return str(files("tallybayes.cli.demo") / "messages.csv")


def iris() -> dict[str, Any]:
    """Return Fisher's 150 flowers of three species."""
    from sklearn.datasets import load_iris

    found = load_iris()
    names = [name.removesuffix(" (cm)") for name in found.feature_names]
    return dict(zip(names, found.data.T, strict=True)) | {"species": found.target_names[found.target]}


def digits(*of: int) -> tuple[Any, Any]:
    """Return images of these digits, 8 × 8 pixels, and their labels."""
    import numpy as np
    from sklearn.datasets import load_digits

    images, kinds = load_digits(return_X_y=True)
    kept = np.isin(kinds, of)
    return images[kept], kinds[kept]


def xor(n: int = 1000) -> dict[str, Any]:
    """Return two switches, and a light that is on when exactly one of them is."""
    import numpy as np

    a, b = np.random.default_rng(0).integers(0, 2, (2, n)).astype(bool)
    return {"left": a, "right": b, "light": np.where(a ^ b, "on", "off")}
