"""What the machine is, and whether others are using it."""
import os
import resource
import subprocess
import time


def busy_seconds():
    """Processor seconds used by everything on the machine (time stolen by a hypervisor included)."""
    with open("/proc/stat") as f:
        v = [int(x) for x in f.readline().split()[1:9]]
    return (sum(v) - v[3] - v[4]) / os.sysconf("SC_CLK_TCK")


def own_seconds():
    """Processor seconds of the finished children of this process."""
    u = resource.getrusage(resource.RUSAGE_CHILDREN)
    return u.ru_utime + u.ru_stime


def wait_for_idle(limit, patience):
    """Waits until others use less than `limit` of the machine; False after `patience` seconds."""
    end = time.monotonic() + patience
    while True:
        busy, start = busy_seconds(), time.monotonic()
        time.sleep(0.3)
        if (busy_seconds() - busy) / (time.monotonic() - start) < limit * os.cpu_count() + 0.04:
            return True
        if time.monotonic() > end:
            return False


def ping(folder):
    """Nanoseconds of a cache line to the other core and back; None without bench_floor or a second core."""
    program = os.path.join(folder, "bench_floor")
    if not os.access(program, os.X_OK) or len(os.sched_getaffinity(0)) < 2:
        return None
    r = subprocess.run([program, "--probe", "1"], stdout=subprocess.PIPE, text=True, check=False)
    return float(r.stdout.split("\t")[5]) if r.returncode == 0 else None


def _first(path, prefix):
    try:
        with open(path) as f:
            for line in f:
                if line.startswith(prefix):
                    return line[len(prefix) :].lstrip(" \t:=").rstrip()
    except OSError:
        pass
    return ""


def facts(build):
    """Processor, cores, memory, kernel, and how the programs were built."""
    cache = os.path.join(build, "CMakeCache.txt")
    compiler = _first(cache, "CMAKE_CXX_COMPILER:FILEPATH")
    version = (
        subprocess.run(
            [compiler, "-dumpfullversion"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=False
        ).stdout.strip()
        if compiler
        else ""
    )
    model = _first("/proc/cpuinfo", "model name") or "unknown processor"
    family, number = _first("/proc/cpuinfo", "cpu family"), _first("/proc/cpuinfo", "model\t")
    return {
        "cpu": f"{model}, family {family} model {number}",
        "cores": len(os.sched_getaffinity(0)),
        "memory_gib": round(int(_first("/proc/meminfo", "MemTotal").split()[0]) / 2**20, 1),
        "virtual": "hypervisor" in _first("/proc/cpuinfo", "flags"),
        "kernel": os.uname().release,
        "compiler": f"{os.path.basename(compiler)} {version}".strip(),
        "build_type": _first(cache, "CMAKE_BUILD_TYPE:STRING"),
        "openblas_coretype": os.environ.get("OPENBLAS_CORETYPE", ""),
    }
