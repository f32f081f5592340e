#!/usr/bin/env python3
"""Are the eigenvalues right that `tessera eigs` calls converged?

  bench/eigenvalues.py                               the matrices of this repository, families, diagonal matrices
  bench/eigenvalues.py ~/suitesparse --limit 60      those matrices of a folder whose eigenvalues are known
  bench/eigenvalues.py --only 1138_bus --solvers lobpcg --html page.html --json -

Each problem is solved by each solver, at the small and at the large end of the spectrum: with one worker and with two
(whose values must have the same bits), on a simulated device whose memory holds about half of the problem, and on an
OpenCL device where there is one. What takes longer than --limit, or does not converge, is tried again with options
that may help, and the table names those that did. Ends with 1 when a converged value is not the known one (it is more
than its error bound away: wrong, or another eigenvalue was missed), when vectors are not orthogonal, or when bits
differ, or when results cannot be written; pairs that do not converge are no mistake.
"""
import argparse
import html
import json
import os
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(ROOT, "bench"))
sys.dont_write_bytecode = True
import run  # noqa: E402
from runner import eigenvalues, known_spectra, machine, results  # noqa: E402

TABLE = os.path.join(ROOT, "bench", "sparse", "known_eigenvalues.json")
NOTES = (
    "A cell has the pairs that converged of those that were asked for. A value is wrong where it is further from the"
    " known one than its error bound. Relative errors are those of converged values, at a known 0 relative to the norm;"
    " where the bound is wide (to rounding), so may they be. \"By rounding\" is the largest error in units of"
    " 10 ε √n ‖A‖, or of how well the value is known. Known values:"
    " [`known_eigenvalues.json`](../../bench/sparse/known_eigenvalues.json)."
)


def problems_of(opt, temporary):
    found, unknown = known_spectra.of_folder(opt.folder, opt.known, temporary)
    for name in unknown:
        print(f"{name}: its eigenvalues are not known, left out ({opt.known})", file=sys.stderr)
    if not opt.only_folder:
        found += known_spectra.families(4) + known_spectra.diagonals(4, temporary)
    chosen = [p for p in found if not opt.only or any(word in p.name for word in opt.only)]
    if not chosen:
        sys.exit(f"error: no matrix of {opt.folder} is known\n  hint: its name stands in {opt.known}")
    return chosen


def require_files(opt):
    """Ends with a message where a file or a folder is missing, or a file for results cannot be opened, before anything
    is measured."""
    if not os.path.isdir(opt.folder):
        sys.exit(f"error: there is no such folder\n  at: {opt.folder}\n  hint: name one with Matrix Market files")
    if not os.path.isfile(opt.known):
        sys.exit(f"error: there is no such file\n  at: --known {opt.known}\n  hint: leave it out for the usual table")
    program = os.path.join(opt.build, "bin", "tessera")
    if not os.access(program, os.X_OK):
        sys.exit(
            f"error: the build has no program\n  at: {program}\n"
            "  hint: build Tessera there (docs/building.md), or name another folder with --build"
        )
    published = results.files(ROOT, "eigenvalues") if opt.write else []
    for path in (opt.json, opt.html, *published):
        if path and path != "-":
            results.require_writable(path)


def page(rows):
    """One HTML file."""
    kinds = {"wrong": "wrong", "open": "open", "right": ""}
    lines = [
        "<!DOCTYPE html><html lang='en'><head><meta charset='utf-8'><title>Eigenvalues</title><style>",
        "body{font:14px system-ui,sans-serif;margin:2em}table{border-collapse:collapse}",
        "td,th{padding:.2em .6em;border-bottom:1px solid #ddd;text-align:left}",
        ".wrong{background:#fbb}.open{background:#fec}</style></head><body>",
        f"<h1>Eigenvalues by tessera eigs</h1><p>{html.escape(eigenvalues.summary(rows))}</p><table><thead><tr>",
        *(f"<th>{html.escape(h)}</th>" for h in eigenvalues.HEAD),
        "</tr></thead><tbody>",
    ]
    for row in rows:
        verdicts = dict.fromkeys(eigenvalues.HEAD, "")
        verdicts.update({place: kinds[o.verdict] for place, o in row["places"].items()})
        verdicts["matrix"] = "wrong" if row["mistakes"] else ""
        cells = zip(eigenvalues.HEAD, eigenvalues.cells(row))
        lines.append(
            "<tr>" + "".join(f"<td class='{verdicts[h]}'>{html.escape(text)}</td>" for h, text in cells) + "</tr>"
        )
    return "\n".join(lines + ["</tbody></table></body></html>"]) + "\n"


def write(path, text):
    if path == "-":
        print(text, end="")
        return True
    try:
        with open(path, "w") as f:
            f.write(text)
    except OSError as reason:  # a full disk: what follows is printed nevertheless
        print(f"error: cannot write: {reason.strerror}\n  at: {path}", file=sys.stderr)
        return False
    return True


def publish(opt, rows):
    """docs/results/eigenvalues.md and .json, without times: they are not what it is about."""
    origin = {
        "date": time.strftime("%Y-%m-%d %H:%M"),
        "command": " ".join(["bench/eigenvalues.py", *run.shown_arguments(opt.words)]),
        "revision": run.revision(),
        "machine": machine.facts(opt.build),
    }
    kept = eigenvalues.data(rows)
    for row in kept:
        for place in row["places"].values():
            del place["seconds"]
    tables = f"{eigenvalues.summary(rows)}\n\n{eigenvalues.markdown(rows, with_times=False)}"
    results.publish(ROOT, True, "eigenvalues", origin, tables, NOTES, {"results": kept})


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    data = os.path.join(ROOT, "apps", "sparse", "data")
    p.add_argument("folder", nargs="?", default=data, help="of Matrix Market files (default: apps/sparse/data)")
    p.add_argument("--known", default=TABLE, help="JSON file of known eigenvalues, by the names of files")
    p.add_argument("--only", nargs="+", default=[], metavar="NAME", help="problems whose name has one of these words")
    p.add_argument("--only-folder", action="store_true", help="no families and diagonal matrices")
    p.add_argument("--solvers", nargs="+", default=list(eigenvalues.SOLVERS), choices=eigenvalues.SOLVERS)
    p.add_argument("--places", nargs="+", default=list(eigenvalues.PLACES), choices=eigenvalues.PLACES)
    p.add_argument("--limit", type=float, default=20, metavar="SECONDS", help="longest run (default: 20)")
    p.add_argument("--build", default=os.path.join(ROOT, "build", "release"), help="build folder")
    p.add_argument("--html", default="", metavar="FILE", help="the table as a page")
    p.add_argument("--json", default="", metavar="FILE", help="all figures; -: to standard output, without the table")
    p.add_argument("--write", action="store_true", help="write docs/results/eigenvalues.md and .json")
    opt = p.parse_args()
    opt.words = sys.argv[1:]
    require_files(opt)
    with tempfile.TemporaryDirectory() as temporary:
        rows = eigenvalues.measure(
            opt.build,
            ROOT,
            problems_of(opt, temporary),
            opt.solvers,
            opt.places,
            opt.limit,
            lambda line: print(line, file=sys.stderr, flush=True),
        )
    written = True
    if opt.json:
        figures = {"summary": eigenvalues.summary(rows), "results": eigenvalues.data(rows)}
        written &= write(opt.json, json.dumps(figures) + "\n")
    if opt.html:
        written &= write(opt.html, page(rows))
    if opt.write:
        publish(opt, rows)
    elif opt.json != "-":
        print(eigenvalues.markdown(rows), eigenvalues.summary(rows), sep="\n\n")
    for row in rows:
        for mistake in row["mistakes"]:
            print(f"WRONG: {row['matrix']}, {row['end']}, {row['solver']}: {mistake}", file=sys.stderr)
    return 1 if any(row["mistakes"] for row in rows) or not written else 0


if __name__ == "__main__":
    sys.exit(main())
