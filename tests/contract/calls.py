"""Calls of every public function and method, with some arguments good and some random."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet

import tallybayes as tb
from tallybayes.display.tables import Result
from tallybayes.storage.model_file import dump

from . import mutate, values

# Names that nobody calls to get an answer: results, made by the functions that are called, and warnings.
RESULTS = {
    *("Comparison", "Dependence", "Evaluation", "Evidence", "ImpossibleRowWarning", "Intervals", "LearningCurve"),
    *("Model", "Probability", "Scorecard", "Validation", "errors", "evaluation", "events"),
}  # fmt: skip
DROP_INS = ("BernoulliNB", "CategoricalNB", "ComplementNB", "CountVectorizer", "GaussianNB", "MultinomialNB")
ESTIMATORS = (*DROP_INS, "NaiveBayes", "TextNB")
ROWS = {"x": [0.0, 1.0, 2.5, 4.0, 1.5, 0.5], "s": ["a", "b", "a", "c", "b", None], "y": ["p", "q", "p", "q", "p", "q"]}
COUNTS = np.array([[1.0, 0, 2], [0, 3, 1], [2, 0, 0], [0, 1, 1], [1, 1, 0], [0, 2, 2]])
TEXTS = ["good day", "bad night", "good good", "bad day", "a day", "night night"]
QUERIES = (
    "y=p",
    "y=p | x>1",
    "s=a",
    "x",
    "y",
    "y | s",
    "x>1 and s=b",
    "not y=p | s in (a, b)",
    "|",
    "y=p |",
    "x between 1 and 2",
)
# Arguments that are a size: what is asked for is made, so a large number is no test.
SIZES = (
    "n",
    "shuffles",
    "sizes",
    "threads",
    "batch_rows",
    "bins",
    "values",
    "most",
    "k",
    "shape",
    "min_categories",
    "seed",
)
CHOICES: dict[str, tuple[Any, ...]] = {
    "abstain": (0.5, 0.99),
    "against": ("p", "q"),
    "alpha": (0, 0.5, 1, "loo", "evidence", "average", "auto", {"x": 2.0}, 1e300, 1e-300),
    "background": (ROWS, [{"x": 1.0, "s": "a"}]),
    "bad_lines": ("error", "skip"),
    "bins": (2, 10, [0.0, 0.5, 1.0], "quantile"),
    "calibrate": ("auto", "loo", "one", None),
    "classes": (["p", "q"], ["q", "p"], ["p"], np.array(["p", "q"])),
    "columns": (1, ["x"], ["x", "s"], "x", ["nope"]),
    "compare": (["ridge"], [], ["lasso"]),
    "confidence": (0.9, 0.5),
    "contributions": (True, False),
    "costs": ([[0, 1], [5, 0]], np.eye(2)),
    "delimiter": (",", ";"),
    "dialect": ("duckdb", "sqlite", "postgres", "mysql", "bigquery", "snowflake", "spark"),
    "encoding": ("utf-8", "latin-1", None),
    "errors": ("strict", "replace"),
    "estimate": ("mle", "map", "bayes"),
    "events": (None, "gaussian", "categorical", {"x": "gaussian"}, {"x": "poisson"}, {"s": "text"}, {"x": "lognormal"},
               {"*": "categorical"}, {"x": "histogram"}, {"x": "bins(2)"}, {"x": "mdl"}, {"x": "exponential"},
               {"s": "ignore"}, {"x": "multinomial"}),
    "floor": (1e-9, 0.0, 0.1),
    "folds": ([0, 1, 0, 1, 0, 1], "s"),
    "given": ("p", {"s": "a"}, {"y": "p"}, "s=a", {"x": 1.0}),
    "groups": ("s", [0, 0, 1, 1, 2, 2]),
    "header": (True, False),
    "holdout": (0.3, 0.5),
    "how": ("loo", "2-fold", "3-fold", "2x2", "prequential", "holdout", "groups"),
    "interval": ("wilson", "beta"),
    "keep": ((), ["x"], ["s"]),
    "label": ("y",),
    "label_as_is": (True, False),
    "level": (0.95, 0.5),
    "missing": ("skip", "category", "error"),
    "missing_values": ("auto", (), ["?"]),
    "of": ("p", "q"),
    "order": ("x", [0, 1, 2, 3, 4, 5]),
    "partners": (("ridge",), ()),
    "positive": ("p", "q"),
    "prior": ("learned", "uniform", [0.5, 0.5], {"p": 0.1, "q": 0.9}),
    "refresh": (0.0, 0.05),
    "structure": ("naive", "pairs", "tan", "joint", "aode", "auto"),
    "threshold": ({"p": 0.9}, {"q": 0.1}),
    "unseen": ("smooth", "skip", "error"),
    "variance": ("n", "n-1"),
    "weight": (1.0, 2, 1e-300, 1e300, 0),
    "weights": ([1, 2, 1, 0.5, 1, 1], [1e-300] * 6, [1e150] * 6, "x"),
    "where": ("x > 1", "s = 'a' or x < 2", "s is null", "not y = 'p'", "s in ('a')"),
    "sample_weight": ([1, 2, 1, 0.5, 1, 1],),
}  # fmt: skip


# Methods of results that take a caller's choice; the others are called by `_settled` or take what a method returned.
ASKED = {
    "Evaluation": ("accuracy_interval", "operating_point", "to_dict"),
    "Nomogram": ("points", "probability", "to_dict"),
    "Dependence": ("pair", "dependent", "worst", "learn", "forget"),
    "LearningCurve": ("mean", "band", "ahead"),
    "Scorecard": ("predict", "predict_proba"),
}


@dataclass(frozen=True)
class Call:
    """One call: what to run, how to show it, and the error types that it may raise beside TallyError."""

    name: str
    run: Callable[[], Any]
    text: str
    allowed: tuple[type[BaseException], ...] = ()
    numbers: bool = False


class World:
    """A folder with good files of every format, and the objects whose methods are called."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.stack, self.kept = folder, ExitStack(), dict[str, Any]()
        self.model = tb.fit(ROWS, "y", calibrate=None)
        table = pa.table(ROWS)
        lines = ["x,s,y", *(f"{x},{'' if s is None else s},{y}" for x, s, y in zip(*ROWS.values(), strict=True))]
        (folder / "rows.csv").write_text("\n".join(lines) + "\n")
        (folder / "rows.jsonl").write_text(
            "".join(f'{{"x":{x},"s":"a","y":"{y}"}}\n' for x, y in zip(ROWS["x"], ROWS["y"], strict=True))
        )
        head = "@relation r\n@attribute x numeric\n@attribute s {a,b,c}\n@attribute y {p,q}\n@data\n"
        (folder / "rows.arff").write_text(head + "\n".join(line.replace(",,", ",?,") for line in lines[1:]) + "\n")
        pa.parquet.write_table(table, folder / "rows.parquet")
        pa.feather.write_feather(table, folder / "rows.arrow")
        (folder / "model.tally").write_bytes(dump(self.models[2]))
        self.files = {one.name: one.read_bytes() for one in folder.iterdir() if one.is_file()}
        (folder / "model.json").write_text(self.model.to_json())

    @cached_property
    def models(self) -> list[tb.Model]:
        """Models of several kinds: plain, calibrated, of pairs, texts, a matrix, and one with strange classes."""
        table = {**ROWS, "x": [1, 2, 3, 1, 2, 3]}
        return [
            self.model,
            tb.fit(ROWS, "y", estimate="mle"),
            tb.fit(ROWS, "y"),
            tb.fit(table, "y", structure="joint", events={"*": "categorical"}),
            tb.fit(TEXTS, ROWS["y"]),
            tb.fit(COUNTS, [0, 1, 2, 0, 1, 2], events="multinomial"),
            tb.fit(ROWS, "y", events={"x": "exponential"}, unseen="skip"),
            tb.fit({**ROWS, "y": [True, False] * 3}, "y", missing="category"),
        ]

    @cached_property
    def results(self) -> list[Any]:
        """One result of each function that returns an object with methods of its own."""
        rows = {name: list(column) * 4 for name, column in ROWS.items()}
        model, labels = tb.fit(rows, "y"), rows["y"]
        validation = tb.validate(rows, "y", "2-fold")
        return [
            validation,
            validation.evaluation,
            model.predict_interval(rows),
            model.explain({"x": 1.0}),
            model.nomogram(),
            model.importance(),
            model.table("x"),
            model.tables(),
            model.contributions(rows),
            model.probability("y=p"),
            model.parameters(),
            tb.dependence(rows, "y"),
            tb.compare(rows, "y", "2-fold", partners=()),
            tb.learning_curve(rows, "y", shuffles=2, compare=()),
            tb.from_json(model.to_json()),
            tb.evaluation.roc(labels, [0.5] * 24, positive="p"),
            tb.evaluation.confusion(labels, labels, ["p", "q"]),
        ]

    def path(self, rng: Random, name: str | None = None) -> str:
        """Return a file of rows or of a model, as often as not mutated."""
        source = self.folder / (
            name or rng.choice(("rows.csv", "rows.jsonl", "rows.arff", "rows.parquet", "rows.arrow"))
        )
        content = self.files[source.name]
        source.write_bytes(content)  # an earlier command may have had it for its output
        if rng.random() < 0.3:
            return str(source)
        changed = (
            mutate.mutated_model(rng, content)
            if source.suffix == ".tally" and rng.random() < 0.8
            else mutate.mutated(rng, content)
        )
        target = self.folder / f"changed{source.suffix}"
        target.write_bytes(changed)
        return str(target)


def targets() -> list[str]:
    """Return the name of every public function and method that is called."""
    functions = [
        f"tb.{name}" for name in tb.__all__ if name not in RESULTS and name not in ESTIMATORS and name != "Learner"
    ]
    functions += [f"tb.evaluation.{name}" for name in tb.evaluation.__all__ if not name[0].isupper()]
    functions += ["tb.events.parse", "tb.events.registered"]
    methods = [f"Model.{name}" for name in public_methods(tb.Model)] + ["Model.with_", "Model.+"]
    learner = [f"Learner.{name}" for name in public_methods(tb.Learner)] + ["tb.Learner"]
    learner += [f"MailFilter.{name}" for name in MAIL]
    return [*functions, *dict.fromkeys(methods), *learner, *(f"tb.{name}" for name in ESTIMATORS), "results"]


def public_methods(cls: type) -> Iterator[str]:
    """Yield the names of the public methods of a class."""
    for name in dir(cls):
        if (
            not name.startswith("_")
            and callable(getattr(cls, name))
            and not isinstance(inspect.getattr_static(cls, name), property)
        ):
            yield name


def make(world: World, name: str, rng: Random) -> Call:
    """Return a random call of a target."""
    owner, _, method = name.rpartition(".")
    if name == "results":
        return _of_result(world, rng)
    if method in ESTIMATORS:
        return _of_estimator(world, method, rng)
    if owner == "Model":
        model = rng.choice(world.models)
        numbers = method.startswith(("predict", "log_joint", "leave_one_out", "contributions", "shapley"))
        if method == "+":
            other = rng.choice([*world.models, values.anything(rng)])
            return Call(name, lambda: model + other, f"{model!r} + {shown(other)}", (TypeError,))
        return _call(world, name, getattr(model, method), rng, numbers=numbers, on=repr(model))
    if owner == "MailFilter":
        return _of_mail(world, method, rng)
    if owner == "Learner":
        learner = tb.Learner.of(rng.choice(world.models)) if rng.random() < 0.8 else tb.Learner("y")
        return _call(world, name, getattr(learner, method), rng, numbers=method.startswith("predict"), on=repr(learner))
    place = {"tb": tb, "tb.evaluation": tb.evaluation, "tb.events": tb.events}[owner]
    return _call(world, name, getattr(place, method), rng)


def _call(
    world: World, name: str, function: Callable[..., Any], rng: Random, *, numbers: bool = False, on: str = ""
) -> Call:
    given: dict[str, Any] = {}
    free: list[str] = []
    for one in inspect.signature(function).parameters.values():
        if one.kind is one.VAR_KEYWORD:
            extra = [key for key in CHOICES if key in _FIT_OPTIONS]
            free += rng.sample(extra, rng.choice((0, 0, 1, 2)))
            continue
        if one.default is one.empty:
            given[one.name] = good(world, one.name, rng, name)
        free.append(one.name)
    for key in rng.sample(free, min(len(free), rng.choice((0, 1, 1, 2)))):
        given.setdefault(key, good(world, key, rng, name))
    for key in rng.sample(free, min(len(free), rng.choice((0, 1, 1, 1, 2)))):
        given[key] = _random(world, key, rng)
    text = ", ".join(f"{key}={shown(value)}" for key, value in given.items())
    return Call(name, lambda: _settled(function(**given)), f"{name}({text}) {on}", numbers=numbers)


_FIT_OPTIONS = set(inspect.signature(tb.fit).parameters) - {
    "checkpoint",
    "connection",
    "threads",
    "weights",
    "tokenizer",
}


def _settled(answer: Any) -> Any:
    """Return an answer after everything that is computed later has been: batches, and what is displayed."""
    if isinstance(answer, tb.Learner):
        return None
    if isinstance(answer, Result):
        str(answer)
        answer.to_dict()
    if type(answer).__name__ in ("Source", "Partitioned"):
        for _ in answer:
            pass
        return None
    if isinstance(answer, tb.Model):
        repr(answer)
        if answer.classes:
            answer.belief  # noqa: B018
            dump(answer)
    return answer


def good(world: World, key: str, rng: Random, name: str) -> Any:
    """Return a value that an argument of that name may have."""
    if key in ("source", "rows"):
        return world.path(rng) if rng.random() < 0.2 and name != "tb.register_duckdb" else _rows(rng)
    if key in ("row", "x"):
        return {"x": rng.choice((1.0, 2, None, 1e300)), "s": rng.choice(("a", "zzz", None)), "y": "p"}
    if key == "path":
        return world.path(rng, "model.tally") if name == "tb.load" else str(world.folder / "saved.tally")
    if key == "text":
        return mutate.mutated(rng, (world.folder / "model.json").read_bytes())
    if key == "model":
        return rng.choice(world.models)
    if key == "connection":
        import duckdb

        return duckdb.connect() if name == "tb.register_duckdb" else None
    fixed: dict[str, tuple[Any, ...]] = {
        "query": QUERIES,
        "labels": (ROWS["y"],),
        "predicted": (ROWS["y"],),
        "probabilities": ([[0.5, 0.5]] * 6, np.eye(2)[[0, 1, 0, 1, 0, 1]]),
        "scores": ([0.1, 0.9, 0.2, 0.8, 0.5, 0.5],),
        "happened": ([True, False] * 3,),
        "share": (0.5, [0.1, 0.9]),
        "count": (10, [1, 0]),
        "curves": ([tb.evaluation.roc(ROWS["y"], [0.1, 0.9, 0.2, 0.8, 0.5, 0.5], positive="p")],),
        "seen": (tb.evaluate(ROWS["y"], [[0.5, 0.5]] * 6, ["p", "q"]),),
        "spec": ("gaussian", "bernoulli(threshold=3)", "text(ngrams=(1, 2))", "gaussian()"),
        "column": ("x", "s", "nope"),
        "shape": ((1, 2), (1, 3), (2, 2)),
        "n": (0, 1, 5),
        "y": ("p", "q"),
        "w": (1.0, 2.0),
        "threads": (1, 2),
        "seed": (0, 1),
        "other": (world.model,),
        "name": ("predict", "a b", ""),
        "table": ("rows", "a.b", 'a"b'),
        "given": CHOICES["given"],
    }
    if key in fixed:
        return rng.choice(fixed[key])
    return rng.choice(CHOICES[key]) if key in CHOICES else None


def _rows(rng: Random) -> Any:
    """Return rows that models of this world have learned, or rows of other types."""
    if rng.random() < 0.7:
        return ROWS
    return (
        rng.choice((values.table, values.frame, values.rows))(rng)
        if rng.random() < 0.7
        else rng.choice((TEXTS, COUNTS))
    )


def _random(world: World, key: str, rng: Random) -> Any:
    """Return a random value, not so large that it asks for more than a test has."""
    if key in CHOICES and rng.random() < 0.3:
        return rng.choice(CHOICES[key])
    if key in ("path", "checkpoint"):
        return rng.choice((values.anything(rng), str(world.folder / "other"), str(world.folder)))
    value = values.anything(rng)
    if key == "connection" and isinstance(value, str):
        return f"sqlite:///{world.folder}/none.db"
    plain = value.item() if isinstance(value, np.generic) else value
    large = isinstance(plain, int) and not -(10**6) < plain < 10**6
    return 7 if key in SIZES and large else value


def _of_result(world: World, rng: Random) -> Call:
    result = rng.choice([one for one in world.results if ASKED.get(type(one).__name__)])
    method = rng.choice(ASKED[type(result).__name__])
    return _call(world, f"{type(result).__name__}.{method}", getattr(result, method), rng)


MAIL = ("train", "calibrate", "classify", "classify_all", "explain", "learn", "forget", "save", "load")
MESSAGES = (
    b"Subject: cheap\n\npills",
    b"Subject: lunch\n\nat noon?",
    b"",
    b"\xff\x00",
    b"From: a@b\n\n<html>=?utf-8?q?=80?=",
)


def _of_mail(world: World, method: str, rng: Random) -> Call:
    """Return a call of a mail filter with messages that are good, mutated or no messages."""
    made = tb.MailFilter.train([("spam", MESSAGES[0]), ("ham", MESSAGES[1])])
    pairs = [(rng.choice(("spam", "ham", "news")), mutate.mutated(rng, rng.choice(MESSAGES))) for _ in range(3)]
    options = {"false_positives": (0.1, None), "max_tokens": (10, 10**6), "threads": (1, 2)}
    given: dict[str, Any] = {}
    for one in inspect.signature(getattr(made, method)).parameters.values():
        if one.name == "path":
            given["path"] = str(world.folder / "mail.tally")
            made.save(given["path"])
            if method == "load" and rng.random() < 0.8:
                content = (world.folder / "mail.tally").read_bytes()
                (world.folder / "mail.tally").write_bytes(mutate.mutated_model(rng, content))
        elif one.name == "messages":
            given["messages"] = [text for _, text in pairs] if method == "classify_all" else pairs
        elif one.name == "message":
            given["message"] = pairs[0][1]
        elif rng.random() < 0.4:
            given[one.name] = rng.choice(options[one.name])
    if rng.random() < 0.4:
        key = rng.choice(list(given))
        given[key] = _random(world, "threads" if key in ("threads", "max_tokens") else key, rng)

    def run() -> Any:
        answer = getattr(made, method)(**given)
        return list(answer) if method == "classify_all" else answer

    text = ", ".join(f"{key}={shown(value)}" for key, value in given.items())
    return Call(f"MailFilter.{method}", run, f"MailFilter.{method}({text})")


def _of_estimator(world: World, name: str, rng: Random) -> Call:
    """Return a fit and a prediction of an estimator, with random parameters, rows or labels."""
    cls = getattr(tb, name)
    parameters = list(inspect.signature(cls).parameters)
    options = {key: _random(world, key, rng) for key in rng.sample(parameters, rng.choice((0, 0, 1, 2)))}
    texts = name in ("TextNB", "CountVectorizer")
    X: Any = TEXTS if texts else COUNTS if name != "NaiveBayes" or rng.random() < 0.5 else {k: ROWS[k] for k in "xs"}
    y: Any = ROWS["y"]
    new, more = X, {}
    which = rng.randrange(6)
    if which == 0:
        X = values.anything(rng)
    elif which == 1:
        y = values.anything(rng)
    elif which == 2:
        new = values.anything(rng)
    elif which == 3:
        more = {"sample_weight": values.anything(rng)}
    ask = rng.choice(("predict", "predict_proba", "predict_log_proba", "score"))
    learn = rng.choice(("fit", "fit", "partial_fit"))

    def run() -> Any:
        made = cls(**options)
        if name == "CountVectorizer":
            made.fit(X)
            return made.transform(new)
        if learn == "partial_fit":
            made.partial_fit(X, y, **({"classes": ["p", "q"]} if which != 1 else {}), **more)
        else:
            made.fit(X, y, **more)
        return made.score(new, y) if ask == "score" else getattr(made, ask)(new)

    # scikit-learn checks some parameters by using them: what that raises is the contract of a drop-in.
    theirs = (TypeError, ValueError, AttributeError, LookupError, OverflowError)
    allowed = theirs if name in DROP_INS else (TypeError, ValueError)
    made_with = ", ".join(f"{key}={shown(value)}" for key, value in options.items())
    text = f"tb.{name}({made_with}).{learn}({shown(X)}, {shown(y)}, {shown(more)}).{ask}({shown(new)})"
    return Call(f"tb.{name}", run, text, allowed, numbers=name in ("NaiveBayes", "TextNB"))


def shown(value: Any) -> str:
    try:
        text = repr(value)
    except Exception as error:
        text = f"<{type(value).__name__}, repr raises {type(error).__name__}>"
    return text if len(text) < 300 else f"{text[:300]}…"
