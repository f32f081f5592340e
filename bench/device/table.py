#!/usr/bin/env python3
"""Makes a page and one JSON file of what run_all.sh has written.

  bench/device/table.py RESULTS NAME [--command TEXT] [--peers FILE]

RESULTS is the folder of run_all.sh. Writes docs/results/NAME.json, all its figures without the runtime's statistics,
and docs/results/NAME.md, a table beside the vendor's libraries. --peers: rows of bench/device/cupy_lobpcg.py.
"""
import argparse
import json
import os
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
LEFT_OUT = ("statistics", "links", "convergence", "regions", "topology", "findings", "tree", "checks")

RUNS = (
    ("_device_first", "first run, compiles"),
    ("_device_second", "the GPU alone"),
    ("_auto_first", "`auto`, first run"),
    ("_auto_second", "`auto`, second run"),
    ("_auto_third", "`auto`, third run"),
)


def read(folder):
    """Everything, by the files' names."""
    found = {}
    if not os.path.isdir(folder):
        sys.exit(f"{folder} is no folder; it must be one that run_all.sh has written")
    for entry in sorted(os.listdir(folder)):
        name, ending = os.path.splitext(entry)
        if ending != ".json":
            continue
        with open(os.path.join(folder, entry), encoding="utf-8") as file:
            text = file.read()
        if not text.strip():
            continue
        data = json.loads(text)
        if isinstance(data, dict):
            data = {key: value for key, value in data.items() if key not in LEFT_OUT}
        found[name] = data
    return found


def rows_of(found, name):
    return {(row["case"], row["metric"]): row["value"] for row in found.get(name, [])}


def figure(value):
    return f"{value:.4g}" if abs(value) < 1e4 else f"{value:.0f}"


class page:
    """Lines of a table: what, here, the peer, and peer or host over ours."""

    def __init__(self):
        self.lines = []

    def add(self, what, unit, ours, peer_name="", peer=None, more_is_better=False):
        if ours is None:
            return
        ratio = "" if peer is None else f"{(ours / peer if more_is_better else peer / ours):.2f}"
        peer_text = "" if peer is None else f"{figure(peer)} ({peer_name})"
        self.lines.append(f"| {what} | {unit} | {figure(ours)} | {peer_text} | {ratio} |")


def vendors(found):
    """Figures of the vendor's libraries, whatever the size."""
    all_of_them = {}
    for name in found:
        if name.startswith("vendor_"):
            all_of_them.update(rows_of(found, name))
    return all_of_them


def dense(to, found, vendor):
    for job, peer in (("gemm", "gemm_f64_{}"), ("cholesky", "potrf_f64_{}")):
        title = {"gemm": "matrix product", "cholesky": "Cholesky factor"}[job]
        for n in (4096, 8192, 16384, 32768):
            data = found.get(f"{job}_{n}")
            if data is not None:
                library = vendor.get((peer.format(n), "gflops"))
                of = "cuBLAS" if job == "gemm" else "cuSOLVER"
                to.add(f"{title}, n = {n}, tiles of {data['tile']}", "GFLOP/s", data["gflops"], of, library, True)
            own = found.get(f"{job}_{n}_own_kernels")
            if own is not None:
                to.add(f"{title}, n = {n}, Tessera's own kernels", "GFLOP/s", own["gflops"])
            for percent in (150, 200, 400):
                data = found.get(f"{job}_{n}_at_{percent}_percent")
                if data is not None:
                    to.add(f"{title}, n = {n}, {percent} % of the memory", "GFLOP/s", data["gflops"])


def sparse(to, found, vendor, peers):
    for name, title in (("device", "cuSPARSE through Tessera"), ("device_own_kernels", "own kernels")):
        mine = rows_of(found, name)
        for case, what in (("spmv_f64_", "one column"), ("spmm16_f64_", "16 columns")):
            for (key, metric), value in mine.items():
                if key.startswith(case):
                    peer = vendor.get((key, metric))
                    to.add(f"sparse product, {what}, {title}", "GB/s", value, "cuSPARSE", peer, True)
    for name, data in found.items():
        if name.endswith("_many_true"):
            streams = found.get(name.replace("_true", "_false"))
            if streams is not None:
                tasks = data["tasks_per_iteration"]
                to.add(f"LOBPCG, {data['matrix']}, an iteration of {tasks} tasks", "ms",
                       data["seconds_per_iteration"] * 1e3, "without graphs", streams["seconds_per_iteration"] * 1e3)
        elif name.startswith("eigs_") and not name.endswith(("_host", "_many_false")):
            ours = data["seconds_per_iteration"] * 1e3
            to.add(f"LOBPCG, {data['matrix']}, what a pass must read and write", "GB/s", data["gigabytes_per_second"])
            host = found.get(name + "_host")
            if host is not None:
                milliseconds = host["seconds_per_iteration"] * 1e3
                to.add(f"LOBPCG, {data['matrix']}, an iteration", "ms", ours, "the host's cores", milliseconds)
            for row in peers:
                if row[2] == f"lobpcg_{data['matrix'].replace(':', '_')}_b8":
                    to.add(f"LOBPCG, {data['matrix']}, an iteration", "ms", ours, row[1], float(row[5]))


def other(to, found, vendor):
    managed = next((value / 1e3 for (case, _), value in vendor.items() if case.startswith("linear_")), None)
    for name, data in found.items():
        if name.startswith("deepcopy_"):
            ours = data["cycle_seconds"] * 1e3
            to.add(f"deep copy, {data['scheme']}, a cycle", "ms", ours, "managed memory", managed)
    for name in found:
        if not name.endswith("_device_second"):
            continue
        app = name.removesuffix("_device_second")
        host = found.get(app + "_host")
        for run, title in RUNS:
            data = found.get(app + run)
            if data is None or "seconds" not in data:
                continue
            peer = host["seconds"] * 1e3 if host is not None else None
            to.add(f"{app}, {title}", "ms", data["seconds"] * 1e3, "the host's cores", peer)


def calls(to, found):
    device = rows_of(found, "device")
    for way, title in (("in", "to the device"), ("out", "from the device")):
        for kind in ("pinned", "pageable"):
            sizes = [(int(c.rsplit("_", 1)[1]), v) for (c, _), v in device.items() if c.startswith(f"{kind}_{way}_")]
            if sizes:
                size, value = max(sizes)
                to.add(f"copy of {size >> 20} MiB {title}, {kind}", "GB/s", value / 1e9)
    for case, metric, title in (
        ("small_fills", "host_ns_per_call", "a small fill, the host's time"),
        ("graph_of_small_fills", "whole_ns_per_call", "the same in a graph, all of it"),
    ):
        to.add(title, "ns", device.get((case, metric)))
    graphs = rows_of(found, "graphs")
    for case in ("chain_submitted", "chain_graphs", "stencil_w8_submitted", "stencil_w8_graphs"):
        to.add(f"a device task, {case}", "ns", graphs.get((case, "ns_per_task")))
    batches = rows_of(found, "batches")
    for (case, metric), value in batches.items():
        if metric == "ns_per_task":
            to.add(f"a contraction, {case}", "ns", value)


def main():
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("results")
    words.add_argument("name")
    words.add_argument("--command", default="tessera/run_all.sh")
    words.add_argument("--peers")
    opt = words.parse_args()
    found = read(opt.results)
    machine = found.get("machine")
    if machine is None:
        sys.exit(f"{opt.results} has no machine.json; it must be a folder that run_all.sh has written")
    peers = []
    if opt.peers:
        with open(opt.peers, encoding="utf-8") as file:
            peers = [line.rstrip("\n").split("\t") for line in file if line.count("\t") == 5]
    to, vendor = page(), vendors(found)
    dense(to, found, vendor)
    sparse(to, found, vendor, peers)
    other(to, found, vendor)
    calls(to, found)
    conformance = found.get("conformance_" + machine["plugin"], {})
    results = [check["outcome"] for check in conformance.get("results", [])]
    with open(os.path.join(ROOT, "docs", "results", opt.name + ".json"), "w", encoding="utf-8") as file:
        json.dump({"command": opt.command, "peers": peers, **found}, file, indent=1, sort_keys=True)
        file.write("\n")
    text = [f"# Measured: {opt.name.replace('_', ' ')}", ""]
    text += [f"- Date: {machine['date'][:16].replace('T', ' ')}", f"- Command: `{opt.command}`"]
    text += [f"- Device: {machine['device']}"]
    text += [f"- Processor: {machine['processor']}, {machine['processors']} processors"]
    if results:
        passed, failed = results.count("passed"), results.count("failed")
        text.append(f"- Conformance: {passed} passed, {failed} failed, of {len(results)}")
    text += ["- One run. The last column is how many times as fast as the peer Tessera is."]
    text += ["", "| what | unit | Tessera | peer | ratio |", "|---|---|---:|---:|---:|", *to.lines, ""]
    with open(os.path.join(ROOT, "docs", "results", opt.name + ".md"), "w", encoding="utf-8") as file:
        file.write("\n".join(text))


if __name__ == "__main__":
    main()
