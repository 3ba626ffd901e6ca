# The public names: what type checkers see, and what `tallybayes.__getattr__` loads.
from . import errors as errors
from . import evaluation as evaluation
from . import events as events
from .evaluation import Evaluation as Evaluation
from .evaluation import evaluate as evaluate
from .evidence.evidence import Evidence as Evidence
from .export.duckdb import register_duckdb as register_duckdb
from .export.json import from_json as from_json
from .export.scorecard import Scorecard as Scorecard
from .fitting import fit as fit
from .inference.posterior import ImpossibleRowWarning as ImpossibleRowWarning
from .inference.uncertainty import Intervals as Intervals
from .model import Model as Model
from .online import Learner as Learner
from .queries.count_rows import probability as probability
from .queries.probability import Probability as Probability
from .reporting import report as report
from .sklearn import BernoulliNB as BernoulliNB
from .sklearn import CategoricalNB as CategoricalNB
from .sklearn import ComplementNB as ComplementNB
from .sklearn import CountVectorizer as CountVectorizer
from .sklearn import GaussianNB as GaussianNB
from .sklearn import MultinomialNB as MultinomialNB
from .sklearn import NaiveBayes as NaiveBayes
from .sklearn import TextNB as TextNB
from .sources import read as read
from .storage.model_file import load as load
from .structure.dependence import Dependence as Dependence
from .structure.dependence import dependence as dependence
from .validation import Comparison as Comparison
from .validation import LearningCurve as LearningCurve
from .validation import Validation as Validation
from .validation import compare as compare
from .validation import learning_curve as learning_curve
from .validation import validate as validate

__version__: str
