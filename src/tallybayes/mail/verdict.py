"""What a mail filter says of a message."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["UNSURE", "Verdict", "rounded"]

UNSURE = "unsure"


@dataclass(frozen=True)
class Verdict:
    """The class of a message, and how probable each class is.

    Attributes
    ----------
    name : str
        The most probable class; "" if the filter knows none.
    probabilities : dict of str to float
        By class, most probable first.
    sure : bool
        Whether the filter stands by the class.
    margin : float
        The log-odds of the class that filters look for ("spam", or the first class) against all others.

    Examples
    --------
    >>> verdict = Verdict("spam", {"spam": 0.998, "ham": 0.002}, sure=True, margin=6.2)
    >>> verdict.label, verdict.line
    ('spam', 'spam 0.998; ham 0.002')
    """

    name: str
    probabilities: dict[str, float]
    sure: bool
    margin: float

    @property
    def label(self) -> str:
        """The class, or "unsure"."""
        return self.name if self.sure else UNSURE

    @property
    def exit_code(self) -> int:
        """The exit code of commands, which is bogofilter's: 0 spam, 1 any other class, 2 unsure."""
        return 2 if not self.sure else 0 if self.name == "spam" else 1

    @property
    def line(self) -> str:
        """The value of the header field X-Tally: the label, then each class with its probability."""
        listed = [f"{name} {rounded(p)}" for name, p in self.probabilities.items()]
        return "; ".join(listed if self.sure else [UNSURE, *listed])


def rounded(p: float) -> str:
    """Return three digits that never claim certainty where there is none."""
    return f"{min(max(p, 0.001), 0.999) if 0 < p < 1 else p:.3f}"
