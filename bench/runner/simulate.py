"""The group `simulate`: predictions against real runs of this machine, large simulated runs, and the runtime's
own cost per task."""
import json
import os
import statistics
import subprocess
import tempfile

from . import machine


def _run(folder, words, timeout):
    p = subprocess.run(
        [os.path.join(folder, "tessera")] + words + ["--json", "-", "--quiet"],
        text=True,
        timeout=timeout,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        check=False,
    )
    if p.returncode != 0:
        raise RuntimeError(f"tessera {' '.join(words)}: exit {p.returncode}: {p.stderr.strip()[-300:]}")
    return json.loads(p.stdout)


def _machine_file(root, name):
    return os.path.join(root, "configs", "machines", name)


def against_real(folder, root, sizes, rounds, timeout, wait):
    """Host-only Cholesky and GEMM, 1 and 2 workers: learnt, run, simulated, in turns."""
    out = []
    for job in ("cholesky", "gemm"):
        for n in sizes:
            tile = 256
            for workers in (1, 2):
                with tempfile.TemporaryDirectory() as kept:
                    learnt = ["--set", "runtime.history=" + os.path.join(kept, "learnt.json")]
                    size = ["--n", str(n), "--tile", str(tile), "--workers", str(workers)]
                    real, predicted = [], []
                    for _ in range(rounds):
                        wait()
                        _run(
                            folder,
                            [job] + size + learnt + ["--set", "runtime.placement=cost", "--repeat", "2"],
                            timeout,
                        )
                        wait()
                        real.append(_run(folder, [job] + size + ["--repeat", "2"], timeout)["mean_seconds"])
                        predicted.append(
                            _run(
                                folder,
                                ["simulate", _machine_file(root, "two_cores.toml"), "--job", job, "--learnt"]
                                + size
                                + learnt,
                                timeout,
                            )["seconds"]
                        )
                    out.append(
                        {
                            "job": job,
                            "n": n,
                            "tile": tile,
                            "workers": workers,
                            "real_seconds": statistics.median(real),
                            "predicted_seconds": statistics.median(predicted),
                            "rounds": rounds,
                            "ratio": statistics.median(predicted) / statistics.median(real),
                        }
                    )
    return out


LARGE = [
    ("node_8gpu.toml", "cholesky", 131072, 2048),
    ("node_8gpu.toml", "cholesky", 131072, 1024),
    ("node_8gpu.toml", "gemm", 131072, 2048),
    ("node_8gpu.toml", "gemm", 131072, 1024),
    ("many_cores.toml", "cholesky", 131072, 512),
]
# About 10^7 tasks each.
MANY = [
    ("many_cores.toml", "cholesky", 100096, 256),
    ("two_cores.toml", "gemm", 13824, 64),
    ("node_8gpu.toml", "gemm", 110592, 512),
]

KEPT = (
    "seconds",
    "gflops",
    "peak_share",
    "bound_seconds",
    "tasks",
    "bytes_transferred",
    "evicted_dropped",
    "evicted_written_back",
    "wall_seconds",
    "processor_seconds",
    "events",
    "model_seconds",
    "metering_seconds",
    "overhead_seconds_per_task",
    "peak_resident_bytes",
    "bytes_per_block",
)


def simulated(folder, root, cases, timeout, wait):
    out = []
    for file, job, n, tile in cases:
        wait()
        figures = _run(
            folder,
            [
                "simulate",
                _machine_file(root, file),
                "--job",
                job,
                "--n",
                str(n),
                "--tile",
                str(tile),
                "--placement",
                "cost",
            ],
            timeout,
        )
        row = {"machine": file, "job": job, "n": n, "tile": tile}
        row.update({k: figures[k] for k in KEPT})
        row["links_busy_most"] = max([link["busy_share"] for link in figures["links"]], default=0.0)
        out.append(row)
        print(f"simulated {file} {job} {n} tile {tile}: {figures['wall_seconds']:.1f} s", flush=True)
    return out


def measure(opt, root):
    folder = os.path.join(opt.build, "bin")

    def wait():
        machine.wait_for_idle(opt.limit, opt.patience)

    return {
        "against_real": against_real(folder, root, opt.sizes, opt.rounds, opt.timeout, wait),
        "large": simulated(folder, root, LARGE, max(opt.timeout, 1800), wait),
        "many": simulated(folder, root, MANY, max(opt.timeout, 1800), wait),
    }


def _bytes(value):
    for unit in ("B", "KiB", "MiB", "GiB", "TiB"):
        if value < 1024 or unit == "TiB":
            return f"{value:.3g} {unit}"
        value /= 1024
    return ""


def tables(results):
    lines = [
        (
            "Host-only runs of this machine, and the same simulated with the times that were learnt here; goal: ratio"
            " within 0.85 to 1.15"
        ),
        "",
        "| job | n | tile | workers | real s | predicted s | predicted / real |",
        "|---|---:|---:|---:|---:|---:|---:|",
    ]
    for r in results["against_real"]:
        lines.append(
            f"| {r['job']} | {r['n']} | {r['tile']} | {r['workers']} | {r['real_seconds']:.4g} |"
            f" {r['predicted_seconds']:.4g} | {r['ratio']:.3f} |"
        )
    lines += [
        "",
        "Large runs on described machines (placement cost)",
        "",
        (
            "| machine | job | n | tile | tasks | predicted s | TFLOP/s | of peak | at least s | transferred | busiest"
            " link | simulated in s | memory |"
        ),
        "|---|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for r in results["large"]:
        lines.append(
            f"| {r['machine']} | {r['job']} | {r['n']} | {r['tile']} | {r['tasks']} | {r['seconds']:.4g} |"
            f" {r['gflops'] / 1000:.4g} | {100 * r['peak_share']:.1f} % | {r['bound_seconds']:.4g} |"
            f" {_bytes(r['bytes_transferred'])} | {100 * r['links_busy_most']:.1f} % | {r['wall_seconds']:.3g} |"
            f" {_bytes(r['peak_resident_bytes'])} |"
        )
    lines += [
        "",
        "What the runtime itself costs at 10⁷ tasks: processor time of the simulation without the model, one thread",
        "",
        (
            "| machine | job | tiles | tasks | runtime per task | model per task | simulated in s | memory of the"
            " process | memory per block |"
        ),
        "|---|---|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for r in results["many"]:
        lines.append(
            f"| {r['machine']} | {r['job']} | {-(-r['n'] // r['tile'])} x {-(-r['n'] // r['tile'])} | {r['tasks']} |"
            f" {1e9 * r['overhead_seconds_per_task']:.0f} ns | {1e9 * r['model_seconds'] / r['tasks']:.0f} ns |"
            f" {r['wall_seconds']:.3g} | {_bytes(r['peak_resident_bytes'])} | {r['bytes_per_block']:.0f} B |"
        )
    return "\n".join(lines)


NOTES = "[Simulation](../simulation.md) says what is modelled; the descriptions are in `configs/machines`."


def circumstances(results):  # pylint: disable=unused-argument
    return []


def data(results):
    return {"results": results}
