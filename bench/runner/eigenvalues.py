"""`tessera eigs` on problems whose eigenvalues are known: what was found, and whether it is right. Nothing is measured
but the time, so that one sees what is slow."""
import json
import math
import os
import re
import subprocess
import sys
import tempfile
import time

SOLVERS = ("lobpcg", "lanczos", "chebyshev")
PLACES = ("1 worker", "2 workers", "sim, out of core", "opencl")
PRINTED = 5e-12  # the known values of files have twelve digits
ORTHOGONAL = 1e-8  # of eigenvectors

# What may help where pairs do not converge, in the order in which it is tried.
HELP = {
    "lobpcg": (
        ["--precond", "block-jacobi", "--block", "16"],
        ["--precond", "chebyshev", "--degree", "40", "--block", "16"],
    ),
    "lanczos": (["--block", "1"], ["--iterations", "20000"]),
    "chebyshev": (["--block", "16"],),
}
DENSE_ROWS = 2500  # so many are solved as a dense matrix in a moment, with a block of more than a third of them


def helpful_options(solver, outcome):
    """Lists of options, for a run that ended so."""
    words = list(HELP[solver])
    if solver == "lobpcg" and outcome.figures and outcome.figures["n"] <= DENSE_ROWS:
        words.append(["--block", str(outcome.figures["n"] // 3 + 1)])
    return words


class Outcome:
    """What one run of `tessera eigs` said of one end of a spectrum. `figures` is its JSON; None with the reason `why`.

    `verdict` is "right" (all pairs converged, to the known values), "open" (pairs did not converge, or there is no
    result, and what did converge is right) or "wrong"."""

    def __init__(self, problem, end, figures, why, seconds):
        self.figures, self.why, self.seconds = figures, why, seconds
        self.mistakes = mistakes(problem, end, figures) if figures else []
        self.verdict = "wrong" if self.mistakes else "right" if figures and figures["converged"] else "open"
        self.error = largest_relative_error(problem, end, figures) if figures else None
        self.by_rounding = largest_error_by_rounding(problem, end, figures) if figures else None

    @property
    def values(self):
        return [e["value"] for e in self.figures["eigenvalues"]]

    def text(self):
        """A cell of the table."""
        if self.mistakes:
            return "WRONG: " + "; ".join(self.mistakes)
        if not self.figures:
            return self.why
        pairs = self.figures["eigenvalues"]
        done = sum(e["converged"] for e in pairs)
        rounding = " to rounding" if any(e["at_rounding"] for e in pairs) else ""
        return f"{done} of {len(pairs)}{rounding}"


def mistakes(problem, end, figures):
    """Sentences, where converged values are not those that are known, or vectors are not orthogonal."""
    told = []
    for k, (known, found) in enumerate(zip(problem.ends[end], figures["eigenvalues"])):
        away = abs(found["value"] - known)
        allowed = found["error_bound"] + problem.accuracy + PRINTED * abs(known)
        if found["converged"] and not away <= allowed:
            told.append(f"value {k + 1} is {found['value']:.12g}, not {known:.12g}")
    if figures["converged"] and not figures["orthogonality"] <= ORTHOGONAL:
        told.append(f"X'X - I is {figures['orthogonality']:.1e}")
    return told


def largest_relative_error(problem, end, figures):
    """Of the converged values; of a known 0 relative to the norm. None where there is no converged one."""
    errors = [
        abs(found["value"] - known) / (abs(known) or figures["norm"] or 1.0)
        for known, found in zip(problem.ends[end], figures["eigenvalues"])
        if found["converged"]
    ]
    return max(errors) if errors else None


def largest_error_by_rounding(problem, end, figures):
    """Of the converged values, in units of 10 eps sqrt(n) ||A||, or of how well they are known where that is more. None
    where there is no converged one."""
    rounding = 10 * sys.float_info.epsilon * math.sqrt(figures["n"]) * figures["norm"]
    errors = [
        abs(found["value"] - known) / ((max(rounding, problem.accuracy) + PRINTED * abs(known)) or 1.0)
        for known, found in zip(problem.ends[end], figures["eigenvalues"])
        if found["converged"]
    ]
    return max(errors) if errors else None


# ---------------------------------------------------------------------------------------------------------------------
# Running it.


class Runner:
    """Calls `tessera eigs` of a build, in the places that it has."""

    def __init__(self, build, root, limit, temporary):
        self.tessera, self.root = os.path.join(build, "bin", "tessera"), root
        self.limit, self.temporary = limit, temporary

    def run(self, problem, end, words):
        made = os.path.join(self.temporary, "figures.json")
        if os.path.exists(made):
            os.remove(made)
        command = [self.tessera, "eigs", *problem.words, "--pairs", str(len(problem.ends[end])), "--which", end]
        command += [*words, "--json", made, "--quiet"]
        begun = time.monotonic()
        try:
            p = subprocess.run(command, text=True, capture_output=True, timeout=self.limit, check=False)
        except subprocess.TimeoutExpired:
            return Outcome(problem, end, None, f"longer than {self.limit:g} s", time.monotonic() - begun)
        seconds = time.monotonic() - begun
        if p.returncode in (0, 1) and os.path.exists(made):
            with open(made) as f:
                return Outcome(problem, end, json.load(f), "", seconds)
        lines = p.stderr.strip().splitlines()
        why = re.sub(r"^error: ", "", lines[0]) if lines else f"exit {p.returncode}"
        return Outcome(problem, end, None, why, seconds)

    def words_of(self, place, on_host):
        """The options of a place. How large a memory is "too small" follows from what the host said."""
        if place == "sim, out of core":
            panel = str(max(16, on_host["n"] // 32))
            return ["--config", self._small_device(on_host), "--at", "sim0", "--panel", panel]
        if place == "opencl":
            return ["--config", os.path.join(self.root, "configs", "opencl.toml"), "--at", "opencl0"]
        return ["--workers", place.split()[0]]

    def _small_device(self, figures):
        """configs/sim_sparse.toml with a memory for about half of the matrix and the vectors; more for tiny problems,
        since the blocks of one task must fit."""
        rows = figures["n"] * (2 if figures.get("complex") else 1)
        vectors = figures["block"] * (12 if figures.get("complex") else 6)
        if figures["solver"] == "lanczos":
            vectors = 48
        problem = 12 * figures["nonzeros"] + 8 * rows * (1 + vectors)
        columns = figures["block"] * (2 if figures.get("complex") else 1)
        sums = 20 * 8 * 12 * columns**2 if figures["solver"] == "lobpcg" else 0  # which one task adds up
        with open(os.path.join(self.root, "configs", "sim_sparse.toml")) as f:
            text = f.read()
        made = os.path.join(self.temporary, "sim.toml")
        with open(made, "w") as f:
            f.write(re.sub(r'memory = "[^"]*"', f'memory = "{max(problem // 2048, sums // 1024, 192)} KiB"', text))
        return made


def checked(runner, problem, end, solver, places, tried=None):
    """One row of the table: the solver at all places; with options that help where it did not converge without, if
    there are such. `tried` is called with the words of each run."""
    words, outcomes = ["--solver", solver], {}
    tried = tried or (lambda _: None)
    tried(words)
    first = runner.run(problem, end, words + ["--workers", "2"])
    alone, helpful = first, []
    if first.verdict == "open" and not _is_refusal(first):
        for more in helpful_options(solver, first):
            if any(word.startswith("--") and word in problem.words for word in more):
                continue  # an option is given once
            tried(words + more)
            again = runner.run(problem, end, words + more + ["--workers", "2"])
            if again.verdict != "open":
                first, helpful = again, more
                break
    for place in places:
        if place == "2 workers":
            outcomes[place] = first
        elif first.figures and first.verdict != "open":
            if place not in ("1 worker", "2 workers") and first.figures["solver"] == "dense":
                continue  # nothing of it goes to a device
            tried(words + helpful + [place])
            outcomes[place] = runner.run(problem, end, words + helpful + runner.words_of(place, first.figures))
    row = {"matrix": problem.name, "end": end, "solver": solver, "without_options": alone, "options": helpful}
    return {**row, "places": outcomes, "mistakes": _all_mistakes(outcomes)}


def _is_refusal(outcome):
    return not outcome.figures and not outcome.why.startswith("longer than")


def _all_mistakes(outcomes):
    told = [f"{place}: {m}" for place, o in outcomes.items() for m in o.mistakes]
    one, two = (outcomes.get(p) for p in ("1 worker", "2 workers"))
    if one and two and one.figures and two.figures and one.values != two.values:
        told.append("1 worker and 2 workers find values that differ in their bits")
    return told


def measure(build, root, problems, solvers, places, limit, tell=lambda _: None):
    """All rows. `tell` gets a line when each is done."""
    rows = []
    with tempfile.TemporaryDirectory() as temporary:
        runner = Runner(build, root, limit, temporary)
        for problem in problems:
            for end in problem.ends:
                for solver in solvers:
                    rows.append(checked(runner, problem, end, solver, places))
                    tell(line_of(rows[-1]))
    return rows


# ---------------------------------------------------------------------------------------------------------------------
# Tables.

HEAD = (
    *("matrix", "end", "solver", "options that it needs"),
    *PLACES,
    *("largest relative error", "by rounding", "iterations", "seconds"),
)


def _largest(row, of):
    """Of all places; None where nothing converged."""
    return max((of(o) for o in row["places"].values() if of(o) is not None), default=None)


def _shown(number):
    return "" if number is None else f"{number:.1e}"


def _figures_of_first(row):
    for outcome in row["places"].values():
        if outcome.figures:
            return outcome.figures
    return {}


def cells(row, with_times=True):
    """A row's cells by the names of HEAD."""
    first = _figures_of_first(row)
    made = [row["matrix"], row["end"], "dense" if first.get("solver") == "dense" else row["solver"]]
    made.append(" ".join(row["options"]))
    made += [row["places"][p].text() if p in row["places"] else "" for p in PLACES]
    made += [_shown(_largest(row, lambda o: o.error)), _shown(_largest(row, lambda o: o.by_rounding))]
    made += [str(first.get("iterations", ""))]
    if with_times:
        made.append(f"{max((o.seconds for o in row['places'].values()), default=0.0):.2f}")
    return made


def line_of(row):
    return "\t".join(c for c in cells(row) if c)


def markdown(rows, with_times=True):
    head = HEAD if with_times else HEAD[:-1]
    lines = ["| " + " | ".join(head) + " |", "|---" * 8 + "|---:" * (len(head) - 8) + "|"]
    return "\n".join(lines + ["| " + " | ".join(cells(row, with_times)) + " |" for row in rows])


def summary(rows):
    """A sentence."""
    wrong = sum(bool(row["mistakes"]) for row in rows)
    needing = sum(bool(row["options"]) for row in rows)
    far = sum((_largest(row, lambda o: o.by_rounding) or 0) > 1 for row in rows)
    return (
        f"{len(rows)} problems and solvers: {wrong} wrong, {far} with an error of more than rounding, {needing} with"
        f" options alone. Not solved: {_open_by_place(rows)}."
    )


def _open_by_place(rows):
    """How many did not converge, took too long or failed, at each place at which some were tried."""
    told = []
    for place in PLACES:
        tried = [row["places"][place].verdict for row in rows if place in row["places"]]
        if tried:
            told.append(f"{tried.count('open')} of {len(tried)} ({place})")
    return ", ".join(told) or "none was tried"


def data(rows):
    """For JSON."""
    return [
        {
            "matrix": row["matrix"],
            "end": row["end"],
            "solver": row["solver"],
            "options": row["options"],
            "without_options": row["without_options"].text(),
            "mistakes": row["mistakes"],
            "places": {
                place: {
                    "outcome": o.text(),
                    "verdict": o.verdict,
                    "largest_relative_error": o.error if o.error is None or math.isfinite(o.error) else None,
                    "largest_error_by_rounding": (
                        o.by_rounding if o.by_rounding is None or math.isfinite(o.by_rounding) else None
                    ),
                    "iterations": o.figures["iterations"] if o.figures else None,
                    "seconds": round(o.seconds, 3),
                }
                for place, o in row["places"].items()
            },
        }
        for row in rows
    ]
