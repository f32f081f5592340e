#!/usr/bin/env python3
"""Cache misses of an iteration of LOBPCG, simulated by cachegrind: ours and OpenMP's in three ways.

  bench/sparse/cachegrind.py                                  lap3d:24, blocks of 16
  bench/sparse/cachegrind.py --matrix lap3d:40 --block 16     minutes

On one thread, as the difference of two runs of different length. Cachegrind has a first cache and a last one: a run
with the second cache as the last counts that one, another run the third. The caches are those of the machine on which
the ancestors of such solvers were measured, unless told otherwise. Needs valgrind, bench_sparse and peer_sparse_avx2
(target bench_all): valgrind does not know wider vectors than AVX2. Prints rows as the benchmarks do.
"""
import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
WAYS = ("blas", "tuned", "fused")


def commands(folder, matrix, block, strip):
    ours = [os.path.join(folder, "bench_sparse"), "--strip", str(strip)]
    peer = os.path.join(folder, "peer_sparse_avx2")
    sizes = ["--matrix", matrix, "--block", str(block), "--workers", "1", "--reps", "1"]
    return {"Tessera": ours + sizes, **{f"OpenMP {way}": [peer, "--mode", way] + sizes for way in WAYS}}


def misses(command, iterations, first, last):
    """Data misses of the first and of the last cache."""
    with tempfile.TemporaryDirectory() as folder:
        p = subprocess.run(
            ["valgrind", "--tool=cachegrind", "--cache-sim=yes", f"--cachegrind-out-file={folder}/out"]
            + [f"--D1={first}", f"--LL={last}"]
            + command
            + ["--iterations", str(iterations)],
            text=True,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            check=False,
            env={**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_CORETYPE": "Haswell"},
        )
    found = {}
    for line in p.stderr.splitlines():
        if counted := re.search(r"(D1|LLd) +misses: +([\d,]+)", line):
            found[counted[1]] = int(counted[2].replace(",", ""))
    if p.returncode != 0 or set(found) != {"D1", "LLd"}:
        raise RuntimeError(f"{' '.join(command)} under valgrind: exit {p.returncode}: {p.stderr.strip()[-300:]}")
    return found["D1"], found["LLd"]


def measure(folder, matrix, block, caches, strip=0, few=3, many=6):
    """Misses per iteration in the three caches, by the name of the program."""
    found = {}
    for name, command in commands(folder, matrix, block, strip).items():
        (d1_few, l2_few), (d1_many, l2_many) = (misses(command, k, caches[0], caches[1]) for k in (few, many))
        (_, ll_few), (_, ll_many) = (misses(command, k, caches[0], caches[2]) for k in (few, many))
        found[name] = [
            (b - a) / (many - few) for a, b in ((d1_few, d1_many), (l2_few, l2_many), (ll_few, ll_many))
        ]
    return found


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--build", default=os.path.join(ROOT, "build", "release"), help="build folder")
    p.add_argument("--matrix", default="lap3d:24", help="a family, as of tessera eigs --generate")
    p.add_argument("--block", type=int, default=16)
    p.add_argument("--strip", type=int, default=0, help="rows that ours goes through together; 0: its own choice")
    p.add_argument(
        "--caches",
        nargs=3,
        default=["32768,8,64", "262144,8,64", "2097152,16,64"],
        help="bytes, ways and line of the three",
    )
    opt = p.parse_args()
    if shutil.which("valgrind") is None:
        sys.exit("valgrind is not installed (apt: valgrind)")
    for name, counts in measure(
        os.path.join(opt.build, "bin"), opt.matrix, opt.block, opt.caches, opt.strip
    ).items():
        for cache, count in zip(("l1", "l2", "l3"), counts):
            case, metric = f"{opt.matrix}_b{opt.block}", f"{cache}_misses_per_iteration"
            print("sparse", name, case, 1, metric, f"{count:.6g}", sep="\t")


if __name__ == "__main__":
    main()
