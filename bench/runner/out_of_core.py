"""The group `out_of_core`: bytes moved and overlap when the matrices are larger than the device's memory."""
import os
import subprocess

PROBLEMS = [("gemm", 1536, 64), ("potrf", 2048, 64)]
PERCENT = (110, 150, 200, 400)
POLICIES = ("next_use", "lru", "fifo")


def _run(folder, words, timeout):
    p = subprocess.run(
        [os.path.join(folder, "bench_out_of_core")] + words,
        text=True,
        timeout=timeout,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        check=False,
    )
    if p.returncode != 0:
        raise RuntimeError(f"bench_out_of_core {' '.join(words)}: exit {p.returncode}: {p.stderr.strip()[-300:]}")
    rows = [line.split("\t") for line in p.stdout.splitlines() if line.count("\t") == 5]
    return {metric: float(value) for _, _, _, _, metric, value in rows}


def measure(opt, root):  # pylint: disable=unused-argument
    folder = os.path.join(opt.build, "bin")
    out = []
    for op, n, tile in PROBLEMS:
        for percent in PERCENT:
            for policy in POLICIES:
                words = [
                    "--op",
                    op,
                    "--n",
                    str(n),
                    "--tile",
                    str(tile),
                    "--percent",
                    str(percent),
                    "--eviction",
                    policy,
                ]
                out.append(
                    {
                        "op": op,
                        "n": n,
                        "tile": tile,
                        "percent": percent,
                        "eviction": policy,
                        **_run(folder, words, opt.timeout),
                    }
                )
                print(f"out_of_core {op} {percent} % {policy}: {out[-1]['bytes_over_bound']:.3f}", flush=True)
    return out


def tables(results):
    lines = [
        (
            "| operation | data / memory | eviction | bound | moved | moved / bound | simulated moved / bound | compute"
            " s | in s | out s | run s | overlap |"
        ),
        "|---|---:|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|",
    ]
    mib = 1 << 20
    for r in results:
        lines.append(
            f"| {r['op']} n = {r['n']} | {r['percent']} % | {r['eviction']} | {r['bound_bytes'] / mib:.1f} MiB |"
            f" {(r['bytes_in'] + r['bytes_out']) / mib:.1f} MiB | {r['bytes_over_bound']:.3f} |"
            f" {r['modelled_bytes_over_bound']:.3f} | {r['compute_seconds']:.3f} | {r['copy_in_seconds']:.3f} |"
            f" {r['copy_out_seconds']:.3f} | {r['seconds']:.3f} | {r['overlap_percent']:.1f} % |"
        )
    return "\n".join(lines)


NOTES = """The columns are explained in [benchmarks](../benchmarks.md#out-of-core), the bound in
[decision 0015](../decisions/0015_planned_orders.md)."""


def circumstances(results):  # pylint: disable=unused-argument
    return []


def data(results):
    return {"results": results}
