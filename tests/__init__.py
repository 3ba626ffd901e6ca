"""Tests, and the environment that they and the processes they start run in."""

import os

# Tests run beside each other, one per core. Threads of BLAS and OpenMP would share these cores and wait for each other
# busily: small problems of scikit-learn then take more than twice the CPU time. NumPy reads this when it is imported.
for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"):
    os.environ.setdefault(name, "1")
