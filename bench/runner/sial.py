"""The group `sial`: programs of bench/sial through `tessera sial run`, beside one plain dgemm of the same extents,
and beside the same program
in C++ with plain dgemm, in the same rounds."""
import json
import os
import statistics
import subprocess
import tempfile

# The predecessor on another machine of two cores (1 worker and 1 server), as its authors' programs gave it before
# Tessera was written: seconds.
PREDECESSOR = {
    "contract_e16": 4.42,
    "contract_e6": 2.69,
    "contract_perm_e16": 4.60,
    "contract_perm_e6": 3.16,
    "loops": 2.08,
    "where": 2.03,
    "get_large": 0.94,
    "get_small": 0.49,
    "smallput": 1.78,
    "putacc": 0.37,
}
CASES = {  # case: (program, ints, length of ao segments)
    "contract_e16": ("bench_contract", {"norb": 4}, 16),
    "contract_e6": ("bench_contract", {"norb": 8}, 6),
    "contract_perm_e16": ("bench_contract_perm", {"norb": 4}, 16),
    "contract_perm_e6": ("bench_contract_perm", {"norb": 8}, 6),
    "loops": ("bench_loops", {"norb": 200}, 1),
    "where": ("bench_where", {"norb": 300}, 1),
    "get_large": ("bench_get", {"norb": 3, "niter": 3}, 24),
    "get_small": ("bench_get", {"norb": 10, "niter": 3}, 3),
    "smallput": ("bench_smallput", {"nblk": 400000}, 1),
    "putacc": ("bench_putacc", {"norb": 4, "kmax": 200}, 30),
}
# Machines with simulated devices, and segments per index of bench_contract with blocks of 6^4: what finding the
# faster place costs.
MACHINES, SEGMENTS = ("sim_one", "sim_two"), (3, 6)
EXTENTS = ((16, 4), (6, 8))  # of the contractions, with the segments per index
# Programs with served arrays and a quarter of the memory that these take: what is said of it, the program, its
# data, the limit.
SPILLS = {
    "contract": ("a contraction of blocks of 512 KiB, 403 MB", ("bench_contract", {"norb": 4}, 16), "100 MiB"),
    "get": (
        "written once, read three times, nothing but sums: 1.66 GB",
        ("bench_get", {"norb": 5, "niter": 3}, 24),
        "400 MiB",
    ),
}


def _toml(ints, length):
    text = "[ints]\n" + "".join(f"{k} = {v}\n" for k, v in ints.items())
    return text + "[segments]\nao = [" + ", ".join([str(length)] * max(ints.get("norb", 1), 1)) + "]\n"


def run_program(tessera, folder, program, data, workers, more, timeout):
    with tempfile.NamedTemporaryFile("w", suffix=".toml") as init:
        init.write(_toml(*data))
        init.flush()
        words = [
            tessera,
            "sial",
            "run",
            os.path.join(folder, program + ".sialx"),
            "--init",
            init.name,
            "--workers",
            str(workers),
            "--json",
            "-",
        ] + more
        p = subprocess.run(
            words,
            text=True,
            timeout=timeout,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            check=False,
            env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},
        )
    if p.returncode != 0:
        raise RuntimeError(f"{' '.join(words)}: exit {p.returncode}: {p.stderr.strip()[-300:]}")
    return json.loads(p.stdout)


def _dgemm(folder, timeout):
    """GFLOP/s of plain dgemm on one core, by extent: the square of it is the order."""
    p = subprocess.run(
        [os.path.join(folder, "bench_contract"), "--from", "6", "--to", "16", "--repeats", "11"],
        text=True,
        timeout=timeout,
        stdout=subprocess.PIPE,
        check=True,
        env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},
    )
    rates = {}
    for line in p.stdout.splitlines():
        parts = line.split("\t")
        if len(parts) == 6 and parts[1] == "dgemm" and parts[4] == "gflops" and parts[2].startswith("aligned_e"):
            rates[int(parts[2].rsplit("_e", 1)[1])] = float(parts[5])
    return rates


def _by_hand(folder, orbitals, extent, timeout):
    """Seconds of bench_contract.sialx written in C++."""
    p = subprocess.run(
        [os.path.join(folder, "bench_sial_by_hand"), "--norb", str(orbitals), "--extent", str(extent)],
        text=True,
        timeout=timeout,
        stdout=subprocess.PIPE,
        check=True,
        env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},
    )
    return next(float(line.split("\t")[5]) for line in p.stdout.splitlines() if line.split("\t")[4] == "seconds")


def measure(opt, root):
    tessera, programs = os.path.join(opt.build, "bin", "tessera"), os.path.join(root, "bench", "sial")
    seconds, rates, blas, spill, by_hand, placed = {}, {}, "", {}, {}, {}
    with tempfile.TemporaryDirectory() as folder:
        for _, (program, _, _), _ in SPILLS.values():
            with open(os.path.join(programs, program + ".sialx"), encoding="ascii") as f:
                text = (
                    f.read()
                    .replace("distributed", "served")
                    .replace(" get ", " request ")
                    .replace(" put ", " prepare ")
                )
            with open(os.path.join(folder, program + ".sialx"), "w", encoding="ascii") as f:
                f.write(text)
        for _ in range(opt.rounds):
            for extent, rate in _dgemm(os.path.join(opt.build, "bin"), opt.timeout).items():
                rates.setdefault(extent, []).append(rate)
            for extent, orbitals in EXTENTS:
                by_hand.setdefault(extent, []).append(
                    _by_hand(os.path.join(opt.build, "bin"), orbitals, extent, opt.timeout)
                )
            for case, (program, ints, length) in CASES.items():
                # A virtual machine may have lost the memory that it did not use: not a matter of who runs first.
                run_program(tessera, programs, program, (ints, length), 1, [], opt.timeout)
                for workers in (1, 2):
                    told = run_program(tessera, programs, program, (ints, length), workers, [], opt.timeout)
                    blas = told["blas"]
                    seconds.setdefault((case, workers), []).append(told["programs"][0]["seconds"])
            for case, (_, (program, *data), limit) in SPILLS.items():
                disk = [
                    "--set",
                    'runtime.plugins=["host", "disk"]',
                    "--set",
                    f"memory.host_limit={limit}",
                    "--set",
                    "plugin.disk.capacity=4 GiB",
                ]
                for name, more in (
                    ("in memory", []),
                    ("look-ahead 4", disk),
                    ("look-ahead 0", disk + ["--look-ahead", "0"]),
                ):
                    if name == "in memory":  # as above: once for the memory, once for the clock
                        run_program(tessera, folder, program, data, 1, more, opt.timeout)
                    told = run_program(tessera, folder, program, data, 1, more, opt.timeout)["programs"][0]
                    spill.setdefault(f"{case} {name}", []).append(
                        (told["seconds"], told["ready_reads"] / max(told["first_reads"], 1), told["block_seconds"])
                    )
            for machine in MACHINES:
                for segments in SEGMENTS:
                    for devices in ("never", "best"):
                        told = run_program(
                            tessera,
                            programs,
                            "bench_contract",
                            ({"norb": segments}, 6),
                            2,
                            [
                                "--devices",
                                devices,
                                "--set",
                                "runtime.history=off",
                                "--config",
                                os.path.join(root, "configs", machine + ".toml"),
                            ],
                            opt.timeout,
                        )["programs"][0]
                        placed.setdefault(f"{machine} {segments} {devices}", []).append(
                            (told["seconds"], told["statements_on_devices"])
                        )
    return {
        "blas": blas,
        "rounds": opt.rounds,
        "dgemm": {e: statistics.median(r) for e, r in rates.items()},
        "placed": {name: [statistics.median(column) for column in zip(*rows)] for name, rows in placed.items()},
        "by_hand": {e: statistics.median(s) for e, s in by_hand.items()},
        "seconds": {f"{case} {w}": statistics.median(s) for (case, w), s in seconds.items()},
        "spill": {name: [statistics.median(column) for column in zip(*rows)] for name, rows in spill.items()},
    }


def tables(m):
    s, rate = m["seconds"], m["dgemm"]
    lines = [
        (
            "Contractions, one inner iteration being two gets, a contraction of blocks of four dimensions and a sum of"
            " blocks"
        ),
        "",
        (
            "| program | extent | GFLOP/s, 1 worker | plain dgemm | share of it | us per inner iteration beyond dgemm |"
            " beyond the program by hand | share of that | 2 workers are faster by | predecessor, s | ours, s |"
        ),
        "|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for form in ("contract", "contract_perm"):
        for extent, orbitals in EXTENTS:
            case, flops, inner = f"{form}_e{extent}", 2.0 * orbitals**6 * extent**6, orbitals**6
            one, hand = s[f"{case} 1"], m["by_hand"][extent]
            beside = f"{(one - hand) / inner * 1e6:.2f} | {hand / one:.2f}" if form == "contract" else "|"
            lines.append(
                f"| {form} | {extent} | {flops / one * 1e-9:.1f} | {rate[extent]:.1f} |"
                f" {flops / one * 1e-9 / rate[extent]:.2f} | {(one - flops / rate[extent] * 1e-9) / inner * 1e6:.2f} |"
                f" {beside} | {one / s[f'{case} 2']:.2f} | {PREDECESSOR[case]} | {one:.2f} |"
            )
    lines += ["", "The rest", "", "| case | figure | 1 worker | 2 workers | predecessor |", "|---|---|---:|---:|---:|"]
    for case, text, count, unit, before in (
        ("loops", "ns per iteration of a loop with one scalar sum", 200**3, 1e9, "105"),
        ("where", "ns per candidate of a pardo with two conditions", 300**3, 1e9, "60"),
        ("get_small", "us per get or put of a block of 648 bytes", 40000, 1e6, "3"),
        ("smallput", "us per get or put of a block of one element, each another", 800000, 1e6, "1.8"),
        ("putacc", "us per put += into 16 blocks of 7 KB, the rest included", 3200, 1e6, ""),
    ):
        lines.append(
            f"| {case} | {text} | {s[f'{case} 1'] / count * unit:.2f} | {s[f'{case} 2'] / count * unit:.2f} |"
            f" {before} |"
        )
    moved = 3**4 * 24**4 * 8 * 4 * 1e-9  # written once, read three times
    lines.append(
        f"| get_large | GB/s of blocks of 2.65 MB, written and read | {moved / s['get_large 1']:.2f} |"
        f" {moved / s['get_large 2']:.2f} | 1.5 |"
    )
    lines += [
        "",
        "Served arrays with memory for a quarter of them, 1 worker",
        "",
        (
            "| program | run | seconds | of the time in memory | blocks that were here when first read | s waited for"
            " blocks |"
        ),
        "|---|---|---:|---:|---:|---:|",
    ]
    for case, (text, _, limit) in SPILLS.items():
        for name in ("in memory", "look-ahead 4", "look-ahead 0"):
            seconds, ready, waited = m["spill"][f"{case} {name}"]
            lines.append(
                f"| {text} | {name if name == 'in memory' else f'{limit}, {name}'} | {seconds:.2f} |"
                f" {seconds / m['spill'][f'{case} in memory'][0]:.2f} | {ready:.0%} | {waited:.2f} |"
            )
    lines += [
        "",
        "Simulated devices and an empty history, 2 workers: the same contraction with blocks of 6^4",
        "",
        (
            "| machine | segments per index | products | s, `--devices never` | s, `best` | of it | statements on"
            " devices |"
        ),
        "|---|---:|---:|---:|---:|---:|---:|",
    ]
    for machine in MACHINES:
        for segments in SEGMENTS:
            (never, _), (best, there) = (
                m["placed"][f"{machine} {segments} never"],
                m["placed"][f"{machine} {segments} best"],
            )
            lines.append(
                f"| {machine} | {segments} | {segments ** 6} | {never:.3f} | {best:.3f} | {best / never:.2f} |"
                f" {there:.0f} |"
            )
    return "\n".join(lines)


def circumstances(m):
    return [
        f"Medians of {m['rounds']} rounds; {m['blas']}, one BLAS thread per worker",
        (
            "The predecessor's figures are not of this run: its own, on another machine of two cores, 1 worker and 1"
            " server"
        ),
    ]


def data(m):
    return {
        "dgemm_gflops": m["dgemm"],
        "by_hand": m["by_hand"],
        "seconds": m["seconds"],
        "spill": m["spill"],
        "placed": m["placed"],
    }


NOTES = (
    "Seconds are those of the whole program, the making of its arrays and the check of its sums included. Plain dgemm"
    " is called again and again on the same blocks, which stay in the cache; the program by hand (`bench_sial_by_hand`)"
    " is `bench_contract` in C++, with the same blocks in the same order: what is beyond that is the price of the"
    " interpreter and the runtime. Simulated devices take their threads from the cores that the workers have."
)
