"""What to expect: older messages train, newer ones test."""

from __future__ import annotations

import pytest

from tallybayes.errors import BadData, BadOption
from tallybayes.mail.check import check, one_minus_auc, received

from .messages import message, pairs


def dated(day: int, kind: str, seed: int, month: int = 7) -> tuple[str, bytes]:
    date = f"Received: by x; Mon, {day:02} {['', 'Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug'][month]} 2024"
    return kind, f"{date} 10:00:00 +0000\n".encode() + message(kind, seed)


@pytest.mark.parametrize(
    ("content", "seconds"),
    [
        (b"Date: Thu, 22 Aug 2002 12:36:23 +0000\n\n", 1030019783.0),
        (b"Date: Thu, 22 Aug 2002 12:36:23 -0100\r\n\r\n", 1030023383.0),
        (b"received: x\n by y;\n Thu, 22 Aug 2002 12:36:23 +0000\ndate: Fri, 23 Aug 2002 2:36 +0000\n\n", 1030019783.0),
        (b"Received: from x; nonsense\nReceived: by z; Thu, 22 Aug 2002 12:36:23 +0000\n\n", 1030019783.0),
        (b"Subject: x\n\nDate: Thu, 22 Aug 2002 12:36:23 +0000\n", 0.0),
        (b"Date: Thu, 99 Aug 99999 12:36:23 +0000\n\n", 0.0),
        (b"Date: \xff\xfe\n\n", 0.0),
        (b"", 0.0),
    ],
)  # fmt: skip
def test_a_message_is_as_old_as_its_receiver_says(content: bytes, seconds: float) -> None:
    assert received(content) == seconds


def test_the_newest_messages_are_tested() -> None:
    old = [dated(1 + k % 28, kind, k, month=1 + k % 5) for k in range(90) for kind in ("ham", "spam")]
    new = [dated(1 + k % 28, kind, 500 + k, month=8) for k in range(45) for kind in ("ham", "spam")]
    found = check(new + old)
    assert found.trained == {"ham": 90, "spam": 90}
    assert found.tested == {"ham": 45, "spam": 45}
    assert found.since == "2024-08-01"
    assert found.confusion["spam"]["spam"] + found.confusion["spam"].get("unsure", 0) == 45
    assert found.one_minus_auc is not None
    assert found.one_minus_auc < 0.01
    assert found.undated == 0
    assert "Trained on 90 ham, 90 spam before 2024-08-01" in str(found)


def test_messages_without_dates_are_the_oldest() -> None:
    given = [(kind, b"Subject: " + kind.encode() + b" %d\n\n" % k) for k in range(10) for kind in ("ham", "spam")]
    found = check(given + pairs(5), newest=0.25)
    assert found.undated == 20
    assert found.tested == {"ham": 4, "spam": 4}


def test_too_little_mail_is_refused() -> None:
    with pytest.raises(BadData, match="check: wanted messages of two classes before those to test on"):
        check(pairs(10, "spam"))
    with pytest.raises(BadOption, match="newest: wanted a share between 0 and 1"):
        check(pairs(10), newest=1.0)


def test_ranks_are_counted_with_ties_as_half() -> None:
    assert one_minus_auc([1.0, 1.0], [True, False]) == 0.5
    assert one_minus_auc([0.0, 1.0], [True, False]) == 1.0
    assert one_minus_auc([1.0], [True]) is None
