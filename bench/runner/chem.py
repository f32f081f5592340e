"""The group `chem`: energies of molecules by `tessera chem` beside PySCF, and NWChem if it is named, in the same
rounds, with the same basis and frozen orbitals, everything else as it is by default."""
import dataclasses
import json
import os
import re
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time

from . import machine

PYTHON = "TESSERA_PYSCF_PYTHON"  # environment variable: the interpreter that has PySCF
GET = f"`python3 -m venv pyscf; pyscf/bin/pip install pyscf`, then set {PYTHON} to pyscf/bin/python"
TESSERA, PEER, SECOND = "Tessera", "PySCF", "NWChem"
NWCHEM = "TESSERA_NWCHEM"  # environment variable: NWChem's program; it is a second peer where this is set
MINUTES = 1800  # seconds: at least what one program of a large case may take
EQUAL = 0.03  # times that differ by less are called equal


@dataclasses.dataclass(frozen=True)
class Case:
    file: str
    basis: str
    workers: tuple = (1,)
    frozen: int = 0  # orbitals of the core
    repeats: int = 1  # in each round
    large: bool = False


WATER, BENZENE = "apps/chem/data/water.xyz", "bench/chem/benzene.xyz"
CASES = {
    "water": Case(WATER, "cc-pvdz", repeats=5),
    "water_aug": Case(WATER, "aug-cc-pvdz", repeats=5),
    "benzene": Case(BENZENE, "cc-pvdz", workers=(1, 2), large=True),
    "benzene_frozen": Case(BENZENE, "cc-pvdz", frozen=6, large=True),
}
QUICK = [name for name, case in CASES.items() if not case.large]

TIMES = (
    ("iteration_seconds", "an iteration of CCSD"),
    ("ccsd_seconds", "CCSD, with the transformation"),
    ("triples_seconds", "(T)"),
    ("scf_seconds", "SCF"),
    ("wall_seconds", "the program"),
)
ENERGIES = (
    ("scf_energy", "SCF"),
    ("mp2_correlation", "MP2, correlation"),
    ("ccsd_correlation", "CCSD, correlation"),
    ("triples", "(T)"),
)
GOALS = (  # case, figure, seconds at most, what is aimed at
    ("water", "iteration_seconds", 0.012, 0.008),
    ("benzene", "iteration_seconds", 3.0, 2.5),
    ("benzene_frozen", "iteration_seconds", 1.25, 1.15),
    ("benzene", "triples_seconds", 69, 60),
)
TWO_WORKERS = 1.9  # times the speed of one, at least


class Results:
    """Values by case, workers, program and figure, over all rounds; with each whether others used the machine."""

    def __init__(self):
        self.values, self.blas, self.failures, self.disturbed, self.runs = {}, {}, [], 0, 0

    def add(self, case, workers, program, figures, disturbed=False):
        self.runs += 1
        self.disturbed += disturbed
        for figure, value in figures.items():
            self.values.setdefault((case, workers, program, figure), []).append((value, disturbed))

    def counted(self, *key):
        """Values of undisturbed runs, or of all where there are none."""
        values = self.values.get(key, [])
        return [v for v, disturbed in values if not disturbed] or [v for v, _ in values]

    def fail(self, what):
        self.failures.append(what)
        print(f"failed: {what}", file=sys.stderr)

    def median(self, case, workers, program, figure):
        values = self.counted(case, workers, program, figure)
        return statistics.median(values) if values else None


def run(words, timeout, env=None):
    """Output of a program, the reason why there is none, and what its process took."""
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err:
        busy, own, start = machine.busy_seconds(), machine.own_seconds(), time.monotonic()
        try:
            p = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=out, stderr=err, env=env)
        except OSError as e:
            return "", e.strerror, {}, 0.0
        late = threading.Timer(timeout, os.kill, (p.pid, signal.SIGKILL))
        late.start()
        try:
            _, status, used = os.wait4(p.pid, 0)  # of this child alone
        finally:
            late.cancel()
        p.returncode = os.waitstatus_to_exitcode(status)
        wall = time.monotonic() - start
        others = max(0.0, (machine.busy_seconds() - busy) - (machine.own_seconds() - own)) / (wall * os.cpu_count())
        out.seek(0)
        err.seek(0)
        text, why = out.read(), err.read().strip()[-300:]
    took = {"wall_seconds": wall, "cpu_seconds": used.ru_utime + used.ru_stime, "peak_mib": used.ru_maxrss / 1024}
    if p.returncode != 0:
        text, why = "", f"longer than {timeout:g} s" if wall >= timeout else f"exit {p.returncode}: {why}"
    return text, why, took, others


def figures_of_tessera(text):
    """What one run of `tessera chem --json -` tells, and its BLAS."""
    told = json.loads(text)
    steps = [step["seconds"] for step in told["ccsd_history"] if "seconds" in step]
    found = {
        "scf_seconds": told["scf_seconds"],
        "ccsd_seconds": told["rccsd_seconds"],
        "triples_seconds": told["triples_seconds"],
        "iterations": told["ccsd_iterations"],
        "scf_energy": told["scf_energy"],
        "mp2_correlation": told["mp2_energy_correlation"],
        "ccsd_correlation": told["ccsd_energy_correlation"],
        "triples": told["triples"],
        "planned_mib": told["planned_bytes"] / 1024**2,
    }
    if len(steps) > 1:  # the first one includes the transformation of integrals
        found["iteration_seconds"] = statistics.median(steps[1:])
        found["transformation_seconds"] = max(0.0, steps[0] - found["iteration_seconds"])
    used = [step["processor_seconds"] for step in told["ccsd_history"] if "processor_seconds" in step]
    if len(used) > 1:
        found["iteration_cpu_seconds"] = statistics.median(used[1:])
        found["transformation_cpu_seconds"] = max(0.0, used[0] - found["iteration_cpu_seconds"])
    return found, told["blas"]


def figures_of_peer(text):
    """What one run of chem_pyscf.py tells, and its BLAS."""
    lines = [line.split("\t") for line in text.splitlines()]
    found = {words[4]: float(words[5]) for words in lines if len(words) == 6}
    found["ccsd_seconds"] = sum(found[f"{part}_seconds"] for part in ("transformation", "guess", "amplitudes"))
    del found["peak_mib"]  # the process is asked, as for Tessera
    return found, next((words[1] for words in lines if words[0] == "BLAS"), "unknown")


def figures_of_second(text):
    """What one run of chem_nwchem.py tells; it names no BLAS."""
    lines = [line.split("\t") for line in text.splitlines()]
    return {words[4]: float(words[5]) for words in lines if len(words) == 6}, ""


def commands(folder, root, python, name, workers):
    """What is run of a case, by program: the words, the environment, and how the output is read."""
    case = CASES[name]
    molecule = os.path.join(root, case.file)
    ours = [os.path.join(folder, "tessera"), "chem", molecule, "--basis", case.basis, "--method", "ccsd(t)"]
    ours += ["--workers", str(workers), "--quiet", "--json", "-"] + ["--frozen-core"] * bool(case.frozen)
    yield TESSERA, ours, None, figures_of_tessera
    if python:
        peer = [python, os.path.join(root, "bench", "peers", "chem_pyscf.py"), molecule, name, case.basis]
        threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), str(workers))
        yield PEER, peer + [str(case.frozen), str(workers)], {**os.environ, **threads}, figures_of_peer
    if os.environ.get(NWCHEM) and workers == 1:
        second = [sys.executable, os.path.join(root, "bench", "peers", "chem_nwchem.py"), os.environ[NWCHEM], molecule]
        threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")
        yield SECOND, second + [name, case.basis, str(case.frozen)], {**os.environ, **threads}, figures_of_second


def _measure_once(opt, command, results, name, workers):
    program, words, env, read = command
    timeout = max(opt.timeout, MINUTES) if CASES[name].large else opt.timeout
    best = None
    for _ in range(opt.tries):
        machine.wait_for_idle(opt.limit, opt.patience)
        text, why, took, others = run(words, timeout, env)
        try:
            found, blas = read(text) if text else ({}, "")
        except (ValueError, KeyError) as e:
            found, why = {}, f"{type(e).__name__}: {e}"
        if not found:
            # Without the folders of this machine: where it is committed they mean nothing.
            results.fail(f"{program} {name}, {workers} worker(s): {re.sub(r'/(?:[^/ ]+/)+', '', why)}")
            break
        if best is None or others < best[0]:
            best = others, {**found, **took}, blas
        if others <= opt.limit:
            break
    if best:
        results.add(name, workers, program, best[1], best[0] > opt.limit)
        if best[2]:
            results.blas[program] = best[2]


def peer_python():
    """The interpreter with PySCF and its version; None where there is none."""
    python = os.environ.get(PYTHON) or "python3"
    asked = [python, "-c", "import pyscf; print(pyscf.__version__)"]
    try:
        p = subprocess.run(asked, text=True, capture_output=True, check=True)
    except (OSError, subprocess.SubprocessError):
        return None, ""
    return python, p.stdout.strip()


def measure(opt, root):
    folder = os.path.join(opt.build, "bin")
    python, version = peer_python()
    skipped = [] if python else [f"{PEER} ({GET})"]
    if skipped:  # now, not after minutes
        print(f"chem: without its peer: {skipped[0]}", file=sys.stderr, flush=True)
    results = Results()
    for number in range(opt.rounds):
        for name in opt.cases:
            for _ in range(CASES[name].repeats):
                for workers in CASES[name].workers:
                    for command in commands(folder, root, python, name, workers):
                        _measure_once(opt, command, results, name, workers)
            print(f"chem: round {number + 1}/{opt.rounds} {name}", file=sys.stderr, flush=True)
    measured = {"rounds": opt.rounds, "cases": list(opt.cases), "version": version, "skipped": skipped}
    measured["results"] = results
    for line in circumstances(measured):
        print(f"chem: {line}", file=sys.stderr, flush=True)
    return measured


def _number(value, form=".3g"):
    return "–" if value is None else format(value, form)


def _over(value, ours):
    return None if value is None or not ours else value / ours


def _faster(ratio):
    if ratio is None:
        return "–"
    return "equal" if abs(ratio - 1) < EQUAL else TESSERA if ratio > 1 else PEER


def _each(m):
    """Every case with each number of workers."""
    return [(name, workers) for name in m["cases"] for workers in CASES[name].workers]


def _times(m):
    results = m["results"]
    lines = [
        "| case | workers | what | Tessera s | PySCF s | PySCF / Tessera | faster |",
        "|---|---:|---|---:|---:|---:|---|",
    ]
    for name, workers in _each(m):
        for figure, what in TIMES:
            ours, theirs = (results.median(name, workers, who, figure) for who in (TESSERA, PEER))
            ratio = _over(theirs, ours)
            cells = [name, str(workers), what, _number(ours), _number(theirs), _number(ratio, ".2f"), _faster(ratio)]
            lines.append(f"| {' | '.join(cells)} |")
    return lines


def _verdicts(m):
    """Who is faster, in words, for each figure."""
    lines = []
    for figure, what in TIMES:
        said = {}
        for name, workers in _each(m):
            ours, theirs = (m["results"].median(name, workers, who, figure) for who in (TESSERA, PEER))
            ratio = _over(theirs, ours)
            if ratio is None:
                continue
            who = _faster(ratio)
            with_workers = f", {workers} workers" if len(CASES[name].workers) > 1 else ""
            times = f" ({ratio if who != PEER else 1 / ratio:.2f}{with_workers})"
            said.setdefault(who, []).append(name + times)
        parts = [f"{who} is faster for {', '.join(said[who])}" for who in (TESSERA, PEER) if who in said]
        parts += [f"equal for {', '.join(said['equal'])}"] if "equal" in said else []
        if parts:
            lines.append(f"- {what[0].upper()}{what[1:]}: {'; '.join(parts)}")
    return lines


def _goals(m):
    lines = ["| figure, 1 worker | Tessera s | goal | aim | reached | PySCF s |", "|---|---:|---:|---:|---|---:|"]
    for name, figure, goal, aim in GOALS:
        if name in m["cases"]:
            ours, theirs = (m["results"].median(name, 1, who, figure) for who in (TESSERA, PEER))
            reached = "–" if ours is None else "yes" if ours <= goal else "no"
            cells = [f"{name}: {dict(TIMES)[figure]}", _number(ours), f"at most {goal:g}", f"{aim:g}", reached]
            lines.append(f"| {' | '.join([*cells, _number(theirs)])} |")
    return lines if len(lines) > 2 else []


def _two_workers(m):
    lines = ["| case | what | Tessera | goal | reached | PySCF |", "|---|---|---:|---:|---|---:|"]
    for name in m["cases"]:
        for figure, what in TIMES if len(CASES[name].workers) > 1 else ():
            speeds = []
            for who in (TESSERA, PEER):
                one, two = (m["results"].median(name, workers, who, figure) for workers in (1, 2))
                speeds.append(_over(one, two))
            goal = reached = ""
            if figure in ("iteration_seconds", "triples_seconds"):
                goal = f"at least {TWO_WORKERS:g}"
                reached = "–" if speeds[0] is None else "yes" if speeds[0] >= TWO_WORKERS else "no"
            cells = [name, what, _number(speeds[0], ".2f"), goal, reached, _number(speeds[1], ".2f")]
            lines.append(f"| {' | '.join(cells)} |")
    return lines if len(lines) > 2 else []


def _energies(m):
    results = m["results"]
    lines = ["| case | energy, hartree | Tessera | PySCF | difference |", "|---|---|---:|---:|---:|"]
    for name in m["cases"]:
        workers = CASES[name].workers[0]
        for figure, what in ENERGIES:
            ours, theirs = (results.median(name, workers, who, figure) for who in (TESSERA, PEER))
            difference = None if ours is None or theirs is None else ours - theirs
            cells = [name, what, _number(ours, ".10f"), _number(theirs, ".10f"), _number(difference, ".1e")]
            lines.append(f"| {' | '.join(cells)} |")
    return lines


def _processes(m):
    figures = ("iterations", "transformation_seconds", "transformation_cpu_seconds", "iteration_cpu_seconds")
    figures += ("wall_seconds", "cpu_seconds", "peak_mib", "planned_mib")
    lines = [
        "| case | workers | program | iterations | transformation s | its processor s | processor s of an iteration "
        "| wall s | processor s | peak MiB | planned MiB |",
        "|---|---:|---|---:|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for name, workers in _each(m):
        for who in (TESSERA, PEER, SECOND):
            values = [m["results"].median(name, workers, who, figure) for figure in figures]
            if any(v is not None for v in values):
                cells = [name, str(workers), who, _number(values[0], ".0f"), *map(_number, values[1:6])]
                lines.append(f"| {' | '.join([*cells, *(_number(v, '.0f') for v in values[6:])])} |")
    return lines


def _second(m):
    """Seconds of both, and by how much energies differ."""
    lines = ["| case, 1 worker | what | Tessera | NWChem | NWChem / Tessera |", "|---|---|---:|---:|---:|"]
    for name in m["cases"]:
        for figure, what in (*TIMES, *ENERGIES):
            ours, theirs = (m["results"].median(name, 1, who, figure) for who in (TESSERA, SECOND))
            if ours is None or theirs is None:
                continue
            energy = (figure, what) in ENERGIES
            form = ".10f" if energy else ".3g"
            last = f"difference {ours - theirs:.1e}" if energy else _number(_over(theirs, ours), ".2f")
            lines.append(f"| {' | '.join([name, what, _number(ours, form), _number(theirs, form), last])} |")
    return lines if len(lines) > 2 else []


def tables(m):
    lines = []
    for title, table in (
        ("Who is faster", _verdicts),
        ("Goals", _goals),
        ("Speed of two workers over that of one", _two_workers),
        ("Seconds", _times),
        ("Processes", _processes),
        ("Energies", _energies),
        ("Beside NWChem", _second),
    ):
        made = table(m)
        if made:
            lines += [f"### {title}", "", *made, ""]
    return "\n".join(lines).rstrip()


NOTES = "The tables are explained in [benchmarks](../benchmarks.md#chemistry)."


def circumstances(m):
    results = m["results"]
    repeats = ", ".join(f"{name} {CASES[name].repeats}" for name in m["cases"])
    lines = [f"Medians of {m['rounds']} rounds; runs in each: {repeats}"]
    versions = {TESSERA: TESSERA, PEER: f"{PEER} {m['version']}"}
    lines += [f"BLAS of {versions[program]}: {blas}" for program, blas in results.blas.items()]
    pins = {name: value for name, value in os.environ.items() if name.startswith("OPENBLAS_")}
    told = ", ".join(f"{name}={value}" for name, value in sorted(pins.items()))
    lines.append(f"Both ran with {told}" if told else "No variable of the environment told OpenBLAS anything")
    if results.disturbed:
        what = "disturbed by other processes; they count only where a case has no others"
        lines.append(f"{results.disturbed} of {results.runs} runs were {what}")
    if m["skipped"]:
        lines.append(f"Not installed, and left out: {', '.join(m['skipped'])}")
    if results.failures:
        lines.append(f"Failed, and left out: {'; '.join(sorted(set(results.failures)))}")
    return lines


def data(m):
    results = m["results"]
    return {
        "rounds": m["rounds"],
        "peer": f"{PEER} {m['version']}".strip(),
        "blas": results.blas,
        "disturbed": results.disturbed,
        "skipped": m["skipped"],
        "failures": results.failures,
        "results": [
            {
                "case": case,
                "workers": workers,
                "runtime": program,
                "metric": figure,
                "median": statistics.median(values),
                "min": min(values),
                "max": max(values),
                "runs": len(values),
            }
            for case, workers, program, figure in results.values
            for values in [results.counted(case, workers, program, figure)]
        ],
    }
