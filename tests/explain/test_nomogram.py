from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import tallybayes as tb
from tallybayes.errors import BadData, BadOption
from tallybayes.events import Event
from tests.laws.rows import every_event, rows_for

each_event = pytest.mark.parametrize("event", every_event(), ids=lambda event: event.spec)


@each_event
@pytest.mark.parametrize("calibrate", [None, "loo"])
def test_points_added_up_by_hand_give_the_probability(event: Event, calibrate: str | None) -> None:
    table = rows_for(event, 60, classes=2, seed=4)
    model = tb.fit(table, "label", events=event, calibrate=calibrate)
    chart = model.nomogram()
    wanted = model.predict_proba(table)[:, 1]
    for i, row in enumerate(table.select(model.schema.columns).to_pylist()):
        total = chart.total(row)
        if None not in row.values():  # the weights of whole rows
            assert total == pytest.approx(sum(chart.points(name, value) for name, value in row.items()))
        assert chart.probability(total, chart.size(row)) == pytest.approx(wanted[i], rel=1e-9)


@each_event
def test_points_of_three_classes_tell_one_of_two(event: Event) -> None:
    table = rows_for(event, 60, classes=3, seed=4)
    model = tb.fit(table, "label", events=event, calibrate=None)
    chart = model.nomogram("k2", "k0")
    p = model.predict_proba(table)
    for i, row in enumerate(table.select(model.schema.columns).to_pylist()[:20]):
        assert chart.probability(chart.total(row)) == pytest.approx(p[i, 2] / (p[i, 2] + p[i, 0]), rel=1e-9)


def test_scales_begin_at_nothing_and_the_widest_ends_at_a_hundred():
    rows = {"x": list("ppqqr") * 4, "n": list(range(20)), "y": ["no"] * 9 + ["yes"] * 11}
    chart = tb.fit(rows, "y").nomogram()
    assert chart.of == "yes"
    assert chart.scales[0].points.max() == pytest.approx(100.0)
    for scale in chart.scales:
        assert scale.points.min() == pytest.approx(0.0)
        for value, points in zip(scale.values, scale.points, strict=True):
            assert chart.points(scale.column, value) == pytest.approx(points)
        assert chart.points(scale.column, None) == pytest.approx(scale.missing)
    for tick in chart.probabilities():
        assert chart.probability(tick["points"]) == pytest.approx(tick["probability"])


def test_the_nomogram_shows_itself(tmp_path: Path):
    rows = {"x": list("ppqqr") * 4, "n": list(range(20)), "y": ["no"] * 9 + ["yes"] * 11}
    chart = tb.fit(rows, "y").nomogram("no")
    assert str(chart).startswith("Points for no against yes")
    assert set(chart.to_dict()) == {"of", "against", "scales", "start", "per_point", "probabilities"}
    chart.chart().save(tmp_path / "n.png")
    assert (tmp_path / "n.png").stat().st_size > 8_000
    words = tb.fit(["cheap pills", "cheap watches", "lunch today"], ["spam", "spam", "ham"]).nomogram()
    assert words.scales[0].kind == "words"
    assert words.scales[0].values[0] == "cheap"
    assert np.isfinite(words.most)


def test_what_cannot_be_drawn_is_refused():
    rows = {"x": list("ppqqr"), "y": ["no", "no", "yes", "yes", "perhaps"]}
    with pytest.raises(BadOption) as refused:
        tb.fit(rows, "y").nomogram("no")
    want = "nomogram: wanted two of the model's classes, as in nomogram('a', 'b'), got a model of 3. Name both."
    assert str(refused.value) == want
    with pytest.raises(BadData) as impossible:
        tb.fit(rows, "y", estimate="mle").nomogram("no", "yes")
    assert "Smooth (alpha above 0)." in str(impossible.value)
    with pytest.raises(BadOption, match="Did you mean 'x'"):
        tb.fit(rows, "y").nomogram("no", "yes").total({"xx": "p"})


def test_values_that_have_no_room_on_the_line_are_not_written_over_each_other() -> None:
    rows = {"x": [f"a long name of value {k}" for k in range(6)] * 4, "z": list("pq") * 12, "y": ["no", "yes"] * 12}
    drawn = tb.fit(rows, "y").nomogram().chart().to_dict()
    values = next(data for data in drawn["datasets"].values() if "label" in data[0])
    written = [tick for tick in values if tick["label"]]
    assert 0 < len(written) < len(values)  # all long names stand at two places
    for column in ("x", "z"):
        for side in (0, 1):
            places = [tick["points"] for tick in written if (tick["column"], tick["side"]) == (column, side)]
            assert len(places) == len(set(places))


def test_of_thousands_of_values_those_with_the_fewest_and_the_most_points_are_shown() -> None:
    rows = {"x": [f"v{k}" for k in range(2000)] * 3, "y": ["yes" if k % 7 < k // 1500 else "no" for k in range(6000)]}
    found = tb.fit(rows, "y", events={"x": "categorical"}, calibrate=None).nomogram("yes", "no")
    lines = str(found).splitlines()
    assert sum("v" in line.partition("more values")[0] for line in lines[3:-5]) >= 100
    assert any(line.split() == ["and", "1,900", "more", "values", "between"] for line in lines)
    places = found.scales[0].ends(50)
    assert len(places) == 100
    points = np.sort(found.scales[0].points)
    np.testing.assert_array_equal(np.sort(found.scales[0].points[places]), np.r_[points[:50], points[-50:]])
    drawn = found.chart().to_dict()["datasets"].values()
    assert len(next(data for data in drawn if "label" in data[0])) < 400
