"""scikit-learn's own tests of naive Bayes, taken from the installed wheel and pointed at our classes."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

from sklearn.tests import test_naive_bayes

from .versions import recent

# Tests that are not run, by name, each with its reason. There are none about private internals: the drop-ins are
# subclasses of scikit-learn's classes, and those internals are still there.
NOT_RUN = {
    "test_gnb_array_api_compliance": "our kernels take NumPy arrays; the tag array_api_support says so",
}


@recent
def test_the_drop_ins_pass_the_tests_of_the_originals(tmp_path: Path) -> None:
    source = Path(test_naive_bayes.__file__).read_text(encoding="utf-8")
    pointed, times = re.subn(r"^from sklearn\.naive_bayes import", "from tallybayes import", source, flags=re.MULTILINE)
    assert times == 1
    assert "sklearn.naive_bayes" not in pointed
    assert len(NOT_RUN) <= 5
    (tmp_path / "test_pointed_at_tallybayes.py").write_text(pointed, encoding="utf-8")
    deselect = " and ".join(f"not {name}" for name in NOT_RUN)
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "sklearn.conftest", "-p", "no:cacheprovider", "-k", deselect, "."],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    passed = re.search(r"(\d+) passed", done.stdout)
    assert passed is not None
    assert int(passed.group(1)) >= 80, done.stdout
    assert "failed" not in done.stdout
