"""tallybayes: exact counts in, honest probabilities out.

Evidence adds; belief is computed from evidence; neither knows where the rows came from.
"""

import lazy_loader

__version__ = "0.2.0"

# Public names are listed in `__init__.pyi` and loaded when first used, so that `import tallybayes` is quick.
__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
