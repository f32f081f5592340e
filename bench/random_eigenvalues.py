#!/usr/bin/env python3
"""Are the eigenvalues right that `tessera eigs` finds of random problems? Compared with those of LAPACK, by SciPy.

  bench/random_eigenvalues.py --count 1000                 problems 1 to 1000
  bench/random_eigenvalues.py --first 73 --count 1 --keep folder    one of them, with its files and its command
  bench/random_eigenvalues.py --count 200 --solvers chebyshev --kinds outliers

A problem is drawn from its number alone: graphs of cliques, rings and stars, matrices with eigenvalues of many copies,
null spaces, clusters or far outliers, bands and pencils; with vectors to start with, vectors to leave out, and options
of one of the solvers. What is checked: each value is within its bound of the eigenvalue of its number, unless it is
marked, and within it of some eigenvalue if it is; vectors are orthogonal and have the residuals that are told; no value
has left the spectrum on the way. Needs NumPy and SciPy. Ends with 1 where a run is wrong, has left the spectrum, or
failed; pairs that do not converge are counted and named.
"""
import argparse
import collections
import json
import os
import shlex
import subprocess
import sys
import tempfile

import numpy as np
import scipy.linalg

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SOLVERS = ("lobpcg", "lanczos", "chebyshev")
VERDICTS = ("right", "marked", "open", "refused", "wrong", "diverged", "failed")
MISTAKES = ("wrong", "diverged", "failed")

# ---------------------------------------------------------------------------------------------------------------------
# Matrices. Each function draws one, and has its whole spectrum where that is known better than LAPACK knows it.


def laplacian(random):
    """Of a graph of parts that are not connected, normalised or not."""
    kind = random.choice(("clique", "ring", "star", "mixed"))
    edges, rows = [], 0
    while rows < 90 or (rows < 200 and random.random() < 0.5):
        more = int(random.integers(6, 80))
        part = random.choice(("clique", "ring", "star")) if kind == "mixed" else kind
        if part == "clique":
            edges += [(rows + i, rows + j) for i in range(more) for j in range(i)]
        elif part == "ring":
            edges += [(rows + i, rows + (i + 1) % more) for i in range(more)]
        else:
            edges += [(rows, rows + i) for i in range(1, more)]
        rows += more
    a = np.zeros((rows, rows))
    for i, j in edges:
        a[i, j] = a[j, i] = -1
    degrees = -a.sum(axis=1)
    a += np.diag(degrees)
    if random.random() < 0.5:
        a = a / np.sqrt(np.outer(degrees, degrees))
    return a, None


def rotated(random, spectrum):
    """A block diagonal matrix with these eigenvalues, whose blocks have up to 30 rows."""
    spectrum = random.permutation(spectrum)
    rows = len(spectrum)
    a = np.zeros((rows, rows))
    begin = 0
    while begin < rows:
        end = min(rows, begin + int(random.integers(1, 31)))
        q, _ = np.linalg.qr(random.standard_normal((end - begin, end - begin)))
        block = q * spectrum[begin:end] @ q.T
        a[begin:end, begin:end] = (block + block.T) / 2
        begin = end
    return a


def multiple(random):
    """Few different eigenvalues, with many copies, of both signs."""
    rows = int(random.integers(60, 200))
    levels = np.round(random.uniform(-5, 20, int(random.integers(3, 20))), 2)
    return rotated(random, random.choice(levels, rows)), None


def null_space(random):
    rows, zeros = int(random.integers(60, 200)), int(random.integers(1, 10))
    return rotated(random, np.concatenate([np.zeros(zeros), random.uniform(0.5, 10, rows - zeros)])), None


def clusters(random):
    """Groups of eigenvalues that are near to each other."""
    rows = int(random.integers(60, 200))
    centres = random.uniform(1, 10, int(random.integers(4, 30)))
    width = 10.0 ** random.integers(-9, -2)
    return rotated(random, random.choice(centres, rows) + width * random.uniform(-1, 1, rows)), None


def graded(random):
    rows = int(random.integers(60, 200))
    return rotated(random, np.logspace(-random.integers(1, 5), 2, rows)), None


def outliers(random):
    """A diagonal, and a few eigenvalues far from the others."""
    rows = int(random.integers(60, 200))
    spectrum = random.uniform(0, 10, rows) if random.random() < 0.5 else np.arange(rows, dtype=float)
    far = 10.0 ** random.choice((4, 8, 12, 300))
    for k in range(int(random.integers(1, 4))):
        spectrum[k] = far * random.uniform(0.3, 1) * random.choice((-1, 1))
    spectrum = random.permutation(spectrum)
    return np.diag(spectrum), np.sort(spectrum)


def band(random):
    rows, width = int(random.integers(60, 250)), int(random.integers(1, 5))
    a = np.zeros((rows, rows))
    for k in range(width + 1):
        diagonal = random.standard_normal(rows - k) if random.random() < 0.7 else np.full(rows - k, float(k == 0) - 0.3)
        a += np.diag(diagonal, k) + (np.diag(diagonal, -k) if k else 0)
    return a, None


def dense(random):
    rows = int(random.integers(50, 110))
    a = random.standard_normal((rows, rows))
    return (a + a.T) / 2, None


KINDS = {
    "graph": laplacian,
    "multiple": multiple,
    "null": null_space,
    "clusters": clusters,
    "graded": graded,
    "outliers": outliers,
    "band": band,
    "dense": dense,
}


def mass_matrix(random, rows, diagonal):
    b = np.diag(random.uniform(1, 1 + random.choice((0.5, 3, 20)), rows))
    if not diagonal:
        at = np.arange(rows)
        b[at, (at + 7) % rows] = b[(at + 7) % rows, at] = random.uniform(0.05, 0.3)
    return b


# ---------------------------------------------------------------------------------------------------------------------
# Problems.


class Problem:
    """All of it from one number. `wanted` are the eigenvalues that are to be found, in the order in which they are
    told, `all` the ones that exist beside deflated ones, `span` the ends of the whole spectrum."""

    def __init__(self, number, solvers, kinds):
        random = np.random.default_rng(number)
        self.number = number
        self.kind, self.solver = str(random.choice(kinds)), str(random.choice(solvers))
        self.a, known = KINDS[self.kind](random)
        rows = self.rows = len(self.a)
        self.b = None
        if self.kind != "outliers" and random.random() < 0.2:
            self.b = mass_matrix(random, rows, self.solver != "lobpcg" or random.random() < 0.4)
        values, vectors = scipy.linalg.eigh(self.a, self.b)
        if known is not None:  # of a diagonal
            values, vectors = known, np.eye(rows)[:, np.argsort(np.diag(self.a), kind="stable")]
        self.span = values[0], values[-1]
        self.pairs = int(random.integers(1, 9))
        ends = ("smallest", "largest") + (("both",) if self.solver != "lobpcg" else ())
        self.which = str(random.choice(ends, p=[0.6, 0.4] if len(ends) == 2 else [0.5, 0.25, 0.25]))
        left = self._deflated(random, vectors)
        self.all, vectors = values[left], vectors[:, left]
        low = self.low = {"smallest": self.pairs, "largest": 0, "both": (self.pairs + 1) // 2}[self.which]
        high = len(self.all) - (self.pairs - low)
        self.wanted = np.concatenate([self.all[:low], self.all[high:][::-1]])  # from outside
        self.guess = self._guess(random, vectors)
        self.words = self._words(random)
        norm = max(abs(self.span[0]), abs(self.span[1]))
        self.accuracy = 8 * sys.float_info.epsilon * rows * norm  # of LAPACK

    def _deflated(self, random, vectors):
        """Which pairs stay; sets the vectors that are left out."""
        self.deflate = None
        count = int(random.integers(1, 7))
        if random.random() >= 0.2:
            return np.arange(self.rows)
        first = self.rows - count if self.which == "largest" else 0
        if random.random() < 0.2:
            first = int(random.integers(0, self.rows - count))
        left_out = vectors[:, first : first + count]
        if random.random() < 0.3:  # sums of them, which may depend on each other
            left_out = left_out @ random.standard_normal((count, count + int(random.integers(0, 3))))
        self.deflate = left_out
        return np.concatenate([np.arange(first), np.arange(first + count, self.rows)])

    def _guess(self, random, vectors):
        count = self.pairs + int(random.integers(0, 4))
        towards = 1 if self.which != "largest" else -1
        ordered = vectors[:, ::towards]
        kind = random.choice(
            ("none", "exact", "others", "inner", "random", "partial", "near"),
            p=(0.6, 0.06, 0.1, 0.06, 0.06, 0.06, 0.06),
        )
        if kind == "none":
            return None
        if kind == "random":
            return random.standard_normal((self.rows, count))
        if kind == "exact":
            return ordered[:, :count]
        if kind == "others":
            return ordered[:, self.pairs : self.pairs + count]
        if kind == "inner":
            return ordered[:, random.permutation(len(ordered.T))[:count]]
        if kind == "partial":
            return ordered[:, : max(1, self.pairs // 2)]
        size = np.abs(ordered[:, :count]).max()
        return ordered[:, :count] + 10.0 ** random.integers(-6, -1) * size * random.standard_normal((self.rows, count))

    def _words(self, random):
        def one_in(n):
            return random.integers(0, n) == 0

        words = ["--solver", self.solver, "--pairs", str(self.pairs), "--which", self.which]
        words += ["--seed", str(random.integers(1, 10))]
        if one_in(2):
            words += ["--tol", f"{10.0 ** random.integers(-11, -1):g}"]
        if one_in(4):
            words += ["--criterion", str(random.choice(("norm", "absolute")))]
        if self.solver == "lanczos":
            if one_in(3):
                words += ["--block", str(random.choice((1, 2, 3, 8, 16, 32, 40)))]
            if one_in(6):
                words += ["--reorthogonalize", "selective"]
        else:
            if one_in(3):
                words += ["--block", str(self.pairs + random.integers(0, 5))]
            if one_in(8):
                words += ["--lag", str(random.integers(1, 3))]
        if self.solver == "chebyshev" and one_in(6):
            words += ["--degree", str(random.choice((2, 5, 20, 60)))]
        if self.solver == "lobpcg" and one_in(2):
            words += ["--precond", str(random.choice(("none", "jacobi", "block-jacobi", "chebyshev")))]
        return words

    def command(self, tessera, folder):
        """Writes its files, and returns the words that run it."""
        words = [tessera, "eigs", written(folder, "a", self.a, symmetric=True), *self.words]
        if self.b is not None:
            words += ["--mass", written(folder, "b", self.b, symmetric=True)]
        for option, x in (("guess", self.guess), ("deflate", self.deflate)):
            if x is not None:
                words += ["--" + option, written(folder, option, x)]
        made = [os.path.join(folder, name) for name in ("figures.json", "x.mtx")]
        for name in made:
            if os.path.exists(name):
                os.remove(name)
        return [*words, "--workers", "1", "--quiet", "--json", made[0], "--out", made[1]]


def written(folder, name, x, symmetric=False):
    path = os.path.join(folder, name + ".mtx")
    with open(path, "w") as f:
        if symmetric:
            rows, columns = np.nonzero(np.tril(x))
            f.write(f"%%MatrixMarket matrix coordinate real symmetric\n{len(x)} {len(x)} {len(rows)}\n")
            f.writelines(f"{i + 1} {j + 1} {x[i, j]:.17g}\n" for i, j in zip(rows, columns))
        else:
            f.write(f"%%MatrixMarket matrix array real general\n{x.shape[0]} {x.shape[1]}\n")
            f.writelines(f"{v:.17g}\n" for v in x.T.ravel())
    return path


# ---------------------------------------------------------------------------------------------------------------------
# What a run has found.


def wrong_pairs(problem, figures):
    """Sentences, and whether a mark has explained another value."""
    told, explained, known = [], False, True
    for k, e in enumerate(figures["eigenvalues"]):
        allowed = e["error_bound"] + problem.accuracy
        away = abs(e["value"] - problem.wanted[k])
        # Further in than a pair that has not converged, numbers are not known.
        known = (known or k == problem.low) and e["converged"]
        if np.abs(problem.all - e["value"]).min() > allowed:
            told.append(f"there is no eigenvalue within {e['error_bound']:.2g} of value {k + 1}, {e['value']:.12g}")
        elif known and not away <= allowed:
            if e["clustered"] or e["unsettled"]:
                explained = True
            else:
                told.append(f"value {k + 1} is {e['value']:.12g} +- {allowed:.2g}, not {problem.wanted[k]:.12g}")
    return told, explained


def wrong_vectors(problem, figures, path):
    told = []
    with open(path) as f:
        lines = [line for line in f if not line.startswith("%")]
    rows, columns = map(int, lines[0].split())
    x = np.array(lines[1:], dtype=float).reshape(columns, rows).T
    with np.errstate(over="ignore", invalid="ignore"):
        bx = x if problem.b is None else problem.b @ x
        scale = max(1.0, np.abs(problem.a).max())
        r = problem.a / scale @ x - bx * ([e["value"] / scale for e in figures["eigenvalues"]])
        norms = np.linalg.norm(r, axis=0)
        for k, e in enumerate(figures["eigenvalues"]):
            if not norms[k] <= (1.01 * e["residual"] + problem.accuracy * np.linalg.norm(bx[:, k])) / scale:
                told.append(f"residual {k + 1} is {norms[k] * scale:.2g}, not {e['residual']:.2g}")
        apart = np.abs(x.T @ bx - np.eye(columns)).max()
    if figures["converged"] and not apart <= 1e-8:
        told.append(f"X'X - I is {apart:.1e}")
    return told


def left_spectrum(problem, figures):
    """By how much a Ritz value was outside of it; None where none was. With --reorthogonalize selective some may be for
    a time: how orthogonal the basis is, is only measured every 40 restarts."""
    if "selective" in problem.words:
        return None
    low, high = problem.span
    slack = 1e-7 * max(abs(low), abs(high), sys.float_info.min)
    farthest = 0.0
    for moment in figures["convergence"]:
        for v, residual in zip(moment["values"], moment["residuals"]):
            if v is None:  # not finite
                return float("inf")
            if residual != figures["norm"]:  # else its part has not begun
                farthest = max(farthest, low - v, v - high)
    return farthest if farthest > slack else None


def judged(problem, command, limit):
    """A verdict, and a sentence about it."""
    try:
        p = subprocess.run(command, text=True, capture_output=True, timeout=limit, check=False)
    except subprocess.TimeoutExpired:
        return "failed", f"longer than {limit:g} s"
    figures_at, vectors_at = command[command.index("--json") + 1], command[command.index("--out") + 1]
    message = " | ".join(line.strip() for line in p.stderr.strip().splitlines())
    if p.returncode == 2 or not os.path.exists(figures_at):
        return ("refused" if p.returncode == 2 else "failed"), f"exit {p.returncode}: {message}"
    with open(figures_at) as f:
        figures = json.load(f)
    told, explained = wrong_pairs(problem, figures)
    told += wrong_vectors(problem, figures, vectors_at)
    if told:
        return "wrong", f"{'; '.join(told)} ({figures['solver']}, {figures['iterations']} iterations)"
    if (by := left_spectrum(problem, figures)) is not None:
        return "diverged", f"a value was outside of the spectrum by {by:.2g}"
    if p.returncode != 0:
        worst = max(e["residual"] for e in figures["eigenvalues"] if not e["converged"])
        return "open", f"residuals up to {worst:.2g} of a norm of {figures['norm']:.3g}: {message}"
    return ("marked", "") if explained else ("right", "")


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--count", type=int, default=100, metavar="N", help="problems (default: 100)")
    p.add_argument("--first", type=int, default=1, metavar="N", help="number of the first one (default: 1)")
    p.add_argument("--solvers", nargs="+", default=list(SOLVERS), choices=SOLVERS)
    p.add_argument("--kinds", nargs="+", default=list(KINDS), choices=list(KINDS))
    p.add_argument("--limit", type=float, default=30, metavar="SECONDS", help="longest run (default: 30)")
    p.add_argument("--build", default=os.path.join(ROOT, "build", "release"), help="build folder")
    p.add_argument("--keep", default="", metavar="FOLDER", help="where the files of the last problem stay")
    opt = p.parse_args()
    tessera = os.path.join(opt.build, "bin", "tessera")
    if not os.access(tessera, os.X_OK):
        sys.exit(f"error: the build has no program\n  at: {tessera}\n  hint: build Tessera, or give --build")
    counts = {solver: collections.Counter() for solver in SOLVERS}
    with tempfile.TemporaryDirectory() as temporary:
        folder = opt.keep or temporary
        os.makedirs(folder, exist_ok=True)
        for number in range(opt.first, opt.first + opt.count):
            problem = Problem(number, opt.solvers, opt.kinds)
            command = problem.command(tessera, folder)
            verdict, why = judged(problem, command, opt.limit)
            counts[problem.solver][verdict] += 1
            if verdict in MISTAKES or verdict in ("open", "refused"):
                what = f"{problem.kind}, {problem.rows} rows: {shlex.join(command[2:])}"
                print(f"{verdict} {number}: {what}\n    {why}", flush=True)
    print(f"\n| solver | {' | '.join(VERDICTS)} |\n|---|{'---:|' * len(VERDICTS)}")
    for solver in opt.solvers:
        print(f"| {solver} | {' | '.join(str(counts[solver][v]) for v in VERDICTS)} |")
    return 1 if any(of[v] for of in counts.values() for v in MISTAKES) else 0


if __name__ == "__main__":
    sys.exit(main())
