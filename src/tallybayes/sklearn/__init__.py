"""Naive Bayes as scikit-learn speaks it: five drop-ins, and the one for mixed columns that it never got.

The guest library's conventions stay in this room. Counting, adding and scoring are the spine's; what is here
translates: arguments in, fitted attributes out.
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
