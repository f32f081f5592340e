"""The group `spill`: jobs whose data are twice the host memory they may use, with the plugin disk behind it,
against the disk's own rate."""
import json
import os
import shutil
import statistics
import subprocess
import tempfile

from . import machine

BLOCK_KIB = 2048  # of the stream, and of a tile of 512 x 512 doubles
DATA_MIB = 2048  # of the stream; the disk alone moves the half of it, as the stream does
DENSE = (("gemm", 4096), ("potrf", 8192))
MIB = 1 << 20


def _rows(folder, words, timeout):
    p = subprocess.run(
        [os.path.join(folder, "bench_spill")] + words,
        text=True,
        timeout=timeout,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        check=False,
    )
    if p.returncode != 0:
        raise RuntimeError(f"bench_spill {' '.join(words)}: exit {p.returncode}: {p.stderr.strip()[-300:]}")
    rows = [line.split("\t") for line in p.stdout.splitlines() if line.count("\t") == 5]
    return [(who, case, metric, float(value)) for _, who, case, _, metric, value in rows]


def fio_rows(path, mib, block_kib, timeout):
    """Sequential requests of fio, where it is installed: 8 blocks under way, around the page cache."""
    if shutil.which("fio") is None:
        return []
    out = []
    with tempfile.TemporaryDirectory(dir=path) as folder:
        for engine in ("io_uring", "libaio"):
            for metric, way in (
                ("first_write_mib_per_s", "write"),
                ("write_mib_per_s", "write"),
                ("read_mib_per_s", "read"),
            ):
                p = subprocess.run(
                    [
                        "fio",
                        "--name=spill",
                        f"--filename={folder}/{engine}",
                        f"--size={mib}m",
                        f"--bs={block_kib}k",
                        f"--rw={way}",
                        "--direct=1",
                        f"--ioengine={engine}",
                        "--iodepth=8",
                        "--fallocate=native",
                        "--overwrite=0",
                        "--output-format=json",
                    ],
                    text=True,
                    timeout=timeout,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.DEVNULL,
                    check=False,
                )
                if p.returncode != 0:
                    break
                job = json.loads(p.stdout[p.stdout.index("{") :])["jobs"][0][way]
                out.append((f"fio {engine}, depth 8", f"disk_block{block_kib}K_direct", metric, job["bw_bytes"] / MIB))
    return out


def commands(path):
    """What one round runs: the disk alone beside what is compared with it."""
    common = ["--path", path]
    out = []
    for direct in (1, 0):
        way = common + ["--direct", str(direct), "--block", str(BLOCK_KIB)]
        out.append(["--case", "disk", "--mib", str(DATA_MIB // 2)] + way)
        out.append(["--case", "stream", "--mib", str(DATA_MIB), "--rounds", "2"] + way)
        if direct:
            out += [["--case", case, "--n", str(n), "--tile", "512", "--rounds", "1"] + way for case, n in DENSE]
    return out


def collect(rounds):
    """Medians over the rounds: {(who, case): {metric: value}}."""
    values = {}
    for rows in rounds:
        for who, case, metric, value in rows:
            values.setdefault((who, case), {}).setdefault(metric, []).append(value)
    return {
        key: {metric: statistics.median(all_of) for metric, all_of in metrics.items()}
        for key, metrics in values.items()
    }


def disk_rates(medians, way):
    """What the disk was seen to reach at best, by anybody outside the runtime and its plugin, in bytes per second."""
    best = {"first_write_mib_per_s": 0.0, "write_mib_per_s": 0.0, "read_mib_per_s": 0.0}
    for (who, case), metrics in medians.items():
        if case.startswith("disk_") and case.endswith(way) and who != "plugin disk":
            for metric in best:
                best[metric] = max(best[metric], metrics.get(metric, 0.0))
    return {metric: value * MIB for metric, value in best.items()}


def jobs_of(medians):
    """One entry per job, with its time at the disk's rate: reads after writes, as if they never went side by side."""
    out = []
    for (who, case), m in medians.items():
        if who != "Tessera":
            continue
        name, way = case.rsplit("_", 1)
        rates = disk_rates(medians, way)
        write = rates["first_write_mib_per_s" if name.endswith("_first") else "write_mib_per_s"]
        bound = m["bound_in"] + m["bound_out"]
        at_rate = m["bytes_in"] / rates["read_mib_per_s"] + m["bytes_out"] / write
        out.append(
            {
                "job": name,
                "way": way,
                **m,
                "disk_seconds": at_rate,
                "time_over_disk": m["seconds"] / at_rate if at_rate else None,
                "bytes_over_bound": (m["bytes_in"] + m["bytes_out"]) / bound if bound else None,
            }
        )
    return out


def tables(results):
    medians = results["medians"]
    lines = [
        "The disk alone, MiB/s",
        "",
        "| way | who | written first | written again | read |",
        "|---|---|---:|---:|---:|",
    ]
    for (who, case), m in sorted(medians.items(), key=lambda e: (e[0][1], e[0][0])):
        if case.startswith("disk_"):
            lines.append(
                f"| {case.rsplit('_', 1)[1]} | {who} | {m['first_write_mib_per_s']:.0f} | {m['write_mib_per_s']:.0f} |"
                f" {m['read_mib_per_s']:.0f} |"
            )
    lines += [
        "",
        "Jobs at 200 % of host memory",
        "",
        (
            "| way | job | from disk | to disk | bytes / bound | time | at the disk's rate | time / that | in memory |"
            " io |"
        ),
        "|---|---|---:|---:|---:|---:|---:|---:|---:|---|",
    ]
    for r in jobs_of(medians):
        over = "" if r["bytes_over_bound"] is None else f"{r['bytes_over_bound']:.3f}"
        times = "" if r["time_over_disk"] is None else f"{r['time_over_disk']:.2f}"
        inside = f"{r['in_memory_seconds']:.3f} s" if "in_memory_seconds" in r else ""
        lines.append(
            f"| {r['way']} | {r['job']} | {r['bytes_in'] / MIB:.0f} MiB | {r['bytes_out'] / MIB:.0f} MiB | {over} |"
            f" {r['seconds']:.3f} s | {r['disk_seconds']:.3f} s | {times} | {inside} |"
            f" {'io_uring' if r['io_uring'] else 'threads'} |"
        )
    return "\n".join(lines)


def file_system(path):
    """Its type, as in /proc/mounts: that of the longest mount point above the path."""
    best = ("", "unknown file system")
    with open("/proc/mounts") as f:
        for line in f:
            _, where, kind = line.split()[:3]
            if (os.path.realpath(path) + "/").startswith(where.rstrip("/") + "/") and len(where) >= len(best[0]):
                best = (where, kind)
    return best[1]


def measure(opt, root):  # pylint: disable=unused-argument
    """Medians of opt.rounds rounds."""
    folder = os.path.join(opt.build, "bin")
    path = os.environ.get("TMPDIR") or "/tmp"
    rounds = []
    for number in range(opt.rounds):
        rows = fio_rows(path, DATA_MIB // 2, BLOCK_KIB, opt.timeout)
        for words in commands(path):
            machine.wait_for_idle(opt.limit, opt.patience)
            rows += _rows(folder, words, opt.timeout)
        rounds.append(rows)
        print(f"spill: round {number + 1}/{opt.rounds}", flush=True)
    return {"rounds": opt.rounds, "file_system": file_system(path), "medians": collect(rounds)}


NOTES = """The columns are explained in [benchmarks](../benchmarks.md#spilling-to-disk), the bounds in
[decision 0015](../decisions/0015_planned_orders.md)."""


def circumstances(results):
    return [f"Medians of {results['rounds']} rounds; files on {results['file_system']}"]


def data(results):
    disks = [
        {"who": who, "case": case, **m}
        for (who, case), m in sorted(results["medians"].items())
        if case.startswith("disk_")
    ]
    return {
        "rounds": results["rounds"],
        "file_system": results["file_system"],
        "disk": disks,
        "results": jobs_of(results["medians"]),
    }
