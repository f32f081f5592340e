#!/usr/bin/env python3
"""Builds the preset coverage, runs its tests, and tells which lines of core/ they reach. See README.md."""
import argparse
import collections
import datetime
import json
import os
import pathlib
import shlex
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = ROOT / "build" / "coverage"
RESULT = ROOT / "docs" / "results" / "coverage.md"


def run(*command, check=True):
    print("+", *command, flush=True)
    return subprocess.run(command, cwd=ROOT, check=check).returncode


def build_and_test(jobs):
    run("cmake", "--preset", "coverage")
    run("cmake", "--build", str(BUILD), "--parallel", str(jobs))
    for counts in BUILD.rglob("*.gcda"):  # of earlier runs
        counts.unlink()
    return run("ctest", "--preset", "coverage", "--parallel", str(jobs), check=False)


def measured(jobs):
    """File name to {line: times it ran}."""
    out = BUILD / "coverage.json"
    run("gcovr", "--root", ".", "--filter", "core/", "--json", str(out), "-j", str(jobs), str(BUILD))
    files = json.loads(out.read_text())["files"]
    return {
        f["file"]: {line["line_number"]: line["count"] for line in f["lines"] if not line.get("gcovr/noncode", False)}
        for f in files
    }


def percent(reached, lines):
    return f"{100 * reached / lines:.1f} %" if lines else "-"


def table(files):
    """Rows of (room, lines, reached), and the sum."""
    rooms = collections.defaultdict(lambda: [0, 0])
    for name, lines in files.items():
        room = rooms["/".join(pathlib.PurePath(name).parts[:2])]
        room[0] += len(lines)
        room[1] += sum(1 for count in lines.values() if count > 0)
    rows = [(name, *counts) for name, counts in sorted(rooms.items())]
    return rows, (sum(r[1] for r in rows), sum(r[2] for r in rows))


def ranges(numbers):
    """[1, 2, 3, 7] as "1-3 7"."""
    found = []
    for n in sorted(numbers):
        if found and found[-1][1] == n - 1:
            found[-1][1] = n
        else:
            found.append([n, n])
    return " ".join(str(a) if a == b else f"{a}-{b}" for a, b in found)


def missing(files):
    """(file, unreached lines), the largest holes first."""
    holes = [(name, [n for n, count in lines.items() if count == 0]) for name, lines in files.items()]
    return sorted((h for h in holes if h[1]), key=lambda h: -len(h[1]))


def revision_of_tree():
    return subprocess.run(
        ["git", "describe", "--always", "--dirty"], cwd=ROOT, capture_output=True, text=True
    ).stdout.strip()


def text_of(files, failed, revision, note):
    rows, (lines, reached) = table(files)
    text = [
        "# Measured: lines of core/ that the tests reach",
        "",
        f"- Date: {datetime.datetime.now(datetime.timezone.utc):%Y-%m-%d}, revision {revision}",
        "- Command: `tests/coverage/report.py "
        + shlex.join(a for a in sys.argv[1:] if a in ("--keep", "--write"))
        + "`",
        "- Build: the preset `coverage`, GCC with `--coverage -O1`",
        "- Tests: " + (note or "all but the labels `package` and `measure`") + ("; some failed" if failed else ""),
        "",
        "| room | lines | reached | |",
        "|---|---:|---:|---:|",
    ]
    text += [f"| {name} | {all_of} | {hit} | {percent(hit, all_of)} |" for name, all_of, hit in rows]
    text += [
        f"| **core** | {lines} | {reached} | **{percent(reached, lines)}** |",
        "",
        "The files with most lines unreached:",
        "",
        "| file | unreached | of |",
        "|---|---:|---:|",
    ]
    text += [f"| {name} | {len(numbers)} | {len(files[name])} |" for name, numbers in missing(files)[:12]]
    return "\n".join(text) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="compilations and tests at once")
    parser.add_argument("--keep", action="store_true", help="take the counts of the last run: build and test nothing")
    parser.add_argument("--missing", type=int, default=0, metavar="N", help="list the unreached lines of N files")
    parser.add_argument("--note", metavar="TESTS", help="with --keep: which tests the last run was")
    parser.add_argument("--revision", default=revision_of_tree(), help="what was measured, for the table")
    parser.add_argument("--write", action="store_true", help=f"write {RESULT.relative_to(ROOT)}")
    options = parser.parse_args()
    if shutil.which("gcovr") is None:
        sys.exit("gcovr is missing: apt-get install gcovr")
    failed = 0 if options.keep else build_and_test(options.jobs)
    files = measured(options.jobs)
    text = text_of(files, failed != 0, options.revision, options.note)
    print(text)
    for name, numbers in missing(files)[: options.missing]:
        print(f"{name}: {ranges(numbers)}")
    if options.write:
        RESULT.write_text(text)
    return failed


if __name__ == "__main__":
    sys.exit(main())
