"""The matrix that `bench_sparse --case write` writes, and the rows that a peer prints."""
import numpy


def read(path):
    """Rows, row starts, columns, values."""
    with open(path, "rb") as f:
        rows, nonzeros = numpy.fromfile(f, numpy.int64, 2)
        starts = numpy.fromfile(f, numpy.int64, rows + 1)
        columns = numpy.fromfile(f, numpy.int32, nonzeros)
        values = numpy.fromfile(f, numpy.float64, nonzeros)
    return int(rows), starts, columns, values


def tell(runtime, case, workers, seconds, iterations, largest_residual):
    for metric, value in (("seconds", seconds), ("iterations", iterations), ("largest_residual", largest_residual)):
        print("sparse", runtime, case, workers, metric, f"{value:.6g}", sep="\t")
