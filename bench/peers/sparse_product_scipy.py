#!/usr/bin/env python3
"""Y = A X by SciPy, which has one thread for it. sparse_product_scipy.py FILE CASE BLOCK; FILE is what
`bench_sparse --case write` writes."""
import sys
import time

import numpy
import scipy
import scipy.sparse
import sparse_matrix_file

path, case, block = sys.argv[1:4]
rows, starts, columns, values = sparse_matrix_file.read(path)
a = scipy.sparse.csr_matrix((values, columns, starts), shape=(rows, rows))
x = numpy.random.default_rng(1).random((rows, int(block)) if block != "1" else rows) - 0.5
best = float("inf")
for _ in range(11):
    began = time.perf_counter()
    y = a @ x
    best = min(best, time.perf_counter() - began)
print("\t".join(["sparse", f"SciPy {scipy.__version__}", case, "1", "milliseconds", repr(best * 1e3)]))
