"""Problems whose eigenvalues are known: matrices of a folder by a table, families by formula, and a few that are made
here. Standard library only."""
import itertools
import json
import math
import os


class Problem:
    """A matrix, how `tessera eigs` is told of it, and what is known of its spectrum.

    `words` are the command line's. `ends` has the known eigenvalues by the name of an end, the outermost first;
    `accuracy` is how well they are known. `most_equal` is the largest multiplicity among them, as far as it matters."""

    def __init__(self, name, words, ends, accuracy):
        self.name, self.words, self.ends, self.accuracy = name, words, ends, accuracy

    @property
    def has_mass(self):
        return "--mass" in self.words


# ---------------------------------------------------------------------------------------------------------------------
# Matrices of a folder.


def _entries(path):
    """Rows, and the off-diagonal entries (i, j), i > j, of a Matrix Market file, once each."""
    with open(path) as f:
        lines = (line for line in f if not line.startswith("%") and line.strip())
        rows = int(next(lines).split()[0])
        pairs = {tuple(sorted(map(int, line.split()[:2]), reverse=True)) for line in lines}
    return rows, sorted(p for p in pairs if p[0] != p[1])


def write_laplacian(graph, to):
    """The Laplacian D - W of the graph of a matrix's entries, with unit weights and without loops."""
    rows, edges = _entries(graph)
    degree = [0] * (rows + 1)
    for i, j in edges:
        degree[i] += 1
        degree[j] += 1
    with open(to, "w") as f:
        f.write(f"%%MatrixMarket matrix coordinate integer symmetric\n{rows} {rows} {rows + len(edges)}\n")
        f.writelines(f"{i} {i} {degree[i]}\n" for i in range(1, rows + 1))
        f.writelines(f"{i} {j} -1\n" for i, j in edges)


def of_folder(folder, table, temporary):
    """Problems of the matrices that the folder has and the table knows; and the names of files that it does not know.
    Laplacians of graphs are written to `temporary`."""
    with open(table) as f:
        known = json.load(f)["problems"]
    there = {os.path.splitext(n)[0] for n in os.listdir(folder) if n.endswith(".mtx")}
    problems, used = [], set()
    for name, of in known.items():
        matrix, mass = of.get("matrix", name), of.get("mass")
        if matrix not in there or (mass and mass not in there):
            continue
        used |= {matrix, mass}
        path = os.path.join(folder, matrix + ".mtx")
        if of.get("graph"):
            path = os.path.join(temporary, f"{matrix}_laplacian.mtx")
            write_laplacian(os.path.join(folder, matrix + ".mtx"), path)
        words = [path] + (["--mass", os.path.join(folder, mass + ".mtx")] if mass else [])
        ends = {"smallest": of["lowest"], "largest": of["highest"]}
        problems.append(Problem(f"{name} (Laplacian)" if of.get("graph") else name, words, ends, of["accuracy"]))
    return problems, sorted(there - used)


# ---------------------------------------------------------------------------------------------------------------------
# Families by formula.


def laplacian(dimensions, m):
    """All eigenvalues of the Laplacian on m points in each dimension, ascending."""
    line = [4 * math.sin(math.pi * k / (2 * (m + 1))) ** 2 for k in range(1, m + 1)]
    return sorted(map(sum, itertools.product(line, repeat=dimensions)))


def xx_chain(length):
    """All of the open XX chain without magnetization, ascending."""
    levels = [math.cos(math.pi * k / (length + 1)) for k in range(1, length + 1)]
    return sorted(map(sum, itertools.combinations(levels, length // 2)))


def _ways_to_zero(spins):
    """In how many ways the z components of spins, in halves, add up to zero."""
    ways = {0: 1}
    for twice in spins:
        more = {}
        for total, count in ways.items():
            for z in range(-twice, twice + 1, 2):
                more[total + z] = more.get(total + z, 0) + count
        ways = more
    return ways.get(0, 0)


def haldane_shastry(length):
    """All of the Haldane-Shastry ring without magnetization, ascending: by sets of rapidities, no two adjacent."""
    unit = (math.pi / length) ** 2
    ground = math.pi**2 * (length**2 - 1) / (24 * length)
    values = []

    def extend(first, chosen):
        digits = [0] + [int(m in chosen) for m in range(1, length)] + [0]
        runs = [len(run) - 1 for run in "".join(map(str, digits)).split("1")]
        energy = ground + unit * sum(m * (m - length) for m in chosen)
        values.extend([energy] * _ways_to_zero(runs))
        for m in range(first, length):
            extend(m + 2, chosen | {m})

    extend(1, frozenset())
    return sorted(values)


HEISENBERG_GROUND = {8: -3.6510934089372, 10: -4.5154463544920, 12: -5.3873909174452, 16: -7.1422963606168}


# The same on full matrices by LAPACK, of families without a formula: the smallest and the largest values.
COMPUTED = {
    "kkt3d:6": ([-1.01097677113] * 3 + [-0.963422016679], [1.63658780035] * 3 + [1.58957664545]),
    "rmat:9": ([0.0] * 4, [197.021963314, 126.130298599, 116.254198916, 115.056592195]),
    "nrmat:9:8": ([0.0] * 4, [1.51689168843, 1.50899073521, 1.5075420253, 1.48582295841]),
}


def _both_ends(values, count):
    return {"smallest": values[:count], "largest": values[::-1][:count]}


def families(count):
    """Small members of all families that `tessera eigs --generate` has."""
    spectra = {
        "lap2d:30": laplacian(2, 30),
        "lap3d:12": laplacian(3, 12),
        "xx:12": xx_chain(12),
        "hs:12": haldane_shastry(12),
        "hs:14": haldane_shastry(14),
        "hs:16": haldane_shastry(16),
    }
    problems = [
        Problem(name, ["--generate", name], _both_ends(values, count), 1e-12 * max(map(abs, values)))
        for name, values in spectra.items()
    ]
    problems += [
        Problem(f"xxz:{length}", ["--generate", f"xxz:{length}"], {"smallest": [HEISENBERG_GROUND[length]]}, 1e-12)
        for length in (12, 16)
    ]
    # Blocks that cut no level, those of which the rows are fewer than three, residuals far below the usual tolerance.
    special = {
        "xx:12, block 16": ("xx:12", ["--block", "16"]),
        "lap2d:6, block 13": ("lap2d:6", ["--block", "13"]),
        "lap2d:30, 1e-10 of the norm": ("lap2d:30", ["--criterion", "norm", "--tol", "1e-10"]),
        "hs:12, 1e-10 of the norm": ("hs:12", ["--criterion", "norm", "--tol", "1e-10"]),
    }
    for name, (family, words) in special.items():
        values = laplacian(2, 6) if family == "lap2d:6" else spectra[family]
        ends, accuracy = _both_ends(values, count), 1e-12 * max(map(abs, values))
        problems.append(Problem(name, ["--generate", family, *words], ends, accuracy))
    problems += [
        Problem(name, ["--generate", name], {"smallest": low[:count], "largest": high[:count]}, 1e-12 * high[0])
        for name, (low, high) in COMPUTED.items()
    ]
    return problems


# ---------------------------------------------------------------------------------------------------------------------
# Diagonal matrices: what a solver may stumble over.

DIAGONALS = {
    "identity": [1.0] * 400,
    "zero": [0.0] * 400,
    "repeated diagonal": [float(1 + k // 4) for k in range(400)],
    "one large": [1.0] * 399 + [1e6],
}


def diagonals(count, temporary):
    """Diagonal matrices with many equal eigenvalues, written to `temporary`."""
    problems = []
    for name, values in DIAGONALS.items():
        path = os.path.join(temporary, name.replace(" ", "_") + ".mtx")
        with open(path, "w") as f:
            f.write(f"%%MatrixMarket matrix coordinate real symmetric\n{len(values)} {len(values)} {len(values)}\n")
            f.writelines(f"{k} {k} {v!r}\n" for k, v in enumerate(values, 1))
        problems.append(Problem(name, [path], _both_ends(sorted(values), count), 0.0))
    return problems
