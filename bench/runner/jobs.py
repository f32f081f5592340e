"""Which programs a group runs."""
import os

from . import table

GROUPS = [
    "submit",
    "tasks",
    "waits",
    "metg",
    "regions",
    "auto",
    "regions_out_of_core",
    "rodinia",
    "deepcopy",
    "comd",
    "sparse_out_of_core",
    "dense",
    "trace",
    "graphs",
    "batches",
    "contract",
    "copies",
    "machine",
]


def jobs_of(group, tasks, sizes, large=False, cores=2):
    """Commands of a group, Tessera's and the peers', in the order of one round.

    tasks: tasks per overhead measurement; runtimes that need more than 2 us per task get a fifth.
    sizes: orders of the matrices in `dense`.
    large: also the cases of `rodinia` that take minutes.
    cores: of this machine.
    """
    light, heavy = tasks, max(tasks // 5, 1)
    out = []
    if group == "submit":
        out += [
            f"bench_tasks --case submit --n {light}",
            f"peer_task_starpu --case submit --n {heavy}",
            "bench_tasks --case metadata",
            "peer_task_starpu --case metadata",
            "bench_tasks --case idle --workers 2",
        ]
    if group == "tasks":
        for case in ("independent", "chain", "dag"):
            for workers in (1, 2):
                to = f"--case {case} --workers {workers} --n"
                out += [f"bench_tasks {to} {light}"]
                out += [
                    f"{p} {to} {light}"
                    for p in (
                        "peer_task_libgomp",
                        "peer_task_libomp",
                        "peer_task_tbb",
                        "peer_task_taskflow",
                        "peer_task_taskflow --api async",
                    )
                ]
                out += [f"peer_task_starpu --sched {s} {to} {heavy}" for s in ("lws", "eager")]
        for workers in (1, 2):
            for p in ("bench_tasks", "peer_task_libgomp", "peer_task_libomp"):
                out += [f"{p} --case heat --workers {workers} --n {heavy}"]
    if group == "waits":
        out += ["bench_tasks --case view --workers 2", "peer_task_starpu --case view --workers 2", "bench_cold"]
    if group == "metg":
        for width in (2, 8):
            for p in (
                "bench_tasks",
                "bench_tasks --recorded 1",
                "peer_task_libgomp",
                "peer_task_libomp",
                "peer_task_tbb",
                "peer_task_taskflow",
                "peer_task_taskflow --api async",
                "peer_task_starpu --sched lws",
                "peer_task_starpu --sched eager",
            ):
                out.append(f"{p} --case stencil --workers 2 --width {width}")
    if group == "regions":
        for workers in (1, 2):
            out += [f"{p} --workers {workers}" for p in ("bench_regions", "peer_loop_libgomp")]
            out += [f"peer_loop_kokkos --case {case} --workers {workers}" for case in ("launch", "stream")]
            beside = f"--case stream --n {table.BESIDE} --workers {workers}"  # a power of two
            out += [f"{p} {beside}" for p in ("bench_regions", "peer_loop_libgomp", "peer_loop_kokkos")]
        out += [f"bench_regions --case device --plugin {plugin} --workers 1" for plugin in ("cuda_emulated", "sim")]
    if group == "auto":
        # An OpenCL device that is the processor needs a core for itself.
        out += [f"bench_regions_auto --plugin opencl --workers {2 if cores > 2 else 1}"]
        out += ["bench_regions_auto --plugin sim --workers 1"]
    if group == "regions_out_of_core":
        for case in ("sweep", "stencil"):
            for percent in (110, 150, 200, 400):
                for eviction in ("next_use", "lru"):
                    to = f"--case {case} --percent {percent} --eviction {eviction}"
                    out += [f"bench_regions_out_of_core {to} --ahead {ahead}" for ahead in (0, 1)]
    if group == "rodinia":
        for case in (
            "hotspot",
            "pathfinder",
            "srad",
            "gaussian",
            "lud",
            "nn",
            "bfs",
            "nw",
            "lavamd",
            "cfd",
            "particlefilter",
        ):
            out += [f"{p} --case {case} --workers 2" for p in ("bench_rodinia", "peer_rodinia_libgomp")]
        out += [f"{p} --case hotspot --workers 1" for p in ("bench_rodinia", "peer_rodinia_libgomp")]
        out += [f"peer_loop_kokkos --case hotspot --workers {w}" for w in (1, 2)]
        if large:
            for case in ("gaussian_4096 --reps 1", "lavamd_50 --reps 1 --warm 0"):
                out += [f"{p} --case {case} --workers 2" for p in ("bench_rodinia", "peer_rodinia_libgomp")]
    if group == "deepcopy":
        for n, leaf in ((1000, 100), (100000, 1000)):
            out += [f"{p} --n {n} --leaf {leaf}" for p in ("bench_deepcopy", "bench_deepcopy_by_hand")]
    if group == "comd":
        for case in ("lj_32000", "lj_256000"):
            for p in ("bench_comd", "peer_comd_libgomp", "peer_comd_libgomp --loops tessera"):
                out += [f"{p} --case {case} --workers {w}" for w in (1, 2)]
        for w in (1, 2):
            out += [f"bench_comd --case lj_32000_ways --workers {w}"]
            out += [f"peer_comd_libgomp --case lj_32000_deepcopy --workers {w}"]
            for p in ("bench_comd", "peer_comd_libgomp", "peer_comd_libgomp --loops tessera"):
                out += [f"{p} --case eam_32000 --workers {w}"]
    if group == "sparse_out_of_core":
        for percent in (25, 50, 100):
            for eviction in ("next_use", "lru", "fifo"):
                to = f"--matrix lap3d:64 --panels 256 --percent {percent} --eviction {eviction}"
                out += [f"bench_sparse_out_of_core {to}"]
        out += ["bench_sparse_out_of_core --matrix lap3d:64 --panels 256 --percent 25 --mib_per_second 256"]
    if group == "dense":
        for op in ("potrf", "gemm"):
            for n in sizes:
                reps = 3 if n <= 4096 else 1
                for workers in (1, 2):
                    out.append(f"peer_dense_blas --op {op} --n {n} --workers {workers} --reps {reps}")
                for tile in (256, 512, 1024):
                    for p in ("bench_dense", "peer_dense_starpu --sched lws"):
                        out.append(f"{p} --op {op} --n {n} --tile {tile} --workers 2 --reps {reps}")
    if group == "trace":
        out += [f"bench_trace --workers {w} --n {heavy}" for w in (1, 2)]
    if group == "graphs":
        out += ["bench_graphs"]
    if group == "batches":
        out += ["bench_batches"]
    if group == "copies":
        out += ["bench_copies"]
    if group == "contract":
        out += ["bench_contract", "bench_permute"]
    if group == "machine":
        out += ["bench_floor", "bench_fma_peak"]
    return out


def existing(commands, folder):
    """The commands whose program was built, and the names of the programs that were not."""
    have = [c for c in commands if os.access(os.path.join(folder, c.split()[0]), os.X_OK)]
    return have, sorted({c.split()[0] for c in commands} - {c.split()[0] for c in have})
