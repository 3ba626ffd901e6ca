"""Naive Bayes with scikit-learn's interface: drop-in replacements, and estimators for mixed columns and for texts.

scikit-learn's conventions stay in this package. It translates arguments and fitted attributes; the rest of tallybayes
counts, merges and scores.
"""

from tallybayes.sklearn.bernoulli import BernoulliNB
from tallybayes.sklearn.categorical import CategoricalNB
from tallybayes.sklearn.gaussian import GaussianNB
from tallybayes.sklearn.multinomial import ComplementNB, MultinomialNB
from tallybayes.sklearn.naive_bayes import NaiveBayes
from tallybayes.sklearn.text import TextNB
from tallybayes.sklearn.vectorizer import CountVectorizer

__all__ = [
    "BernoulliNB",
    "CategoricalNB",
    "ComplementNB",
    "CountVectorizer",
    "GaussianNB",
    "MultinomialNB",
    "NaiveBayes",
    "TextNB",
]
