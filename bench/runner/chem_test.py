"""Tests of runner/chem.py: python3 -m unittest discover -s bench/runner -p '*_test.py'"""
import contextlib
import io
import json
import os
import sys
import tempfile
import types
import unittest
from unittest import mock

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from runner import chem  # noqa: E402

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")


def measured(values, cases):
    found = chem.Results()
    for (case, workers, program), figures in values.items():
        found.add(case, workers, program, figures)
    return {"results": found, "cases": cases, "rounds": 1, "version": "1", "skipped": []}


def told_by_tessera(**more):
    told = {
        "scf_seconds": 1,
        "rccsd_seconds": 9,
        "triples_seconds": 3,
        "ccsd_iterations": 4,
        "scf_energy": -76.0,
        "mp2_energy_correlation": -0.20,
        "ccsd_energy_correlation": -0.21,
        "triples": -0.003,
        "ccsd_history": [{"seconds": s, "processor_seconds": 2 * s} for s in (5.0, 1.0, 1.2, 1.1)],
        "planned_bytes": 3 * 1024**2,
        "blas": "OpenBLAS 0.3.21 (Zen)",
    }
    return json.dumps({**told, **more})


class Figures(unittest.TestCase):
    def test_of_tessera_leave_the_first_iteration_out(self):
        found, blas = chem.figures_of_tessera(told_by_tessera())
        self.assertEqual(found["iteration_seconds"], 1.1)
        self.assertAlmostEqual(found["transformation_seconds"], 3.9)
        self.assertEqual((found["iteration_cpu_seconds"], found["planned_mib"]), (2.2, 3))
        self.assertEqual((found["ccsd_seconds"], found["iterations"], blas), (9, 4, "OpenBLAS 0.3.21 (Zen)"))

    def test_of_tessera_without_times_of_iterations(self):
        found, _ = chem.figures_of_tessera(told_by_tessera(ccsd_history=[{"residual": 1}, {"residual": 0}]))
        self.assertNotIn("iteration_seconds", found)

    def test_of_the_peer_are_rows_and_a_line_for_its_blas(self):
        values = {"transformation_seconds": 1, "guess_seconds": 0.5, "amplitudes_seconds": 8, "peak_mib": 100}
        lines = ["\t".join(["chem", "PySCF 1", "water", "1", metric, str(v)]) for metric, v in values.items()]
        found, blas = chem.figures_of_peer("\n".join([*lines, "BLAS\tOpenBLAS (Zen)"]))
        self.assertEqual((found["ccsd_seconds"], blas), (9.5, "OpenBLAS (Zen)"))
        self.assertNotIn("peak_mib", found)

    def test_of_the_second_peer_are_rows_alone(self):
        self.assertEqual(chem.figures_of_second("chem\tNWChem\twater\t1\ttriples\t-0.003\n"), ({"triples": -0.003}, ""))


class SecondPeer(unittest.TestCase):
    def programs(self, workers, environment):
        with mock.patch.dict(os.environ, environment, clear=True):
            return [c[0] for c in chem.commands("bin", ROOT, "python3", "benzene", workers)]

    def test_runs_where_it_is_named_and_with_one_worker(self):
        self.assertIn(chem.SECOND, self.programs(1, {chem.NWCHEM: "nwchem"}))
        self.assertNotIn(chem.SECOND, self.programs(2, {chem.NWCHEM: "nwchem"}))
        self.assertNotIn(chem.SECOND, self.programs(1, {}))

    def test_has_a_table_of_its_own(self):
        values = {
            ("water", 1, chem.TESSERA): {"triples_seconds": 1.0, "triples": -0.003},
            ("water", 1, chem.SECOND): {"triples_seconds": 2.0, "triples": -0.0031},
        }
        text = chem.tables(measured(values, ["water"]))
        self.assertIn("| water | (T) | 1 | 2 | 2.00 |", text)
        self.assertIn("difference 1.0e-04", text)


class Tables(unittest.TestCase):
    def test_say_who_is_faster(self):
        values = {
            ("water", 1, chem.TESSERA): {"iteration_seconds": 0.010, "triples_seconds": 2.0, "scf_seconds": 1.00},
            ("water", 1, chem.PEER): {"iteration_seconds": 0.020, "triples_seconds": 1.0, "scf_seconds": 1.01},
        }
        text = chem.tables(measured(values, ["water"]))
        self.assertIn("- An iteration of CCSD: Tessera is faster for water (2.00)", text)
        self.assertIn("- (T): PySCF is faster for water (2.00)", text)
        self.assertIn("- SCF: equal for water (1.01)", text)
        self.assertIn("| water: an iteration of CCSD | 0.01 | at most 0.012 | 0.008 | yes | 0.02 |", text)

    def test_have_the_speed_of_two_workers(self):
        values = {
            ("benzene", 1, chem.TESSERA): {"iteration_seconds": 3.8, "triples_seconds": 60},
            ("benzene", 2, chem.TESSERA): {"iteration_seconds": 2.0, "triples_seconds": 32},
        }
        text = chem.tables(measured(values, ["benzene"]))
        self.assertIn("| benzene | an iteration of CCSD | 1.90 | at least 1.9 | yes | – |", text)
        self.assertIn("| benzene | (T) | 1.88 | at least 1.9 | no | – |", text)
        self.assertIn("| benzene: an iteration of CCSD | 3.8 | at most 3 | 2.5 | no | – |", text)

    def test_compare_energies(self):
        values = {
            ("water", 1, chem.TESSERA): {"triples": -0.0030549216},
            ("water", 1, chem.PEER): {"triples": -0.0030549215},
        }
        text = chem.tables(measured(values, ["water"]))
        self.assertIn("| water | (T) | -0.0030549216 | -0.0030549215 | -1.0e-10 |", text)

    def test_count_disturbed_runs_only_where_there_are_no_others(self):
        found = chem.Results()
        for value, disturbed in ((9, True), (8, True), (2, False), (4, False)):
            found.add("water", 1, chem.TESSERA, {"scf_seconds": value}, disturbed)
        found.add("water", 1, chem.PEER, {"scf_seconds": 7}, True)
        self.assertEqual(found.median("water", 1, chem.TESSERA, "scf_seconds"), 3)
        self.assertEqual(found.median("water", 1, chem.PEER, "scf_seconds"), 7)
        self.assertEqual((found.disturbed, found.runs), (3, 5))


class Runs(unittest.TestCase):
    def test_programs_take_what_their_own_process_took(self):
        text, why, took, _ = chem.run([sys.executable, "-c", "print('x' * 100000)"], 60)
        self.assertEqual((len(text), why), (100001, ""))
        self.assertGreater(took["peak_mib"], 1)
        self.assertGreater(took["wall_seconds"], 0)

    def test_programs_that_fail_or_hang_say_why(self):
        self.assertEqual(chem.run([sys.executable, "-c", "import sys; sys.exit('no')"], 60)[1], "exit 1: no")
        self.assertIn("longer than", chem.run([sys.executable, "-c", "import time; time.sleep(60)"], 0.2)[1])
        self.assertTrue(chem.run(["/no/such/program"], 1)[1])

    def test_a_peer_that_is_not_there_is_named(self):
        with tempfile.TemporaryDirectory() as folder, mock.patch.dict(os.environ, {chem.PYTHON: "/no/python"}):
            opt = types.SimpleNamespace(build=folder, rounds=0, cases=["water"])
            with contextlib.redirect_stderr(io.StringIO()) as said:
                m = chem.measure(opt, ROOT)
        self.assertIn("pip install pyscf", said.getvalue())
        self.assertTrue(any("Not installed" in line for line in chem.circumstances(m)))

    def test_molecules_of_all_cases_are_there_and_in_bohr(self):
        for case in chem.CASES.values():
            with open(os.path.join(ROOT, case.file)) as f:
                number, comment, *atoms = f.read().splitlines()
            self.assertIn("bohr", comment)
            self.assertEqual(int(number), len(atoms))


if __name__ == "__main__":
    unittest.main()
