"""The group `sparse`: products with the matrix, LOBPCG and Lanczos per iteration beside the same steps under OpenMP,
time by the rows of a panel, time to a solution beside other libraries, what the graph of an iteration costs, and
simulated cache misses."""
import glob
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile

from . import machine

SMALL = ("lap3d:40@8", "lap3d:40@16", "xxz:16@8", "hs:14@16", "kkt3d:20@8")  # about a minute
LARGE = ("lap3d:100@8", "lap3d:100@16", "xxz:20@8", "xxz:20@16", "hs:20@16", "kkt3d:50@8")
PARTS = ("products", "lobpcg", "lanczos", "panels", "solve", "graph", "misses")
PANELS = tuple(2**k for k in range(10, 17))  # rows
WAYS = ("blas", "tuned", "fused")
WORKERS = "2"
TOLERANCE, MOST_ITERATIONS = "1e-6", "2000"
SOLUTIONS = 1  # rounds that solve: peers take minutes, and differ by more than the noise
MISSES = {True: ("lap3d:40", 16), False: ("lap3d:24", 16)}  # whether large matrices are measured


def _split(matrix):
    family, block = matrix.rsplit("@", 1)
    return family, block


def _rows(words, opt, env=None):
    """[(runtime, case, metric, value)] of a program, or the reason why there are none."""
    try:
        p = subprocess.run(
            words,
            text=True,
            timeout=opt.timeout,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            check=False,
            env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1", "PYTHONPATH": python_path(), **(env or {})},
        )
    except subprocess.TimeoutExpired:
        return [], f"longer than {opt.timeout:g} s"
    except OSError as e:
        return [], str(e)
    rows = [line.split("\t") for line in p.stdout.splitlines() if line.count("\t") == 5]
    if p.returncode != 0 or not rows:
        return [], f"exit {p.returncode}: {p.stderr.strip()[-300:]}"
    return [(r[1], r[2], r[4], float(r[5])) for r in rows], ""


def python_path():
    """PYTHONPATH with the folders in which Debian keeps the modules of PETSc and SLEPc for real numbers."""
    folders = glob.glob("/usr/lib/*cdir/*/*-real/lib/python3/dist-packages")
    return os.pathsep.join(filter(None, [os.environ.get("PYTHONPATH"), *sorted(folders)]))


def python_with(modules):
    """The interpreter that has the modules: this one, or that of the system; None without one."""
    for python in dict.fromkeys((sys.executable, "/usr/bin/python3")):
        asked = [python, "-c", "import " + ", ".join(modules)]
        path = {**os.environ, "PYTHONPATH": python_path()}
        if not os.access(python, os.X_OK):
            continue
        if subprocess.run(asked, capture_output=True, check=False, env=path).returncode == 0:
            return python
    return None


class Peers:
    """Programs that solve the same problem; those that are not installed are named in `missing`."""

    def __init__(self, folder, scripts):
        self.commands, self.missing = {}, []
        scipy, slepc = python_with(["scipy"]), python_with(["slepc4py", "numpy"])
        mpirun, hypre = shutil.which("mpirun"), os.path.join(folder, "peer_sparse_hypre")
        processes = [mpirun, "-np", WORKERS, "--oversubscribe"]
        self._add("SciPy", scipy and [scipy, os.path.join(scripts, "sparse_scipy.py")], "apt: python3-scipy")
        self._add(
            "SLEPc",
            slepc and mpirun and processes + [slepc, os.path.join(scripts, "sparse_slepc.py")],
            "apt: python3-slepc4py-real mpi-default-bin",
        )
        self._add(
            "hypre",
            mpirun and os.access(hypre, os.X_OK) and processes + [hypre],
            "apt: libhypre-dev mpi-default-bin, then build bench_all",
        )

    def _add(self, name, command, how):
        if command:
            self.commands[name] = command
        else:
            self.missing.append(f"{name} ({how})")


class Results:
    """Values by case, runtime and metric, over all rounds."""

    def __init__(self):
        self.values, self.failures = {}, []
        self.forms = {}  # of the matrix in Tessera's products, by case

    def add(self, rows, why, words):
        if not rows:
            # Without the folders of this machine: where it is committed they mean nothing.
            self.failures.append(f"{' '.join(os.path.basename(str(w)) or str(w) for w in words)}: {why}")
            print(f"failed: {self.failures[-1]}", file=sys.stderr)
        for runtime, case, metric, value in rows:
            self.values.setdefault((case, runtime, metric), []).append(value)

    def median(self, case, runtime, metric):
        values = self.values.get((case, runtime, metric))
        return statistics.median(values) if values else None


def _products(opt, folder, scripts, family, blocks, results):
    """Y = A X: `tessera spmv` beside STREAM's triad in the same run, a loop over compressed rows, SciPy."""
    columns = sorted({1, *blocks})
    words = [os.path.join(folder, "tessera"), "spmv", "--generate", family, "--workers", WORKERS, "--form", "auto"]
    words += ["--columns", ",".join(map(str, columns)), "--quiet", "--json", "-"]
    machine.wait_for_idle(opt.limit, opt.patience)
    try:
        p = subprocess.run(words, text=True, timeout=opt.timeout, capture_output=True, check=True)
        for made in json.loads(p.stdout)["products"]:
            case = f"{family}_x{made['columns']}"
            results.add([("Tessera", case, "milliseconds", made["seconds"] * 1e3)], "", words)
            for metric in ("of_bound", "of_csr_bound"):
                results.add([("Tessera", case, metric, made[metric])], "", words)
            results.forms[case] = made["form"]
    except (OSError, ValueError, subprocess.SubprocessError) as e:
        results.add([], str(e), words)
    python = python_with(["scipy"])
    with tempfile.TemporaryDirectory() as temporary:
        raw = os.path.join(temporary, "matrix")
        write = [os.path.join(folder, "bench_sparse"), "--matrix", family, "--case", "write", "--file", raw]
        written = subprocess.run(write, check=False).returncode == 0
        for b in map(str, columns):
            peer = [os.path.join(folder, "peer_sparse_product_libgomp"), "--matrix", family, "--block", b]
            machine.wait_for_idle(opt.limit, opt.patience)
            peer += ["--workers", WORKERS]
            results.add(*_rows(peer, opt), peer)
            if python and written:
                peer = [python, os.path.join(scripts, "sparse_product_scipy.py"), raw, f"{family}_x{b}", b]
                results.add(*_rows(peer, opt), peer)


def _solve(opt, folder, peers, matrix, results):
    family, block = _split(matrix)
    with tempfile.TemporaryDirectory() as temporary:
        raw = os.path.join(temporary, "matrix")
        ours = [os.path.join(folder, "bench_sparse"), "--matrix", family]
        written = subprocess.run(ours + ["--case", "write", "--file", raw], check=False)
        if written.returncode != 0:
            results.failures.append(f"{family} could not be written for the peers")
            return
        solve = ours + ["--case", "solve", "--block", block, "--workers", WORKERS]
        solve += ["--iterations", MOST_ITERATIONS, "--tol", TOLERANCE]
        results.add(*_rows(solve, opt), solve)
        for command in peers.commands.values():
            words = command + [raw, f"{family}_b{block}", block, MOST_ITERATIONS, TOLERANCE, WORKERS]
            # As root too, as in a container.
            allowed = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
            results.add(*_rows(words, opt, {**allowed, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}), words)


def _round(opt, folder, scripts, peers, results, number):
    def run(program, *words, metric=None):
        command = [os.path.join(folder, program), *words]
        machine.wait_for_idle(opt.limit, opt.patience)
        rows, why = _rows(command, opt, {"OMP_WAIT_POLICY": "passive"})
        results.add([(who, case, metric or of, value) for who, case, of, value in rows], why, command)

    for matrix in opt.matrices:
        family, block = _split(matrix)
        sizes = ("--matrix", family, "--workers", WORKERS)
        if "lobpcg" in opt.parts:
            run("bench_sparse", *sizes, "--block", block)
            for way in WAYS:
                run("peer_sparse_libgomp", "--mode", way, *sizes, "--block", block)
        if "panels" in opt.parts:
            for rows in ("0", *map(str, PANELS)):  # 0: what the solver chooses
                words = [*sizes, "--block", block, "--panel", rows, "--reps", "1"]
                run("bench_sparse", *words, metric=f"milliseconds_panel_{rows}")
        if "graph" in opt.parts:
            run("bench_sparse", "--case", "graph", *sizes, "--block", block)
        if "solve" in opt.parts and number < SOLUTIONS:
            machine.wait_for_idle(opt.limit, opt.patience)
            _solve(opt, folder, peers, matrix, results)
    for family in dict.fromkeys(_split(matrix)[0] for matrix in opt.matrices):
        if "products" in opt.parts:
            blocks = [int(_split(m)[1]) for m in opt.matrices if _split(m)[0] == family]
            _products(opt, folder, scripts, family, blocks, results)
        if "lanczos" in opt.parts:
            run("bench_sparse", "--case", "lanczos", "--matrix", family, "--workers", WORKERS)
            for way in WAYS:
                run("peer_sparse_lanczos_libgomp", "--mode", way, "--matrix", family, "--workers", WORKERS)


def _misses(opt, root, results):
    matrix, block = MISSES[any(m in opt.matrices for m in LARGE)]
    command = [sys.executable, os.path.join(root, "bench", "sparse", "cachegrind.py"), "--build", opt.build]
    command += ["--matrix", matrix, "--block", str(block)]
    results.add(*_rows(command, opt), command)


def blas_kernels(folder):
    """The library and kernel set that `blas` used, as tessera knows it."""
    command = [os.path.join(folder, "tessera"), "eigs", "--generate", "lap3d:4", "--pairs", "1"]
    p = subprocess.run(command, text=True, capture_output=True, check=False)
    found = [line.split(maxsplit=1) for line in p.stdout.splitlines() if line.startswith("BLAS ")]
    return found[0][1] if found else "unknown"


def measure(opt, root):
    folder = os.path.join(opt.build, "bin")
    scripts = os.path.join(root, "bench", "peers")
    peers, results, skipped = Peers(folder, scripts), Results(), []
    if "solve" in opt.parts:
        skipped += peers.missing
    for number in range(opt.rounds):
        _round(opt, folder, scripts, peers, results, number)
        print(f"sparse: round {number + 1}/{opt.rounds}", file=sys.stderr, flush=True)
    if "misses" in opt.parts:
        if shutil.which("valgrind"):
            _misses(opt, root, results)
        else:
            skipped.append("cache misses (apt: valgrind)")
    return {
        "rounds": opt.rounds,
        "blas": blas_kernels(folder),
        "matrices": opt.matrices,
        "parts": opt.parts,
        "skipped": skipped,
        "results": results,
    }


def _number(value, form=".3g"):
    return "–" if value is None else format(value, form)


def _over(value, ours):
    return "–" if value is None or not ours else f"{value / ours:.2f}"


def _beside_loops(results, families):
    who = sorted({r for (case, r, _) in results.values if "_x" in case} - {"Tessera"})
    lines = [
        "| case | form | Tessera ms | of the bound | of that of csr |" + "".join(f" {r} ms | / Tessera |" for r in who),
        "|---|---|---:|---:|---:|" + "---:|---:|" * len(who),
    ]
    cases = sorted({c for c, _, _ in results.values if c.rsplit("_x", 1)[0] in families and "_x" in c}, key=_by_block)
    for case in cases:
        ours = results.median(case, "Tessera", "milliseconds")
        cells = [case, results.forms.get(case, ""), _number(ours)]
        cells += [_number(results.median(case, "Tessera", m), ".2f") for m in ("of_bound", "of_csr_bound")]
        for runtime in who:
            theirs = results.median(case, runtime, "milliseconds")
            cells += [_number(theirs), _over(theirs, ours)]
        lines.append("| " + " | ".join(cells) + " |")
    return lines


def _by_block(case):
    family, block = case.rsplit("_x", 1)
    return family, int(block)


def _beside_openmp(results, cases):
    lines = [
        "| case | Tessera ms | blas ms | tuned ms | fused ms | blas / Tessera | tuned / Tessera | fused / Tessera |",
        "|---|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for case in cases:
        ours = results.median(case, "Tessera", "milliseconds")
        theirs = [results.median(case, f"OpenMP {way}", "milliseconds") for way in WAYS]
        cells = [case, _number(ours)] + [_number(t) for t in theirs] + [_over(t, ours) for t in theirs]
        lines.append("| " + " | ".join(cells) + " |")
    return lines


def _by_panels(results, cases):
    lines = [
        "| case | chosen, ms |" + "".join(f" {n // 1024}K rows |" for n in PANELS) + " best | chosen / best |",
        "|---|---:|" + "---:|" * len(PANELS) + "---|---:|",
    ]
    for case in cases:
        chosen, *others = (results.median(case, "Tessera", f"milliseconds_panel_{n}") for n in (0, *PANELS))
        measured = [(time, n) for time, n in zip(others, PANELS) if time is not None]
        best, rows = min(measured, default=(None, 0))
        cells = [case, *map(_number, (chosen, *others)), f"{rows // 1024}K" if rows else "–"]
        lines.append("| " + " | ".join([*cells, _over(chosen, best)]) + " |")
    return lines


def _solutions(results, cases):
    who = ["Tessera"] + sorted({r for _, r, metric in results.values if metric == "seconds"} - {"Tessera"})
    lines = [
        "| case | solver | seconds | / Tessera | iterations | largest residual |",
        "|---|---|---:|---:|---:|---:|",
    ]
    for case in cases:
        ours = results.median(case, "Tessera", "seconds")
        for runtime in who:
            seconds = results.median(case, runtime, "seconds")
            if seconds is None:
                continue
            residual = results.median(case, runtime, "largest_residual")
            cells = [case, f"**{runtime}**" if runtime == "Tessera" else runtime, _number(seconds)]
            cells += [_over(seconds, ours), _number(results.median(case, runtime, "iterations"), ".0f")]
            cells.append(_number(residual, ".1e") + (" (more than asked)" if residual > 1.1 * float(TOLERANCE) else ""))
            lines.append("| " + " | ".join(cells) + " |")
    return lines


def _graphs(results, cases):
    lines = [
        "| case | tasks | before the first iteration, ms | of ten iterations, % | graph KiB | of the matrix, % |",
        "|---|---:|---:|---:|---:|---:|",
    ]
    for case in cases:
        of = {m: results.median(case, "Tessera", m) for _, _, m in results.values}
        lines.append(
            f"| {case} | {_number(of['tasks'], '.0f')} | {_number(of['build_milliseconds'])} |"
            f" {_number(of['build_percent_of_ten_iterations'])} |"
            f" {_number(of['graph_bytes'] and of['graph_bytes'] / 1024)} | {_number(of['graph_percent_of_matrix'])} |"
        )
    small = results.median("small_tasks", "Tessera", "us_per_task")
    return lines + ["", f"A task with hardly anything to do, one worker: {_number(small)} us"]


def _cache_misses(results):
    caches = ("l1", "l2", "l3")
    case = next((c for c, _, metric in results.values if metric.startswith("l1")), "")
    lines = [
        f"| {case} | L1 | L2 | L3 | L1 / Tessera | L2 / Tessera | L3 / Tessera |",
        "|---|---:|---:|---:|---:|---:|---:|",
    ]
    ours = [results.median(case, "Tessera", f"{c}_misses_per_iteration") for c in caches]
    for runtime in ["Tessera"] + [f"OpenMP {way}" for way in WAYS]:
        counts = [results.median(case, runtime, f"{c}_misses_per_iteration") for c in caches]
        cells = [_number(c, ".3g") for c in counts] + [_over(c, o) for c, o in zip(counts, ours)]
        lines.append(f"| {runtime} | " + " | ".join(cells) + " |")
    return lines


def tables(m):
    results = m["results"]
    cases = [f"{family}_b{block}" for family, block in map(_split, m["matrices"])]
    families = list(dict.fromkeys(_split(x)[0] for x in m["matrices"]))
    steps = [f"{family}_lanczos50" for family in families]
    lines = []
    for part, title, table in (
        ("products", "A product Y = A X", lambda: _beside_loops(results, families)),
        ("lobpcg", "An iteration of LOBPCG", lambda: _beside_openmp(results, cases)),
        ("lanczos", "A step of Lanczos, of 50 with full reorthogonalization", lambda: _beside_openmp(results, steps)),
        ("panels", "An iteration of LOBPCG by the rows of a panel, milliseconds", lambda: _by_panels(results, cases)),
        ("solve", "LOBPCG until all residuals are 1e-6 or less", lambda: _solutions(results, cases)),
        ("graph", "The graph of an iteration of LOBPCG", lambda: _graphs(results, cases)),
        ("misses", "Simulated cache misses of an iteration of LOBPCG, one thread", lambda: _cache_misses(results)),
    ):
        if part in m["parts"]:
            lines += [f"### {title}", "", *table(), ""]
    return "\n".join(lines).rstrip()


NOTES = "The columns are explained in [benchmarks](../benchmarks.md#sparse-eigenproblems)."


def circumstances(m):
    solutions = f" (solutions: {min(m['rounds'], SOLUTIONS)})" if "solve" in m["parts"] else ""
    measured = f"Medians of {m['rounds']} rounds{solutions}, {WORKERS} workers"
    lines = [f"{measured}; `blas` and all small problems: {m['blas']}"]
    if m["skipped"]:
        lines.append(f"Not installed, and left out: {', '.join(m['skipped'])}")
    if m["results"].failures:
        lines.append(f"Failed, and left out: {'; '.join(sorted(set(m['results'].failures)))}")
    return lines


def data(m):
    return {
        "rounds": m["rounds"],
        "blas": m["blas"],
        "skipped": m["skipped"],
        "failures": m["results"].failures,
        "results": [
            {"case": case, "runtime": runtime, "metric": metric, "median": statistics.median(v), "runs": len(v)}
            for (case, runtime, metric), v in m["results"].values.items()
        ],
    }
