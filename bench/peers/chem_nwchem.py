#!/usr/bin/env python3
"""NWChem's RHF, CCSD and (T) of a molecule, by its segmented program for closed shells, on one process.

chem_nwchem.py PROGRAM FILE CASE BASIS FROZEN; FILE is an XYZ file in bohr, FROZEN the number of orbitals that are not
correlated. Symmetry is off, as in the other programs. The threshold of its amplitudes is 1e-8, so that energies are
right to 1e-9 hartree; everything else is NWChem's default: amplitudes and integrals of (T) go through files. Debian has
it (`apt install nwchem`).

iteration_seconds is the median of its own times for the iterations but the first, whole hundredths of a second.
"""
import os
import re
import statistics
import subprocess
import sys
import tempfile

program, path, case, basis, frozen = sys.argv[1:6]
NUMBER = r"\s+(-?[\d.]+(?:[DE][+-]\d+)?)"


def number(text):
    return float(text.replace("D", "E"))


def tell(metric, value, form=".6g"):
    print("chem", "NWChem", case, "1", metric, format(value, form), sep="\t")


def value_of(what, text):
    found = re.findall(what + NUMBER, text)
    if not found:
        sys.exit(f"error: NWChem does not tell what follows '{what}'")
    return number(found[-1])


def task():
    with open(path) as f:
        lines = f.read().splitlines()
    atoms = "\n".join("  " + " ".join(line.split()[:4]) for line in lines[2 : 2 + int(lines[0])])
    core = f"  freeze core {frozen}\n" if int(frozen) else ""
    return f"""start job
memory total 4000 mb
geometry units bohr noautosym nocenter noautoz
{atoms}
end
basis spherical
  * library {basis}
end
scf
  thresh 1e-8
end
ccsd
{core}  thresh 1e-8
end
task ccsd(t) energy
"""


with tempfile.TemporaryDirectory() as folder:
    with open(os.path.join(folder, "job.nw"), "w") as f:
        f.write(task())
    done = subprocess.run(
        [program, "job.nw"], cwd=folder, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False
    )
text = done.stdout
if done.returncode != 0:
    sys.exit(f"error: NWChem has ended with {done.returncode}: {(text + done.stderr).strip()[-200:]}")
if "*converged*" not in text:
    sys.exit("error: NWChem has not converged")
table = text[text.index("Main\n") : text.index("*converged*")]
row = re.compile(r"^ +(\d+)" + NUMBER * 5 + r"\s+[\d.]+$", re.MULTILINE)
steps = [number(r[4]) + number(r[5]) for r in row.findall(table)]  # of the doubles and of the others
if len(steps) > 1:
    tell("iteration_seconds", statistics.median(steps[1:]))
tell("iterations", len(steps))
tell("scf_seconds", value_of("Time for solution =", text))
passes = re.findall(r"Time for (?:integral|triples) evaluation pass\s+\d+" + NUMBER, text)
tell("triples_seconds", sum(map(number, passes)))
tell("scf_energy", value_of("Total SCF energy =", text), ".12f")
tell("ccsd_correlation", value_of("CCSD corr. energy:", text), ".12f")
tell("triples", value_of(r"\n \(T\) corr. energy:", text), ".12f")
