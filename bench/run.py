#!/usr/bin/env python3
"""Measures Tessera and its peers in the same rounds and prints one table of medians.

  cmake -S . -B build/release -DCMAKE_BUILD_TYPE=Release && cmake --build build/release --target bench_all
  bench/run.py tasks                       one group, 3 rounds
  bench/run.py submit tasks dense --write  also writes docs/results/<group>.md and .json
  bench/run.py --from rows.tsv tasks       the table of an earlier run

Every round runs every program once, so that a drift of the machine's speed touches all alike. Before a program starts
the machine must be idle; afterwards the processor time that other processes took meanwhile is compared with a limit,
and a disturbed run is repeated. The table uses undisturbed runs; where there is none it uses all and says "noisy".
The ping is the round trip of a cache line between two cores, the larger of before and after: on a virtual machine it
changes with the placement of the virtual cores, and with it every figure that depends on talk between two workers.
"""
import argparse
import contextlib
import datetime
import fcntl
import math
import os
import shlex
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(HERE)
sys.path.insert(0, HERE)
sys.dont_write_bytecode = True
from runner import (  # noqa: E402
    chem,
    conformance,
    jobs,
    machine,
    out_of_core,
    results,
    sial,
    simulate,
    sparse,
    spill,
    table,
)

OWN_TABLES = {
    "chem": chem,
    "conformance": conformance,
    "simulate": simulate,
    "out_of_core": out_of_core,
    "spill": spill,
    "sial": sial,
    "sparse": sparse,
}  # groups with pages of their own


@contextlib.contextmanager
def held(path):
    """Holds an exclusive lock on a file, so that builds and measurements of one machine can take turns."""
    if not path:
        yield
        return
    with open(path, "a") as f:
        fcntl.flock(f, fcntl.LOCK_EX)
        yield


def run_once(command, folder, timeout):
    """Rows printed by the command, and the share of the machine that others used meanwhile."""
    words = shlex.split(command)
    words[0] = os.path.join(folder, words[0])
    busy, own, start = machine.busy_seconds(), machine.own_seconds(), time.monotonic()
    why = ""
    try:
        p = subprocess.run(
            words, text=True, timeout=timeout, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False
        )
        text = p.stdout if p.returncode == 0 else ""
        if p.returncode != 0:
            why = f"exit {p.returncode}: {p.stderr.strip()[-300:]}"
    except subprocess.TimeoutExpired:
        text, why = "", f"longer than {timeout:g} s"
    wall = time.monotonic() - start
    others = max(0.0, (machine.busy_seconds() - busy) - (machine.own_seconds() - own)) / (wall * os.cpu_count())
    rows = [line.split("\t") for line in text.splitlines() if line.count("\t") == 5]
    if not rows:
        print(f"failed: {command} ({why or 'no rows'})", file=sys.stderr)
    return rows, others


def measure(opt, group, out):
    folder = os.path.join(opt.build, "bin")
    commands, missing = jobs.existing(jobs.jobs_of(group, opt.tasks, opt.sizes, opt.large, os.cpu_count()), folder)
    if missing:
        print(f"{group}: not built, left out: {', '.join(missing)} (target bench_all)", file=sys.stderr)
    failures = 0
    for number in range(opt.rounds):
        for k, command in enumerate(commands):
            for _ in range(opt.tries):
                with held(opt.lock):
                    machine.wait_for_idle(opt.limit, opt.patience)
                    ping = machine.ping(folder)
                    rows, others = run_once(command, folder, opt.timeout)
                    if ping is not None:
                        ping = max(ping, machine.ping(folder) or 0.0)
                for r in rows:
                    print(*r, f"{others:.4f}", "" if ping is None else f"{ping:.0f}", sep="\t", file=out)
                out.flush()
                print(
                    f"round {number + 1}/{opt.rounds} {k + 1}/{len(commands)} others {others:.1%} {command}",
                    file=sys.stderr,
                    flush=True,
                )
                if not rows:
                    failures += 1
                if not rows or others <= opt.limit:
                    break
    return failures


def measure_whole(opt, group, origin):
    """A group with tables of its own; `origin` gets the date."""
    part = OWN_TABLES[group]
    with held(opt.lock):
        busy, own, start = machine.busy_seconds(), machine.own_seconds(), time.monotonic()
        measured = part.measure(opt, ROOT)
        wall = time.monotonic() - start
    others = max(0.0, (machine.busy_seconds() - busy) - (machine.own_seconds() - own)) / (wall * os.cpu_count())
    origin["date"] = time.strftime("%Y-%m-%d %H:%M")
    more = part.circumstances(measured) + [
        f"Other processes and the hypervisor used {others:.0%} of the machine meanwhile"
    ]
    results.publish(
        ROOT,
        opt.write,
        opt.page or group,
        origin,
        part.tables(measured),
        part.NOTES,
        {"others_share": others, **part.data(measured)},
        more,
    )


def require_files(opt):
    """Ends with a message where what is to be written, or read, cannot be."""
    if opt.source and not os.path.isfile(opt.source):
        sys.exit(f"error: there is no such file\n  at: --from {opt.source}\n  hint: name one that --rows has written")
    if opt.rows:
        results.require_writable(opt.rows)
    if opt.write:
        for group in opt.groups:
            for path in results.files(ROOT, opt.page or group):
                results.require_writable(path)


def read_rows(path, group):
    suites = {"machine": {"floor"}}.get(group, {group})
    with open(path) as f:
        for line in f:
            suite, runtime, case, workers, metric, value, others, ping = line.rstrip("\n").split("\t")
            if suite in suites:
                yield (
                    suite,
                    runtime,
                    case,
                    int(workers),
                    metric,
                    float(value),
                    float(others),
                    float(ping) if ping else None,
                )


def revision():
    r = subprocess.run(
        ["git", "-C", ROOT, "rev-parse", "--short", "HEAD"],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        check=False,
    )
    return r.stdout.strip() or "unknown"


def finite(entry):
    """JSON has no infinity: a crossing that was not reached is null."""
    return {k: None if isinstance(v, float) and not math.isfinite(v) else v for k, v in entry.items()}


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument(
        "groups",
        nargs="+",
        choices=jobs.GROUPS + list(OWN_TABLES),
        metavar="group",
        help=", ".join(jobs.GROUPS + list(OWN_TABLES)),
    )
    p.add_argument("--build", default=os.path.join(ROOT, "build", "release"), help="build folder")
    p.add_argument("--rounds", type=int, default=3)
    p.add_argument("--tasks", type=int, default=1000000, help="tasks in an overhead measurement")
    p.add_argument("--sizes", type=int, nargs="*", default=[4096], help="orders of the matrices in dense")
    p.add_argument("--large", action="store_true", help="also the cases of rodinia that take minutes")
    p.add_argument(
        "--matrices",
        nargs="+",
        default=list(sparse.SMALL),
        metavar="FAMILY:N@BLOCK",
        help=f"what sparse measures; the goals are for {' '.join(sparse.LARGE)}",
    )
    p.add_argument("--parts", nargs="+", default=list(sparse.PARTS), choices=sparse.PARTS, help="of sparse")
    p.add_argument(
        "--cases",
        nargs="+",
        default=list(chem.CASES),
        choices=list(chem.CASES),
        help=f"of chem; those of benzene take minutes, {' and '.join(chem.QUICK)} seconds",
    )
    p.add_argument("--limit", type=float, default=0.03, help="tolerated share of the machine used by others")
    p.add_argument("--tries", type=int, default=3, help="attempts at an undisturbed run")
    p.add_argument("--patience", type=float, default=60, help="longest wait for an idle machine, seconds")
    p.add_argument("--timeout", type=float, default=300, help="longest run of one program, seconds")
    p.add_argument("--lock", default="", help="a file to lock while a program runs (others that build take it too)")
    p.add_argument(
        "--rows", default="", help="file to which measured rows are appended (default: a new one in the build folder)"
    )
    p.add_argument("--from", dest="source", default="", help="measure nothing: the table of this file of rows")
    p.add_argument("--revision", default="", help="what was measured, for --from (default: the checked-out revision)")
    p.add_argument("--write", action="store_true", help="write docs/results/<group>.md and .json")
    p.add_argument("--page", default="", metavar="NAME", help="write docs/results/NAME instead, for one group")
    opt = p.parse_args()
    if opt.page and len(set(opt.groups)) != 1:
        p.error("--page is the name of one group's results: name one group")
    require_files(opt)
    facts = machine.facts(opt.build)
    if facts["build_type"] != "Release":
        print(f"warning: {opt.build} is a build of type '{facts['build_type']}', not Release", file=sys.stderr)
    command = " ".join(["bench/run.py"] + [a for a in shown_arguments(sys.argv[1:])])
    measured = opt.revision or revision()
    failures = 0
    for group in dict.fromkeys(opt.groups):
        origin = {"date": "", "command": command, "revision": measured, "machine": facts}
        if group in OWN_TABLES:
            measure_whole(opt, group, origin)
            continue
        rows = opt.source or opt.rows
        if not rows:
            os.makedirs(os.path.join(opt.build, "bench"), exist_ok=True)
            rows = os.path.join(opt.build, "bench", f"{group}.tsv")
            open(rows, "w").close()
        if not opt.source:
            with open(rows, "a") as out:
                failures += measure(opt, group, out)
        entries = table.summarize(read_rows(rows, group), opt.limit)
        if not entries:
            print(f"{group}: no rows", file=sys.stderr)
            failures += 1
            continue
        origin["date"] = datetime.datetime.fromtimestamp(os.path.getmtime(rows)).strftime("%Y-%m-%d %H:%M")
        results.publish(
            ROOT,
            opt.write,
            opt.page or group,
            origin,
            table.markdown(entries) + table.against_peers(entries) + table.at_powers_of_two(entries),
            table.NOTES,
            {"results": [finite(e) for e in entries]},
            table.circumstances(entries),
        )
    return 1 if failures else 0


def shown_arguments(words):
    """The command line without the parts that concern one person's folders."""
    skip = False
    for w in words:
        if skip:
            skip = False
        elif w in ("--build", "--lock", "--rows", "--from", "--revision"):
            skip = True
        elif not w.startswith(("--build=", "--lock=", "--rows=", "--from=", "--revision=")):
            yield w


if __name__ == "__main__":
    sys.exit(main())
