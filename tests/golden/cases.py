"""Small data sets that are the same everywhere, with every version of NumPy.

They are made of whole numbers by a generator written out here, and of plain Python lists. Between them the cases use
every event model, most options of `tb.fit`, and every kind of source that is held in memory.
"""

from __future__ import annotations

import datetime
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix


@dataclass(frozen=True)
class Case:
    """Training rows, new rows, and the arguments of `tb.fit`.

    Attributes
    ----------
    rows, label : Any
        What `tb.fit` is given.
    fresh : Any
        A few more rows, with values that the others do not have.
    options : dict
        The options of `tb.fit`.
    exact : bool
        Whether what is counted is the same to the last bit on every machine. It is, unless logarithms of the values
        are counted: those may differ in their last bit from one mathematical library to another.
    """

    rows: Any
    label: Any
    fresh: Any
    options: dict[str, Any] = field(default_factory=dict)
    exact: bool = True


CASES: dict[str, Callable[[], Case]] = {}


def case(make: Callable[[], Case]) -> Callable[[], Case]:
    """Add a case, under the name of the function that makes it."""
    CASES[make.__name__] = make
    return make


class Draws:
    """Pseudo-random integers from a linear congruential generator."""

    def __init__(self, seed: int) -> None:
        self._state = seed

    def below(self, bound: int) -> int:
        """Return an integer from 0 up to, but not including, the bound."""
        self._state = (self._state * 6364136223846793005 + 1442695040888963407) % 2**64
        return (self._state >> 33) % bound  # the lower bits repeat too soon

    def bell(self, spread: int) -> int:
        """Return a number around 0: the sum of four uniform ones."""
        return sum(self.below(2 * spread + 1) - spread for _ in range(4))

    def one_of(self, values: Any) -> Any:
        """Return one of some values, all equally likely."""
        return values[self.below(len(values))]

    def mostly(self, first: Any, others: Any) -> Any:
        """Return the first value three times in five, else one of the others."""
        return first if self.below(5) < 3 else self.one_of(others)


_WEATHER = {
    "outlook": "sunny sunny overcast rainy rainy rainy overcast sunny sunny rainy sunny overcast overcast rainy",
    "temperature": "hot hot hot mild cool cool cool mild cool mild mild mild hot mild",
    "humidity": "high high high high normal normal normal high normal normal normal high normal high",
    "windy": "false true false false false true true false false false true true false true",
    "play": "no no yes yes yes no yes no yes yes yes yes yes no",
}


@case
def weather() -> Case:
    """The table of the lecture: text only, all options as they are by default."""
    fresh = [{"outlook": "sunny", "windy": "true"}, {"outlook": "foggy", "humidity": "high"}, {"temperature": None}]
    return Case({name: text.split() for name, text in _WEATHER.items()}, "play", fresh)


@case
def weather_most_likely() -> Case:
    """The same without any smoothing, so that some classes are impossible."""
    fresh = [{"outlook": "overcast", "windy": "true"}, {"outlook": "rainy", "humidity": "high"}]
    rows = {name: text.split() for name, text in _WEATHER.items()}
    return Case(rows, "play", fresh, {"estimate": "mle", "calibrate": None})


@case
def measures() -> Case:
    """Gaussian columns of different sizes, one of them far from 0; the most likely parameters."""
    draws = Draws(2)
    kinds = [draws.one_of(["ash", "birch", "cedar"]) for _ in range(120)]
    shift = {"ash": 0, "birch": 14, "cedar": 30}
    rows = {
        "height": [(170 + shift[kind] + draws.bell(9)) / 10 for kind in kinds],
        "girth": [(40 - shift[kind] + draws.bell(12)) / 8 for kind in kinds],
        "place": [10**9 + (shift[kind] + draws.bell(20)) / 4 for kind in kinds],
        "age": [30 + shift[kind] // 2 + draws.bell(6) for kind in kinds],
        "kind": kinds,
    }
    fresh = {"height": [18.5, 30.0], "girth": [1.25, -7.0], "place": [1e9, 1e9 + 3], "age": [44, None]}
    return Case(rows, "kind", fresh, {"estimate": "mle", "variance": "n-1", "calibrate": None})


def _customers(seed: int, gaps: bool) -> dict[str, list[Any]]:
    draws = Draws(seed)
    bought = [draws.mostly("no", ["yes", "later"]) for _ in range(150)]
    colour = {"no": "red", "yes": "blue", "later": "grün"}
    level = {"no": 40, "yes": 52, "later": 61}
    rows: dict[str, list[Any]] = {
        "colour": [draws.mostly(colour[b], ["red", "blue", "grün", "black"]) for b in bought],
        "size": [(level[b] + draws.bell(7)) / 4 for b in bought],
        "member": [draws.below(10) < {"no": 2, "yes": 7, "later": 5}[b] for b in bought],
        "visits": [draws.below(4 if b == "no" else 9) for b in bought],
        "city": [draws.one_of(["Ulm", "Bonn", "Köln", "Jena", "Trier"]) for _ in bought],
    }
    if gaps:
        for name in rows:
            rows[name] = [None if draws.below(6) == 0 else value for value in rows[name]]
    return rows | {"bought": bought}


_CUSTOMER = {"colour": "black", "size": 12.75, "member": True, "visits": 3, "city": "Ulm"}


@case
def mixed() -> Case:
    """Text, numbers and booleans, each with its own smoothing, and a given prior."""
    fresh = [_CUSTOMER, _CUSTOMER | {"colour": "pink"}, {"size": 9.5, "member": False}, {"visits": 40}]
    alpha = {"colour": 0.5, "s*": 2.0, "member": "evidence"}
    options = {"estimate": "map", "alpha": alpha, "prior": {"no": 0.5, "yes": 0.3, "later": 0.2}, "floor": 1e-6}
    return Case(_customers(3, gaps=False), "bought", fresh, options)


@case
def gaps() -> Case:
    """Missing values in every column, which are skipped."""
    events = {"visits": "categorical", "city": "ignore", "size": "gaussian"}
    options = {"alpha": 0.25, "prior": "uniform", "events": events, "unseen": "skip"}
    fresh = [_CUSTOMER, _CUSTOMER | {"visits": 77}, _CUSTOMER | {"colour": None, "size": None}]
    return Case(_customers(4, gaps=True), "bought", fresh, options)


@case
def gaps_as_values() -> Case:
    """Missing values that are values of their own; smoothing chosen by the counts."""
    events = {"size": "gaussian", "visits": "gaussian"}
    options = {"missing": "category", "alpha": "evidence", "calibrate": None, "events": events}
    fresh = [_CUSTOMER, _CUSTOMER | {"city": "Rom"}, _CUSTOMER | {"colour": None, "member": None}]
    return Case(_customers(5, gaps=True), "bought", fresh, options)


@case
def weighted() -> Case:
    """Fractional weights, some of them 0; smoothing chosen by rows left out."""
    draws = Draws(6)
    rows = _customers(7, gaps=True)
    rows["weight"] = [draws.below(31) / 10 for _ in rows["bought"]]
    options = {"weights": "weight", "alpha": "loo", "events": {"visits": "poisson"}, "estimate": "map"}
    return Case(rows, "bought", [_CUSTOMER, {"visits": 6, "colour": "blue"}], options)


@case
def waits() -> Case:
    """Counts and waiting times: Poisson and exponential columns, under a given prior in a sequence."""
    draws = Draws(8)
    lines = [draws.one_of(["bus", "tram"]) for _ in range(90)]
    rows = {
        "wait": [draws.below(60 if line == "bus" else 25) / 4 + draws.below(9) for line in lines],
        "stops": [draws.below(5) + draws.below(3 if line == "bus" else 7) for line in lines],
        "doors": [draws.below(4 if line == "tram" else 3) for line in lines],
        "line": lines,
    }
    rows["wait"][5] = None
    events = {"wait": "exponential", "stops": "poisson", "doors": "poisson"}
    fresh = {"wait": [0.0, 100.5, None], "stops": [0, 25, 3], "doors": [None, 1, 2]}
    return Case(rows, "line", fresh, {"events": events, "alpha": 2.0, "prior": (0.625, 0.375), "calibrate": None})


@case
def incomes() -> Case:
    """Lognormal columns beside a Gaussian one."""
    draws = Draws(9)
    jobs = [draws.one_of(["cook", "judge", "pilot"]) for _ in range(100)]
    base = {"cook": 20, "judge": 45, "pilot": 70}
    rows = {
        "income": [base[job] * (1 + draws.below(40) / 8) for job in jobs],
        "way": [(1 + draws.below(50)) * (base[job] + 10) / 64 for job in jobs],
        "age": [25 + base[job] // 4 + draws.bell(5) for job in jobs],
        "job": jobs,
    }
    rows["way"][3] = None
    events = {"income": "lognormal", "way": "lognormal"}
    fresh = {"income": [1.0, 900.0], "way": [0.5, 80.0], "age": [30, None]}
    return Case(rows, "job", fresh, {"events": events, "alpha": {"income": 1.5, "*": 0.5}}, exact=False)


@case
def pixels() -> Case:
    """A NumPy array of booleans, which is Bernoulli, with whole numbers for classes."""
    draws = Draws(10)
    digits = [draws.below(3) for _ in range(80)]
    lit = {0: 0b111101101111, 1: 0b010010010010, 2: 0b111001111100}
    rows = [[(lit[d] >> k & 1) ^ (draws.below(4) == 0) for k in range(12)] for d in digits]
    fresh = [[(lit[d] >> k & 1) ^ (k == 5) for k in range(12)] for d in range(3)]
    return Case(np.array(rows, bool), digits, np.array(fresh, bool), {"alpha": "evidence"})


@case
def shades() -> Case:
    """A NumPy array of whole numbers, Bernoulli above a threshold; the most likely parameters."""
    draws = Draws(11)
    classes = [draws.one_of(["dark", "light"]) for _ in range(70)]
    rows = [[draws.below(200 if c == "dark" else 256) for _ in range(6)] for c in classes]
    options = {"events": "bernoulli(threshold=127)", "estimate": "mle", "calibrate": None}
    return Case(np.array(rows, np.int64), classes, np.array([[0, 255, 128, 127, 3, 200]]), options)


def _word_counts(draws: Draws, classes: list[Any], width: int, rare: int) -> list[list[int]]:
    """Rows of counts, mostly 0, in which each class prefers columns of its own."""
    order = {c: k for k, c in enumerate(sorted(set(classes)))}
    rows = []
    for c in classes:
        row = [0] * width
        for _ in range(8 + draws.below(8)):
            row[draws.below(width) if draws.below(3) else (order[c] * 7 + draws.below(rare)) % width] += 1
        rows.append(row)
    return rows


@case
def counts() -> Case:
    """A NumPy array of counts, multinomial, with smoothing chosen by rows left out."""
    draws = Draws(12)
    topics = [draws.mostly("sport", ["music", "trade"]) for _ in range(90)]
    fresh = np.array([[0] * 20, [3] + [0] * 18 + [1], list(range(20))])
    return Case(np.array(_word_counts(draws, topics, 20, 4)), topics, fresh, {"events": "multinomial", "alpha": "loo"})


@case
def sparse() -> Case:
    """Sparse counts, multinomial as by default, with weights given as a list."""
    draws = Draws(13)
    topics = [draws.one_of(["art", "law", "sea"]) for _ in range(80)]
    rows = csr_matrix(np.array(_word_counts(draws, topics, 60, 6)))
    weights = [1 + draws.below(3) / 2 for _ in topics]
    fresh = csr_matrix(([2, 1, 5], ([0, 0, 1], [3, 59, 14])), shape=(2, 60))
    return Case(rows, topics, fresh, {"weights": weights, "alpha": "loo", "prior": "uniform"})


@case
def sparse_complement() -> Case:
    """Sparse tf-idf-like numbers, complement, with real numbers for classes."""
    draws = Draws(14)
    grades = [draws.one_of([1.0, 1.5, 2.25]) for _ in range(80)]
    rows = csr_matrix(np.array(_word_counts(draws, grades, 40, 5)) / 8)
    fresh = csr_matrix(([0.5, 1.25], ([0, 1], [0, 39])), shape=(2, 40))
    return Case(rows, grades, fresh, {"events": "complement", "estimate": "map", "alpha": 0.3, "calibrate": None})


_WORDS = {
    "": "the a of to in and is for with on at it was by",
    "garden": "rose soil Spaten growing seed bees água hedge sun watering moss beet",
    "kitchen": "oven salt Löffel baking dough crème knife soup tasting pepper beet sun",
    "harbour": "boat rope Mole sailing tide gulls море anchor fog docking moss salt",
}


def _notes(seed: int, number: int) -> tuple[list[str], list[str]]:
    """Short texts in several scripts, one of them empty, and their topics."""
    draws = Draws(seed)
    words = {topic: text.split() for topic, text in _WORDS.items()}
    topics = [draws.one_of([topic for topic in words if topic]) for _ in range(number)]
    texts = []
    for topic in topics:
        chosen = [draws.one_of(words[topic] if draws.below(3) == 0 else words[""]) for _ in range(5 + draws.below(9))]
        chosen[draws.below(len(chosen))] = draws.one_of(words[draws.one_of(sorted(words))])
        texts.append(" ".join(chosen).capitalize() + draws.one_of([".", "!", " (2024)?", ", etc."]))
    texts[4] = ""
    return texts, topics


_FRESH_NOTES = ["The soup and the rope.", "", "Quite unheard of!", "sun sun beet, MOSS; água in the Löffel"]


@case
def text() -> Case:
    """A list of strings, their words counted; all other options as they are by default."""
    return Case(*_notes(15, 90), _FRESH_NOTES, {"events": "text"})


@case
def text_bernoulli() -> Case:
    """Presence of words (Bernoulli), for words in two documents or more."""
    options = {"events": "text(bag='bernoulli', min_df=2, strip_accents='unicode')", "alpha": 0.5, "calibrate": None}
    return Case(*_notes(16, 60), _FRESH_NOTES, options)


@case
def text_complement() -> Case:
    """Words and pairs of words, under the complement model."""
    events = "text(bag='complement', ngrams=(1, 2), stop_words=('the', 'a'))"
    return Case(*_notes(17, 60), _FRESH_NOTES, {"events": events, "estimate": "map"})


@case
def text_characters() -> Case:
    """Runs of characters within words, each once a document; those never seen are smoothed."""
    events = "text(bag='binary', analyzer='char_wb', ngrams=(2, 3), unknown='smooth', max_features=200)"
    return Case(*_notes(18, 50), _FRESH_NOTES, {"events": events, "alpha": "evidence", "prior": (0.4, 0.35, 0.25)})


@case
def text_and_numbers() -> Case:
    """Text, some of it missing, beside a number and a category."""
    draws = Draws(19)
    texts, topics = _notes(20, 80)
    titles, _ = _notes(21, 80)
    price = {"garden": 30, "kitchen": 55, "harbour": 90}
    rows = {
        "body": [None if draws.below(9) == 0 else one for one in texts],
        "title": titles,
        "price": [(price[topic] + draws.bell(20)) / 2 for topic in topics],
        "seller": [draws.mostly(topic[0], ["g", "k", "h"]) for topic in topics],
        "topic": topics,
    }
    events = {"body": "text", "title": "text(bag='bernoulli')", "price": "gaussian"}
    fresh = [{"body": "Salt, dough", "price": 20.5}, {"title": "Fog", "body": None, "seller": "z"}]
    return Case(rows, "topic", fresh, {"events": events, "alpha": {"body": "loo", "title": "loo", "price": 3}})


@case
def dates() -> Case:
    """Dates for classes, and columns of dates, times and whole numbers that are names."""
    draws = Draws(22)
    days = [datetime.date(2024, 2, 28) + datetime.timedelta(days=draws.below(3)) for _ in range(60)]
    rows = {
        "due": [day + datetime.timedelta(days=draws.below(3)) for day in days],
        "at": [datetime.datetime(2024, 2, 28, 6 + draws.below(2) + 2 * (day.day % 3), 30) for day in days],
        "shop": [draws.mostly(100 + day.day, [101, 128, 129]) for day in days],
        "day": days,
    }
    fresh = {"due": [datetime.date(2024, 3, 1)], "at": [datetime.datetime(2024, 2, 28, 7, 30)], "shop": [7]}
    return Case(rows, "day", fresh, {"events": {"shop": "categorical"}, "alpha": {"shop": "loo", "due": 0.125}})


@case
def many() -> Case:
    """Twelve classes, some of which have few rows."""
    draws = Draws(23)
    names = ["ant", "bat", "cow", "dog", "eel", "fox", "gnu", "hen", "ibex", "jay", "kiwi", "lynx"]
    kinds = names + [names[min(draws.below(12), draws.below(16) % 12)] for _ in range(188)]
    homes = ["sea", "sky", "farm", "wood"]
    rows = {
        "legs": [draws.mostly([0, 2, 4][names.index(kind) % 3], [0, 2, 4, 6]) for kind in kinds],
        "home": [draws.mostly(homes[names.index(kind) % 4], ["sea", "farm"]) for kind in kinds],
        "mass": [(names.index(kind) * 9 + draws.bell(12)) / 16 for kind in kinds],
        "calls": [draws.below(2 + names.index(kind)) for kind in kinds],
        "kind": kinds,
    }
    events = {"legs": "categorical", "calls": "poisson", "mass": "gaussian"}
    fresh = [{"legs": 8, "home": "wood", "mass": 3.0}, {"calls": 5, "mass": 40.0}]
    return Case(rows, "kind", fresh, {"events": events, "alpha": 0.75})


@case
def numbers() -> Case:
    """Numbers of many shapes, and names, some of them missing; all options as they are by default."""
    draws = Draws(24)
    kinds = [draws.one_of(["ash", "birch"]) for _ in range(200)]
    rows: dict[str, list[Any]] = {
        "girth": [(20 + 3 * (kind == "ash") + draws.bell(4)) / 8 for kind in kinds],
        "rings": [draws.below(4) if draws.below(3) else 0 for _ in kinds],
        "far": [float(2 ** (draws.below(30) + 4 * (kind == "ash"))) for kind in kinds],
        "soil": [draws.mostly("clay" if kind == "ash" else "sand", ["clay", "sand", "peat"]) for kind in kinds],
    }
    for name in ("girth", "soil"):
        rows[name] = [None if draws.below(7) == 0 else value for value in rows[name]]
    fresh = [{"girth": 2.5, "rings": 3, "far": 1e9, "soil": "peat"}, {"far": -1.0}, {"soil": "chalk", "rings": 9}]
    return Case(rows | {"kind": kinds}, "kind", fresh)
