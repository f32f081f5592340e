#!/usr/bin/env python3
"""Two builds of Tessera, measured in turns: is anything slower than before?

  bench/compare.py ../before/build/release build/release submit tasks metg sial
  bench/compare.py OLD NEW tasks --rounds 9 --write before_and_after

Every round runs each program of the groups three times: old, new, old again. The second run of the old build says what
the machine does to the same program; a ratio of new to old is worth a look where it is beyond that. The table has the
best and the median of all rounds. Peers are not run (bench/run.py does that).
"""
import argparse
import os
import statistics
import sys
import time
from collections import defaultdict

import run
from runner import jobs, machine, results, sial, table

SIDES = ("old", "new", "old again")


def commands_of(groups):
    """Our own programs of the groups, without the peers."""
    return [c for g in groups if g != "sial" for c in jobs.jobs_of(g, 1000000, []) if c.startswith("bench_")]


def measure_programs(opt, builds, values):
    for number in range(opt.rounds):
        for command in commands_of(opt.groups):
            for side in SIDES:
                machine.wait_for_idle(opt.limit, opt.patience)
                rows, _ = run.run_once(command, os.path.join(builds[side], "bin"), opt.timeout)
                for suite, _, case, workers, metric, value in rows:
                    # One program may have a case twice, in two ways: those are told apart by the command.
                    more = " ".join(w for w in command.split()[1:] if w == "--recorded") and " recorded"
                    values[(suite, case + more, workers, metric)][side].append(float(value))
        print(f"round {number + 1}/{opt.rounds}", file=sys.stderr, flush=True)


def measure_sial(opt, builds, values):
    programs = os.path.join(run.ROOT, "bench", "sial")
    for number in range(opt.rounds):
        for case, (program, ints, length) in sial.CASES.items():
            for workers in (1, 2):
                for side in SIDES:
                    machine.wait_for_idle(opt.limit, opt.patience)
                    tessera = os.path.join(builds[side], "bin", "tessera")
                    told = sial.run_program(tessera, programs, program, (ints, length), workers, [], opt.timeout)
                    values[("sial", case, str(workers), "seconds")][side].append(told["programs"][0]["seconds"])
        print(f"sial: round {number + 1}/{opt.rounds}", file=sys.stderr, flush=True)


def ratio(a, b):
    return a / b if b else None


def compared(values):
    """One entry per figure: the best and the median of each side, and how far the same build was from itself."""
    out = []
    for (suite, case, workers, metric), sides in values.items():
        if metric.startswith(table.HIDDEN) or not all(sides.get(s) for s in SIDES):
            continue
        better = max if table.more_is_better(metric) else min
        both = sides["old"] + sides["old again"]
        out.append(
            {
                "suite": suite,
                "case": case,
                "workers": int(workers),
                "metric": metric,
                "old": statistics.median(both),
                "new": statistics.median(sides["new"]),
                "median_ratio": ratio(statistics.median(sides["new"]), statistics.median(both)),
                "median_noise": ratio(statistics.median(sides["old again"]), statistics.median(sides["old"])),
                "best_ratio": ratio(better(sides["new"]), better(both)),
                "best_noise": ratio(better(sides["old again"]), better(sides["old"])),
                "runs": len(sides["new"]),
            }
        )
    return out


def markdown(entries):
    lines = [
        "| case | workers | metric | old | new | medians: new/old | same build | best: new/old | same build | runs |",
        "|---|---:|---|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for e in entries:
        ratios = [e["median_ratio"], e["median_noise"], e["best_ratio"], e["best_noise"]]
        cells = [f"{e['suite']} {e['case']}", e["workers"], e["metric"], f"{e['old']:.4g}", f"{e['new']:.4g}"]
        cells += ["" if r is None else f"{r:.3f}" for r in ratios] + [e["runs"]]
        lines.append("| " + " | ".join(str(c) for c in cells) + " |")
    return "\n".join(lines)


NOTES = (
    'Old and new are medians. "Same build" is the second run of the old build in each round over its first one: what\n'
    "the machine does to a program that has not changed. Metrics are explained in [benchmarks](../benchmarks.md)."
)


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("old", help="build folder")
    p.add_argument("new", help="build folder")
    choices = ["submit", "tasks", "waits", "metg", "regions", "trace", "sial"]
    p.add_argument("groups", nargs="+", choices=choices, metavar="group", help=", ".join(choices))
    p.add_argument("--rounds", type=int, default=5)
    p.add_argument("--limit", type=float, default=0.03, help="tolerated share of the machine used by others")
    p.add_argument("--patience", type=float, default=60, help="longest wait for an idle machine, seconds")
    p.add_argument("--timeout", type=float, default=300, help="longest run of one program, seconds")
    p.add_argument("--revisions", default="", help='what was measured, for the page: "a54ee0d, f299bf1"')
    p.add_argument("--write", default="", metavar="NAME", help="write docs/results/NAME.md and NAME.json")
    opt = p.parse_args()
    builds = {"old": opt.old, "new": opt.new, "old again": opt.old}
    values = defaultdict(lambda: defaultdict(list))
    origin = {
        "date": time.strftime("%Y-%m-%d %H:%M"),
        "command": " ".join(["bench/compare.py OLD NEW"] + opt.groups + ["--rounds", str(opt.rounds)]),
        "revision": opt.revisions or run.revision(),
        "machine": machine.facts(opt.new),
    }
    measure_programs(opt, builds, values)
    if "sial" in opt.groups:
        measure_sial(opt, builds, values)
    entries = compared(values)
    name = opt.write or "old and new"
    results.publish(run.ROOT, bool(opt.write), name, origin, markdown(entries), NOTES, {"entries": entries})
    return 0 if entries else 1


if __name__ == "__main__":
    sys.exit(main())
