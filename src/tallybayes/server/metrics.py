"""Counts of requests and rows, as Prometheus reads them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from tallybayes.server.served_model import ServedModel

__all__ = ["Metrics"]

_BOUNDS = (0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1.0, 5.0)  # seconds


class Metrics:
    """What the server has done since it started."""

    def __init__(self) -> None:
        self.requests: Counter[tuple[str, int]] = Counter()
        self.rows: Counter[tuple[str, str]] = Counter()
        self._within: Counter[float] = Counter()
        self._seconds, self._count = 0.0, 0

    def request(self, route: str, status: int, seconds: float) -> None:
        """Count a request that was answered."""
        self.requests[route, status] += 1
        self._seconds += seconds
        self._count += 1
        for bound in _BOUNDS:
            if seconds <= bound:
                self._within[bound] += 1

    def text(self, models: Iterable[ServedModel]) -> str:
        """Return all figures in the text format of Prometheus."""
        lines = ["# TYPE tally_requests_total counter"]
        for (route, status), n in sorted(self.requests.items()):
            lines.append(f'tally_requests_total{{route="{_escape(route)}",status="{status}"}} {n}')
        lines.append("# TYPE tally_request_seconds histogram")
        lines += [f'tally_request_seconds_bucket{{le="{bound}"}} {self._within[bound]}' for bound in _BOUNDS]
        lines.append(f'tally_request_seconds_bucket{{le="+Inf"}} {self._count}')
        lines += [f"tally_request_seconds_sum {self._seconds}", f"tally_request_seconds_count {self._count}"]
        lines.append("# TYPE tally_rows_total counter")
        for (model, operation), n in sorted(self.rows.items()):
            lines.append(f'tally_rows_total{{model="{_escape(model)}",operation="{operation}"}} {n}')
        lines.append("# TYPE tally_journal_position gauge")
        lines.append("# TYPE tally_changes_waiting gauge")
        for one in models:
            name = _escape(one.name)
            lines.append(f'tally_journal_position{{model="{name}"}} {one.published.position}')
            lines.append(f'tally_changes_waiting{{model="{name}"}} {one.waiting()}')
        return "\n".join(lines) + "\n"


def _escape(text: str) -> str:
    return text.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")
