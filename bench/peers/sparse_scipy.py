#!/usr/bin/env python3
"""SciPy's LOBPCG until all pairs of the block have residuals of the tolerance or less.

sparse_scipy.py FILE CASE BLOCK ITERATIONS TOLERANCE WORKERS; FILE is what `bench_sparse --case write` writes.
"""
import os
import sys
import time
import warnings

path, case, block, iterations, tolerance, workers = sys.argv[1:7]
os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = workers  # before the libraries are loaded
import numpy  # noqa: E402
import scipy  # noqa: E402
import scipy.sparse  # noqa: E402
import scipy.sparse.linalg  # noqa: E402
import sparse_matrix_file  # noqa: E402

rows, starts, columns, values = sparse_matrix_file.read(path)
a = scipy.sparse.csr_matrix((values, columns, starts), shape=(rows, rows))
x = numpy.random.default_rng(1).random((rows, int(block))) - 0.5
warnings.simplefilter("ignore")  # that it did not converge is told by its residual
began = time.perf_counter()
found, vectors, history = scipy.sparse.linalg.lobpcg(
    a, x, tol=float(tolerance), maxiter=int(iterations), largest=False, retResidualNormsHistory=True
)
seconds = time.perf_counter() - began
largest = numpy.linalg.norm(a @ vectors - vectors * found, axis=0).max()
sparse_matrix_file.tell(f"SciPy {scipy.__version__}", case, workers, seconds, len(history) - 1, largest)
