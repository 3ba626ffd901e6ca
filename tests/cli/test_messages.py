"""Messages speak the language of the command line, and no command ends in a stack trace."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tallybayes.cli.phrases import in_options

from .shell import Shell

# What a shell user never types: keywords with quotes, calls, modules, objects.
PYTHON = re.compile(
    r"\w=['\[{(]|\w\(\)|\btb\.|\bnp\.|datetime|Decimal\(|Traceback|\bNone\b|\bself\b|model\.\w|pydantic"
)

LATIN = b"pet,food,kind\nc\xe9sar,fish,cat\nrex,bone,dog\ntom,fish,cat\nfido,bone,dog\n"
DATED = "seen,kind\n2023-11-30,a\n2023-12-01,b\n2023-11-30,a\n2024-01-02,b\n"
MARKED = "size,kind\n10,a\nunknown,b\n12,a\n14,b\n"


@pytest.fixture
def files(tally: Shell, model: str) -> Shell:
    Path("latin.csv").write_bytes(LATIN)
    Path("dated.csv").write_text(DATED)
    Path("marked.csv").write_text(MARKED)
    tally.done("fit weather.csv -l play --structure joint -o joint.tally")
    tally.done("fit weather.csv -l play --structure aode -o aode.tally")
    return tally


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("fit weather.csv -l play --alpha huge -f", "--alpha: wanted a number not below 0, 'average', 'loo' or"),
        ("fit weather.csv -l play --prior flat -f", "--prior: wanted one of"),
        ("fit weather.csv -l play --floor 7 -f", "--floor: wanted a number above 0"),
        ("fit weather.csv -l play --threads 0 -f", "--threads: wanted"),
        ("fit weather.csv -l play -e outlook=normal -f", "--event outlook: wanted one of bernoulli,"),
        ("fit weather.csv -l play -e normal -f", "--event: wanted one of bernoulli,"),
        ("fit weather.csv -l play -e nothing=gaussian -f", "--event: wanted names or globs of columns"),
        ("fit weather.csv -l play -e outlook=gaussian -f", "(--event outlook=categorical)."),
        ("fit marked.csv -l kind -e size=gaussian", "or 'unknown' a missing value (--missing 'unknown')."),
        ("fit dated.csv -l kind -e seen=gaussian", "text (first: 2023-11-30, row 1)"),
        ("fit weather.csv -l play --missing-as error --missing rainy -f", "choose --missing-as skip."),
        ("validate weather.csv -l play --how 99-fold", "or --how loo."),
        ("validate weather.csv -l play --how twice", "--how: wanted"),
        ("validate weather.csv -l play --order outlook", "--order: wanted --how prequential"),
        ("compare weather.csv -l play --partner tree", "--partner: wanted some of ridge, lasso"),
        ("predict weather.tally days.csv --interval 95", "--interval: wanted a number between 0 and 1"),
        ("predict weather.tally days.csv --abstain 50", "--abstain: wanted a probability"),
        ("predict weather.tally days.csv --costs 1,2", "--costs: wanted a 2 × 2 matrix"),
        ("predict weather.tally days.csv --threshold yes=9", "--threshold: wanted a probability"),
        ("query weather.tally play=yes --level 95", "--level: wanted a number between 0 and 1"),
        ("query joint.tally 'temperature>70'", "wanted a class or columns of values before '|', got 'temperature'"),
        ("show aode.tally --nomogram", "Fit with --structure pairs or tan."),
        ("export aode.tally --to json -o m.json", "Fit with --structure pairs or tan."),
        ("sample weather.tally -n -2", "-n: wanted a whole number not below 0"),
        ("report weather.tally weather.csv --alpha 2", "--alpha: wanted no model, which has its own options"),
        ("show weather.tally --column outlok", "--column: wanted a column of the model, got 'outlok'. Did you mean"),
        ("fit --sql 'select 1 as a, 2 as b' --db mysql://me:pw@host", "--db: wanted 'duckdb'"),
        ("fit 'no*thing' -l play", "no*thing"),
        ("fit weather.csv -l play --structure pears -f", "--structure: wanted one of naive, pairs, tan, aode, joint,"),
        ("fit weather.csv -l play --threads x -f", "--threads: wanted a whole number, got 'x'."),
        ("fit weather.csv -l play --floor wide -f", "--floor: wanted a number, got 'wide'."),
        ("fit weather.csv -l play --weight wind -f", "--weight: wanted a column, got 'wind'. Did you mean 'windy'?"),
        ("fit weather.csv -l play --where 'wind = 3' -f", "got none of that name. Did you mean 'windy'?"),
        ("sample weather.tally -n many", "-n: wanted a whole number, got 'many'."),
        ("sample weather.tally --seed -1", "--seed: wanted a whole number not below 0"),
        ("sample weather.tally --given wind=true", "--given: wanted columns of the model, got 'wind'."),
        ("select weather.tally -n 0 -o s.tally", "-n: wanted how many columns to keep"),
        ("dependence weather.csv -l play --bins 1", "--bins: wanted a whole number from 2"),
        ("validate weather.csv -l play --groups wind", "--groups: wanted a column of weather.csv, got 'wind'."),
        ("validate weather.csv -l play --require acc=1", "got 'acc'. Did you mean 'accuracy'?"),
        ("predict weather.tally days.csv --costs '1,2;3'", "--costs: wanted rows of the same length"),
        ("evaluate weather.tally weather.csv --costs 1", "decided × true, got 1 × 1."),
        ("explain weather.tally outlook=sunny --of no --against no", "--against: wanted a class other than 'no'"),
        ("explain weather.tally days.csv:9", "days.csv: wanted a row from 1 to 2, got 9."),
        ("export weather.tally --to sql --dialect oracle", "--dialect: wanted one of duckdb,"),
        ("mail explain nothing.tally weather.csv", "mail filter 'nothing.tally': no such file."),
    ],
)
def test_refusals_name_options(files: Shell, line: str, sentence: str) -> None:
    said = files.refused(line)
    assert sentence in said
    assert not PYTHON.search(said), said


def test_keywords_of_advice_are_options() -> None:
    assert in_options("Smooth the model (estimate='bayes', alpha=1), or give fewer conditions.") == (
        "Smooth the model (--estimate bayes, --alpha 1), or give fewer conditions."
    )
    assert in_options("got datetime.datetime(2024, 5, 4, 13, 7).") == "got 2024-05-04 13:07:00."
    assert in_options("Choose unseen='smooth' or 'skip'.") == "Choose --unseen smooth or skip."


def test_a_model_that_forgot_everything_says_so(tally: Shell, model: str) -> None:
    ran = tally("forget weather.tally weather.csv -o empty.tally")
    assert ran.out.startswith("Model of 'play': knows nothing, 4 columns\n")
    assert ran.err == "tally: the model knows nothing now: no row is left. Add rows with 'tally learn'.\n"
    shown = tally.done("show empty.tally")
    assert shown.startswith("Model of 'play': knows nothing, 4 columns\n")
    assert "outlook       categorical" in shown
    assert '"tables": null' in tally.done("show empty.tally --json")
    told = "empty.tally: wanted a model that has learned rows, got one that knows nothing. Add rows with 'tally learn'."
    for line in (
        "predict empty.tally days.csv",
        "explain empty.tally outlook=sunny",
        "sample empty.tally",
        "query empty.tally play=yes",
        "evaluate empty.tally weather.csv",
        "report empty.tally weather.csv",
        "show empty.tally --importance",
        "show empty.tally --nomogram",
        "show empty.tally --column outlook",
    ):
        assert tally.refused(line) == told
    tally.done("learn empty.tally weather.csv -o again.tally")
    assert tally.done("predict again.tally days.csv --only").startswith("predicted,")


def test_a_sample_of_a_text_model_has_words(tally: Shell) -> None:
    texts = ["the quick brown fox jumps over it", "stocks fell again on monday as banks lost"] * 4
    Path("texts.csv").write_text("headline,desk\n" + "".join(f"{t},{'ab'[k % 2]}\n" for k, t in enumerate(texts)))
    tally.done("fit texts.csv -l desk")
    header, *rows = tally.done("sample texts.tally -n 20 --seed 3").splitlines()
    assert header == "headline,desk"
    words = {word for row in rows for word in row.rpartition(",")[0].split()}
    assert words <= {word for text in texts for word in text.split()}
    assert len(words) > 5


def test_show_of_many_columns_is_capped_and_takes_globs(tally: Shell) -> None:
    columns = [f"x{k}" for k in range(200)] + [f"z{k}" for k in range(3)]
    rows = "".join(",".join(["p" if (k + j) % 3 else "q" for j in range(203)] + ["ab"[k % 2]]) + "\n" for k in range(8))
    Path("wide.csv").write_text(",".join([*columns, "y"]) + "\n" + rows)
    tally.done("fit wide.csv -l y --no-calibrate")
    shown = tally.done("show wide.tally")
    assert "And 173 more columns; show some with --column NAME, which may be a glob." in shown
    assert len(shown.splitlines()) < 300
    some = tally.done("show wide.tally --column 'z*'")
    assert [name for name in ("z0", "z1", "z2") if f"{name} (categorical)" in some] == ["z0", "z1", "z2"]
    assert "x0" not in some


def test_fit_warns_of_a_model_worse_than_the_class_shares(tally: Shell) -> None:
    # A column whose value tells the other class: counts left out mislead, and without calibration nothing mends it.
    rows = "".join(f"{k // 2},{'ab'[k % 2]}\n" for k in range(60))
    Path("pairs.csv").write_text("twin,y\n" + rows)
    ran = tally("fit pairs.csv -l y -e categorical --alpha 0.01")
    assert ran.code == 0
    assert "warning: the log-loss on rows left out is" in ran.err
    assert "worse than no model" in ran.err
    assert "warning" not in tally("fit weather.csv -l play").err


def test_the_nomogram_of_three_classes_takes_the_frequent_ones_or_the_positive(tally: Shell) -> None:
    kinds = ["a b"] * 30 + ["c"] * 20 + ["d"] * 10
    Path("k.csv").write_text("x,kind\n" + "".join(f"{k % 7},{kind}\n" for k, kind in enumerate(kinds)))
    tally.done("fit k.csv --label kind -o m.tally")
    assert "Points for a b against c" in tally("show m.tally --nomogram").out
    assert "Points for d against a b" in tally("show m.tally --nomogram --positive d").out


def test_a_sample_has_dates_and_times_as_they_were_written(tally: Shell) -> None:
    rows = [f"{1 + k % 28:02}.{1 + k % 12:02}.2023,{k % 24}:{k % 60:02},{k % 90},{'xy'[k % 2]}" for k in range(120)]
    Path("visits.csv").write_text("day,at,age,kind\n" + "\n".join(rows) + "\n")
    tally.done("fit visits.csv -l kind")
    header, *drawn = tally.done("sample visits.tally -n 40 --seed 1").splitlines()
    assert header == "day,at,age,kind"
    for line in drawn:
        day, at = line.replace('"', "").split(",")[:2]
        assert re.fullmatch(r"\d\d\.\d\d\.20\d\d", day)
        assert re.fullmatch(r"\d?\d:\d\d(:\d\d)?", at)
    Path("drawn.csv").write_text("\n".join([header, *drawn]) + "\n")
    assert len(tally.done("predict visits.tally drawn.csv --only").splitlines()) == 41
    fixed = tally.done("sample visits.tally -n 2 --given day=04.05.2023 --given at=7:30").splitlines()
    assert [line.replace('"', "").split(",")[:2] for line in fixed[1:]] == [["04.05.2023", "7:30"]] * 2
    said = tally.refused("sample visits.tally --given day=Monday")
    assert "--given, column 'day': wanted a date, as in the training data, got 'Monday'." in said
    some = tally.done("sample visits.tally -n 2 --given 'day.month=05 May'").splitlines()
    assert some[0].startswith("day.year,day.month,day.weekday,day.days,at")


def test_several_columns_are_named_with_commas(tally: Shell, model: str) -> None:
    Path("odd.csv").write_text('"a,b",c,d,y\n' + "p,q,r,yes\nq,q,p,no\n" * 5)
    assert tally.done(f"predict {model} weather.csv --columns windy,outlook").startswith("outlook,windy,predicted")
    assert "windy (categorical)" in tally.done(f"show {model} --column outlook,windy")
    tally.done("fit odd.csv -l y --drop 'a,b' -o one.tally")
    tally.done("fit odd.csv -l y --drop 'c,d' -o two.tally")
    assert "2 classes, 2 columns " in tally.done("show one.tally")
    assert "2 classes, 1 column " in tally.done("show two.tally")
    assert "--drop: wanted a column or glob, got 'e'." in tally.refused("fit odd.csv -l y --drop 'c,e' -o three.tally")
    assert "--columns: wanted input columns or globs" in tally.refused(f"predict {model} weather.csv --columns windy,x")


def test_what_compare_leaves_out_is_said_in_options(tally: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    from tallybayes.errors import BadOption
    from tallybayes.validation.compare import _Comparer

    as_it_was = _Comparer._try

    def refusing(self: _Comparer, name: str, kind: str, choice: dict[str, object]) -> object:
        if kind == "structure":
            raise BadOption("too many values. Choose structure='naive'.")
        return as_it_was(self, name, kind, choice)

    monkeypatch.setattr(_Comparer, "_try", refusing)
    said = tally.done("compare weather.csv -l play --how 2-fold --partner none")
    assert "Not compared: too many values. Choose --structure naive." in said
    assert not PYTHON.search(said), said


def test_the_class_of_a_report_and_of_an_explanation_may_be_named(tally: Shell, model: str) -> None:
    import json

    for line in ("report weather.csv -l play", f"report {model} weather.csv"):
        for positive in ("no", "yes"):
            answer = json.loads(tally.done(f"{line} --positive {positive} --json"))
            assert answer["answer"]["positive"] == answer["nomogram"]["of"] == positive
            assert list(answer["answer"]["costs"]) == [positive]
    assert "Did you mean 'yes'?" in tally.refused("report weather.csv -l play --positive ys")
    assert "got 'maybe'" in tally.refused(f"report {model} weather.csv --positive maybe")
    assert "--no-label: wanted no --positive" in tally.refused("report weather.csv --no-label --positive yes")
    tally.done("fit weather.csv -l play --drop windy -o other.tally")
    both = json.loads(tally.done(f"report {model} other.tally weather.csv --positive no --json"))
    assert [one["positive"] for one in both["answers"].values()] == ["no", "no"]
    assert tally.done(f"explain {model} outlook=sunny --positive no").startswith("play = no")
    Path("coded.csv").write_text("x,y\n" + "".join(f"{k % 7},{k % 2}\n" for k in range(40)))
    assert json.loads(tally.done("report coded.csv -l y --positive 0 --json"))["answer"]["positive"] == 0


def test_a_value_that_cannot_be_read_is_answered_with_what_to_add(tally: Shell) -> None:
    money = "pay,kind\n" + "".join(f"${k + 1}.50,{'ab'[k % 2]}\n" for k in range(60))
    Path("pay.csv").write_text(money)
    tally.done("fit pay.csv -l kind")
    Path("later.csv").write_text("pay\n$3.50\nnot paid\n")
    said = tally.refused("predict pay.tally later.csv")
    assert said.endswith("add --missing auto --missing 'not paid'; or fit with --event pay=categorical.")
    assert len(tally.done("predict pay.tally later.csv --missing auto --missing 'not paid'").splitlines()) == 3
    tally.done("fit pay.csv -l kind --event pay=categorical -o other.tally")
    tally.done("predict other.tally later.csv")
    said = tally.refused("explain pay.tally pay=much")
    assert said == "the row, column 'pay': wanted a number, as in the training data, got 'much'."
    tally.done("explain pay.tally pay=$9")


def test_a_model_of_a_date_alone_takes_rows_with_it(tally: Shell) -> None:
    rows = "".join(f"{1 + k % 28:02}/11/2023,{'ab'[k % 2]}\n" for k in range(60))
    Path("days2.csv").write_text("seen on,kind\n" + rows)
    tally.done("fit days2.csv -l kind -o m.tally")
    assert len(tally.done("predict m.tally days2.csv --only").splitlines()) == 61
    assert "There is only 'seen on'." in tally.refused("predict m.tally weather.csv")
