#!/usr/bin/env python3
"""CuPy's LOBPCG on the Laplacians of cubes, the peer of `tessera eigs --generate lap3d:M --at cuda0`.

  bench/device/cupy_lobpcg.py [M ...]      default: 60 100; rows as of bench/common/measure.hpp

Milliseconds of an iteration with a block of 8 vectors: the difference of two runs with 80 and 20 iterations, behind one
that compiles. Needs cupy and scipy. Exit code 5: they or the GPU are missing.
"""
import sys
import time

try:
    import cupy
    import numpy
    import scipy.sparse
    from cupyx.scipy.sparse import csr_matrix
    from cupyx.scipy.sparse.linalg import lobpcg
except ImportError as missing:
    print(missing, file=sys.stderr)
    sys.exit(5)


def laplacian(m):
    line = scipy.sparse.diags([-numpy.ones(m - 1), 2 * numpy.ones(m), -numpy.ones(m - 1)], [-1, 0, 1])
    one = scipy.sparse.identity(m)
    kron = scipy.sparse.kron
    return (kron(kron(line, one), one) + kron(kron(one, line), one) + kron(kron(one, one), line)).tocsr()


def seconds(matrix, iterations):
    start = cupy.asarray(numpy.random.default_rng(1).standard_normal((matrix.shape[0], 8)))
    cupy.cuda.Device().synchronize()
    begin = time.perf_counter()
    lobpcg(matrix, start, largest=False, tol=1e-12, maxiter=iterations)
    cupy.cuda.Device().synchronize()
    return time.perf_counter() - begin


def main():
    for m in [int(word) for word in sys.argv[1:]] or [60, 100]:
        matrix = csr_matrix(laplacian(m))
        seconds(matrix, 5)
        each = (seconds(matrix, 80) - seconds(matrix, 20)) / 60
        print(f"sparse\tCuPy {cupy.__version__}\tlobpcg_lap3d_{m}_b8\t1\tmilliseconds\t{each * 1e3:.4g}", flush=True)


if __name__ == "__main__":
    main()
