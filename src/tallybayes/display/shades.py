"""Images as lines of characters, darker for higher values, for terminals and plain text."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

_SHADES = np.array(list(" ░▒▓█"))
_NARROW = 18  # pixels; up to this width a pixel is two characters, because a character is twice as high as wide
_WIDEST = 40  # pixels; wider images are shrunk to fit a terminal


def shaded(images: Floats) -> list[list[str]]:
    """Return the lines of each image (C, H, W), all on one scale.

    Examples
    --------
    >>> shaded(np.array([[[0.0, 0.5], [1.0, 0.0]]]))
    [['  ▒▒', '██  ']]
    """
    low, high = float(images.min()), float(images.max())
    scaled = (images - low) / ((high - low) or 1.0)
    shrink = -(-images.shape[2] // _WIDEST)
    narrow = images.shape[2] <= _NARROW
    coarse = [_averaged(image, shrink * (1 if narrow else 2), shrink) for image in scaled]
    return [_lines(image, 2 if narrow else 1) for image in coarse]


def _averaged(image: Floats, down: int, across: int) -> Floats:
    """Return the mean of each patch of down × across pixels (fewer at the edges)."""
    rows, columns = (np.arange(0, size, step) for size, step in zip(image.shape, (down, across), strict=True))
    total = np.add.reduceat(np.add.reduceat(image, rows, axis=0), columns, axis=1)
    ones = np.ones(image.shape)
    return np.asarray(total / np.add.reduceat(np.add.reduceat(ones, rows, axis=0), columns, axis=1))


def _lines(image: npt.NDArray[np.float64], times: int) -> list[str]:
    shade = np.minimum((image * len(_SHADES)).astype(int), len(_SHADES) - 1)
    return ["".join(character * times for character in line) for line in _SHADES[shade]]
