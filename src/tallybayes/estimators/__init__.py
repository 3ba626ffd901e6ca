"""Naive Bayes as scikit-learn speaks it: five drop-ins, and the one for mixed columns that it never got.

The guest library's conventions stay in this room. Counting, adding and scoring are the spine's; what is here
translates: arguments in, fitted attributes out.
"""

from tallybayes.estimators.bernoulli import BernoulliNB
from tallybayes.estimators.categorical import CategoricalNB
from tallybayes.estimators.gaussian import GaussianNB
from tallybayes.estimators.mixed import NaiveBayes
from tallybayes.estimators.multinomial import ComplementNB, MultinomialNB
from tallybayes.estimators.text import TextNB
from tallybayes.estimators.vectorizer import CountVectorizer

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
