#!/usr/bin/env python3
"""SLEPc's LOBPCG until all pairs of the block have residuals of the tolerance or less; under mpirun.

sparse_slepc.py FILE CASE BLOCK ITERATIONS TOLERANCE WORKERS; FILE is what `bench_sparse --case write` writes.
"""
import os
import sys
import time

path, case, block, iterations, tolerance, workers = sys.argv[1:7]
sys.argv = sys.argv[:1]  # the rest are no options of PETSc
os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = "1"  # a process per worker
import slepc4py  # noqa: E402

slepc4py.init([])
import sparse_matrix_file  # noqa: E402
from petsc4py import PETSc  # noqa: E402
from slepc4py import SLEPc  # noqa: E402

rows, starts, columns, values = sparse_matrix_file.read(path)
rank, size = PETSc.COMM_WORLD.getRank(), PETSc.COMM_WORLD.getSize()
first, last = rows * rank // size, rows * (rank + 1) // size
entries = slice(starts[first], starts[last])
local = (starts[first : last + 1] - starts[first]).astype(PETSc.IntType)
a = PETSc.Mat().createAIJ(
    size=((last - first, rows), (last - first, rows)),
    csr=(local, columns[entries].astype(PETSc.IntType), values[entries]),
)
a.setOption(PETSc.Mat.Option.HERMITIAN, True)
solver = SLEPc.EPS().create()
solver.setOperators(a)
solver.setProblemType(SLEPc.EPS.ProblemType.HEP)
solver.setWhichEigenpairs(SLEPc.EPS.Which.SMALLEST_REAL)
solver.setType(SLEPc.EPS.Type.LOBPCG)
solver.setDimensions(int(block))
solver.setLOBPCGBlockSize(int(block))
solver.setConvergenceTest(SLEPc.EPS.Conv.ABS)
solver.setTolerances(float(tolerance), int(iterations))
inner = solver.getST().getKSP()
inner.setType(PETSc.KSP.Type.PREONLY)
inner.getPC().setType(PETSc.PC.Type.NONE)
solver.setUp()
began = time.perf_counter()
solver.solve()
seconds = time.perf_counter() - began
done = min(solver.getConverged(), int(block))
largest = max((solver.computeError(k, SLEPc.EPS.ErrorType.ABSOLUTE) for k in range(done)), default=float("inf"))
if done < int(block):
    largest = float("inf")
if rank == 0:
    version = ".".join(str(part) for part in SLEPc.Sys.getVersion())
    sparse_matrix_file.tell(f"SLEPc {version}", case, workers, seconds, solver.getIterationNumber(), largest)
