#!/usr/bin/env python3
"""PySCF's RHF, MP2, CCSD and (T) of a molecule, each timed by itself.

chem_pyscf.py FILE CASE BASIS FROZEN WORKERS; FILE is an XYZ file in bohr, FROZEN the number of orbitals that are not
correlated. The thresholds are those that `tessera chem` has by default; everything else is PySCF's default: vectors of
DIIS and sorted integrals of (T) go through files in the folder for temporary ones, for example.

iteration_seconds is the median time from one update of the amplitudes to the next, so the integral transformation
and the first iteration have no part in it. A line `BLAS`, a tab, and the libraries with their kernel sets.
"""
import ctypes
import os
import re
import resource
import statistics
import sys
import time

path, case, basis, frozen, workers = sys.argv[1:6]
os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = workers  # before the libraries are loaded
import pyscf  # noqa: E402
from pyscf import cc, gto, scf  # noqa: E402
from pyscf.cc import ccsd  # noqa: E402


def tell(metric, value, form=".6g"):
    print("chem", f"PySCF {pyscf.__version__}", case, workers, metric, format(value, form), sep="\t")


def atoms(name):
    with open(name) as f:
        lines = f.read().splitlines()
    return [(word[0], tuple(map(float, word[1:4]))) for word in (line.split() for line in lines[2 : 2 + int(lines[0])])]


def timed(metric, call):
    wall, cpu = time.perf_counter(), time.process_time()
    made = call()
    tell(f"{metric}_seconds", time.perf_counter() - wall)
    tell(f"{metric}_cpu_seconds", time.process_time() - cpu)
    return made


def described(library):
    """The version and kernel set of an OpenBLAS, whose names a package may have given other ends."""
    loaded = ctypes.CDLL(library)
    for before, behind in (("", ""), ("", "64_"), ("scipy_", ""), ("scipy_", "64_")):
        try:
            core = getattr(loaded, f"{before}openblas_get_corename{behind}")
            config = getattr(loaded, f"{before}openblas_get_config{behind}")
        except AttributeError:
            continue
        core.restype = config.restype = ctypes.c_char_p
        version = re.search(r"OpenBLAS ([\d.]*\d)", config().decode())
        version = version or re.search(r"(\d+\.\d+\.\d+)\.so$", library)  # old ones: in the file's name alone
        return f"OpenBLAS {version[1] if version else 'of unknown version'} ({core().decode()})"
    return os.path.basename(library)


def blas():
    """The BLAS libraries that this process has loaded, and whose they are."""
    with open("/proc/self/maps") as f:
        mapped = {line.split(maxsplit=5)[5].strip() for line in f if "/" in line}
    found = []
    for library in sorted(p for p in mapped if re.match(r"lib\w*blas", os.path.basename(p))):
        folders = os.path.dirname(library).split(os.sep)[-2:]
        names = {folder.split(".")[0] for folder in folders}
        owner = next((who for who in ("PySCF", "NumPy", "SciPy") if who.lower() in names), "")
        found.append(f"{owner}'s {described(library)}" if owner else described(library))
    return ", ".join(found) or "unknown"


molecule = gto.M(atom=atoms(path), unit="bohr", basis=basis, verbose=0)
field = scf.RHF(molecule)
field.conv_tol, field.conv_tol_grad = 1e-10, 1e-8
timed("scf", field.kernel)
coupled = cc.CCSD(field, frozen=int(frozen) or None)
coupled.conv_tol, coupled.conv_tol_normt = 1e-9, 1e-7
integrals = timed("transformation", coupled.ao2mo)
second_order, singles, doubles = timed("guess", lambda: coupled.init_amps(integrals))
updated = []  # when and after how much processor time


def update(_):
    updated.append((time.perf_counter(), time.process_time()))


coupled.converged, coupled.e_corr, coupled.t1, coupled.t2 = timed(
    "amplitudes",
    lambda: ccsd.kernel(
        coupled,
        integrals,
        singles,
        doubles,
        max_cycle=coupled.max_cycle,
        tol=coupled.conv_tol,
        tolnormt=coupled.conv_tol_normt,
        verbose=0,
        callback=update,
    ),
)
if not (field.converged and coupled.converged):
    sys.exit("error: PySCF has not converged")
steps = [(b[0] - a[0], b[1] - a[1]) for a, b in zip(updated, updated[1:])]
if steps:
    tell("iteration_seconds", statistics.median(wall for wall, _ in steps))
    tell("iteration_cpu_seconds", statistics.median(cpu for _, cpu in steps))
triples = timed("triples", lambda: coupled.ccsd_t(eris=integrals))
tell("iterations", len(updated))
tell("scf_energy", field.e_tot, ".12f")
tell("mp2_correlation", second_order, ".12f")
tell("ccsd_correlation", coupled.e_corr, ".12f")
tell("triples", triples, ".12f")
tell("peak_mib", resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
print("BLAS", blas(), sep="\t")
