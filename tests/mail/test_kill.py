"""A mail daemon that is killed loses nothing; `python -m tests.mail.kill --times 200` kills it more often."""

from __future__ import annotations

import pytest

from .kill import kill


@pytest.mark.parametrize("seed", [1, 2, 3])  # three processes of the test run share the work
def test_kill_minus_nine_in_the_middle_of_learning_loses_nothing(seed: int) -> None:
    assert kill(12, every=20, seed=seed) > 12
