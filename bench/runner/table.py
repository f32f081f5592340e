"""From measured rows to medians, and from medians to a table."""
import math
import re
import statistics
from collections import defaultdict

# Elements of STREAM's arrays beside 2^25, whose arrays may lie whole powers of two apart, and how much slower than
# with so many a loop may be at that.
BESIDE = 33000000
POWER_OF_TWO = 0.95

# What the design asks for: (suite, case, workers, metric) -> limit. Times and bytes are at most, rates at least.
GOALS = {
    ("submit", "r_r_rw", 1, "ns_per_task"): 200,
    ("submit", "metadata", 1, "sizeof_block_record"): 256,
    ("submit", "idle", 2, "cpu_percent"): 1,
    ("tasks", "dag", 1, "ns_per_task"): 400,
    ("tasks", "dag", 2, "ns_per_task"): 450,
    ("waits", "cold_20ms", 2, "ratio_to_bound_by_hand"): 1.05,
    ("waits", "cold_100ms", 2, "ratio_to_bound_by_hand"): 1.05,
    ("metg", "stencil_w8", 2, "task_us_at_50pct"): 0.75,
    ("metg", "stencil_w2", 2, "task_us_at_50pct"): 1.3,
    ("regions", "launch_1000", 1, "us_per_loop"): 5,
    ("regions", "launch_1000", 2, "us_per_loop"): 5,
    ("regions", "launch_1000_cuda_emulated", 1, "us_beyond_operation"): 10,
    ("regions", "launch_1000_cuda_emulated_waited", 1, "us_beyond_operation"): 10,
    ("auto", "host_and_opencl", 1, "auto_over_fixed_best"): 1.05,
    ("auto", "host_and_opencl", 2, "auto_over_fixed_best"): 1.05,
    ("auto", "host_and_opencl_after_slowdown", 1, "auto_over_fixed_best"): 1.05,
    ("auto", "host_and_opencl_after_slowdown", 2, "auto_over_fixed_best"): 1.05,
    ("auto", "host_and_sim", 1, "auto_over_fixed_best"): 1.05,
    ("auto", "host_and_sim_after_slowdown", 1, "auto_over_fixed_best"): 1.05,
    ("sparse_out_of_core", "lap3d:64_b8_25_next_use", 1, "moved_over_single_steps"): 1.05,
    ("sparse_out_of_core", "lap3d:64_b8_50_next_use", 1, "moved_over_single_steps"): 1.05,
    ("sparse_out_of_core", "lap3d:64_b8_25_next_use", 1, "seconds_over_larger"): 1.15,
    ("sparse_out_of_core", "lap3d:64_b8_25_next_use_256MiB/s", 1, "seconds_over_larger"): 1.15,
    ("sparse_out_of_core", "lap3d:64_b8_50_next_use", 1, "seconds_over_larger"): 1.15,
    ("contract", "aligned_e6", 1, "overhead_us"): 1.5,
    ("copies", "256KiB", 1, "best_over_worst"): 1.1,
    ("copies", "64MiB", 1, "best_over_worst"): 1.1,
    ("contract", "all_permuted_e16", 1, "efficiency_to_dgemm"): 0.85,
    ("trace", "dag_1000ns", 1, "overhead_percent"): 5,
    ("trace", "dag_1000ns", 2, "overhead_percent"): 5,
    ("trace", "potrf_n2048_tile128", 1, "overhead_percent"): 5,
    ("trace", "potrf_n2048_tile128", 2, "overhead_percent"): 5,
}

# Speed that the design asks for, over that of the better peer in the same run: (suite, metric, cases, factor).
# The last one is the best triad of the machine, however many passes are waited for together.
PEER_GOALS = [
    ("rodinia", "milliseconds", "", 0.95),
    ("comd", "microseconds", "", 0.95),
    ("regions", "gigabytes_per_s", "triad", 0.97),
    ("regions", "gigabytes_per_s", f"n{BESIDE}_triad", 0.97),
]

# Ways of an application that are there for comparison: without a goal, and not in the geometric mean.
VARIANT = re.compile(r"_(single|scan)$")

# Not in tables (but in the JSON files): points of a curve or at a distance, and the time until the last submission
# returned, which says little when a window or a throttle makes submitters run tasks.
HIDDEN = ("efficiency_at", "gigabytes_per_s_at_", "submit_ns_per_task")


def more_is_better(metric):
    return metric.startswith(("gflops", "gigabytes_per_s", "efficiency"))


def summarize(rows, limit):
    """rows: (suite, runtime, case, workers, metric, value, others, ping or None). One entry per key, with the median of
    the undisturbed runs; where others used more than `limit` of the machine in every run, of all runs, marked noisy."""
    runs = defaultdict(list)
    for *key, value, others, ping in rows:
        runs[tuple(key)].append((value, others, ping))
    out = []
    for (suite, runtime, case, workers, metric), all_runs in runs.items():
        clean = [r for r in all_runs if r[1] <= limit]
        used = clean or all_runs
        values, pings = [r[0] for r in used], [r[2] for r in used if r[2] is not None]
        out.append(
            {
                "suite": suite,
                "runtime": runtime,
                "case": case,
                "workers": workers,
                "metric": metric,
                "median": statistics.median(values),
                "min": min(values),
                "max": max(values),
                "runs": len(values),
                "noisy": not clean,
                "ping_ns": statistics.median(pings) if pings else None,
            }
        )
    _compare(out)
    return out


def _compare(entries):
    """Adds ratio (value over Tessera's of the same case; 1 for Tessera) and goal (Tessera's entries)."""
    ours = {
        (e["suite"], e["case"], e["workers"], e["metric"]): e["median"]
        for e in entries
        if e["runtime"].startswith("Tessera")
    }
    best = {}  # of all tile sizes, for programs that have none
    for (suite, case, workers, metric), value in ours.items():
        key = (suite, re.sub(r"_tile\d+$", "", case), workers, metric)
        best[key] = _better(metric)(best[key], value) if key in best else value
    for e in entries:
        key = (e["suite"], e["case"], e["workers"], e["metric"])
        mine = ours.get(key, best.get(key))
        e["ratio"] = e["median"] / mine if mine else None
        e["goal"] = GOALS.get(key, _peer_goal(e, entries)) if e["runtime"].startswith("Tessera") else None


def _better(metric):
    return max if more_is_better(metric) else min


def _peer_goal(entry, entries):
    """What the speed of the better peer asks of an entry of Tessera, or None."""
    for suite, metric, cases, factor in PEER_GOALS:
        if (entry["suite"], entry["metric"]) != (suite, metric) or not entry["case"].startswith(cases):
            continue
        peers = [
            e["median"]
            for e in entries
            if (e["suite"], e["metric"], e["workers"]) == (suite, metric, entry["workers"])
            and not e["runtime"].startswith("Tessera")
            and (e["case"].startswith(cases) if cases else e["case"] == entry["case"])
        ]
        if peers and not VARIANT.search(entry["case"]):
            best = _better(metric)(peers)
            return best * factor if more_is_better(metric) else best / factor
    return None


def against_peers(entries):
    """A table of the applications: geometric mean of the speeds over those of the better peers; "" where none is."""
    lines = []
    for suite, metric, cases, factor in PEER_GOALS:
        if cases:
            continue
        for workers in sorted({e["workers"] for e in entries if (e["suite"], e["metric"]) == (suite, metric)}):
            ratios = {}  # the better peer's time over Tessera's
            for e in entries:
                if (e["suite"], e["metric"], e["workers"]) != (suite, metric, workers) or VARIANT.search(e["case"]):
                    continue
                if e["ratio"] is not None and not e["runtime"].startswith("Tessera"):
                    ratios[e["case"]] = min(e["ratio"], ratios.get(e["case"], math.inf))
            if ratios:
                mean, least = statistics.geometric_mean(ratios.values()), min(ratios, key=ratios.get)
                below = [f"{c} {r:.2f}" for c, r in sorted(ratios.items(), key=lambda of: of[1]) if r < factor]
                lines.append(
                    f"| {workers} | {len(ratios)} | {mean:.2f} | 1 | {ratios[least]:.2f} ({least}) | {factor:g} "
                    f"| {', '.join(below) or 'none'} |"
                )
    if not lines:
        return ""
    head = [
        "",
        "",
        "The better peer's time in the same run over Tessera's, without the variants `…_single` and `…_scan`:",
        "",
        "| workers | cases | geometric mean | goal | least | goal | below it |",
        "|---:|---:|---:|---:|---|---:|---|",
    ]
    return "\n".join(head + lines)


def at_powers_of_two(entries):
    """A table of loops: rate at 2^25 elements over that beside it; "" where both were not measured."""
    rates = {(e["runtime"], e["case"], e["workers"]): e["median"] for e in entries if e["metric"] == "gigabytes_per_s"}
    lines = [
        f"| {case} | {workers} | {runtime} | {rate / beside:.2f} "
        f"| {POWER_OF_TWO if runtime.startswith('Tessera') else ''} |"
        for (runtime, case, workers), rate in rates.items()
        if (beside := rates.get((runtime, f"n{BESIDE}_{case}", workers)))
    ]
    if not lines:
        return ""
    head = [
        "",
        "",
        f"Rates at 2²⁵ elements over those of the same program at {BESIDE:,}:",
        "",
        "| loop | workers | runtime | rate over rate | goal |",
        "|---|---:|---|---:|---:|",
    ]
    return "\n".join(head + lines)


def markdown(entries):
    """A table; entries of one case and metric together, the best first."""
    shown = [e for e in entries if not e["metric"].startswith(HIDDEN)]
    order = {k: i for i, k in enumerate(dict.fromkeys((e["suite"], e["case"], e["workers"]) for e in shown))}
    metrics = {k: i for i, k in enumerate(dict.fromkeys(e["metric"] for e in shown))}
    shown.sort(
        key=lambda e: (
            order[e["suite"], e["case"], e["workers"]],
            metrics[e["metric"]],
            -e["median"] if more_is_better(e["metric"]) else e["median"],
        )
    )
    lines = [
        "| case | workers | metric | runtime | median | min | max | runs | / Tessera | goal | ping ns |",
        "|---|---:|---|---|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for e in shown:
        runtime = f"**{e['runtime']}**" if e["runtime"].startswith("Tessera") else e["runtime"]
        cells = [
            e["case"],
            e["workers"],
            e["metric"],
            runtime,
            f"{e['median']:.4g}",
            f"{e['min']:.4g}",
            f"{e['max']:.4g}",
            f"{e['runs']} noisy" if e["noisy"] else e["runs"],
            f"{e['ratio']:.2f}" if e["ratio"] is not None else "",
            f"{e['goal']:.4g}" if e["goal"] is not None else "",
            f"{e['ping_ns']:.0f}" if e["ping_ns"] is not None else "",
        ]
        lines.append("| " + " | ".join(str(c) for c in cells) + " |")
    return "\n".join(lines)


NOTES = "The columns and metrics are explained in [benchmarks](../benchmarks.md)."


def circumstances(entries):
    """Lines for the head of a page: kernel sets, the cores' distance, how many runs were disturbed."""
    kernels = sorted({e["runtime"].split()[-1] for e in entries if e["suite"] == "dense"})
    pings = [e["ping_ns"] for e in entries if e["ping_ns"] is not None]
    lines = []
    if kernels:
        lines.append(f"BLAS kernel set: {', '.join(kernels)}")
    if pings:
        lines.append(
            f"Cache line to the other core and back: median {statistics.median(pings):.0f} ns "
            f"({min(pings):.0f} to {max(pings):.0f})"
        )
    lines.append(
        f"Disturbed by other processes in every run: {sum(e['noisy'] for e in entries)} of {len(entries)} entries,"
        " marked noisy; the others use undisturbed runs only"
    )
    return lines
