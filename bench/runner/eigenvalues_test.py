"""Tests of runner/eigenvalues.py and known_spectra.py."""
import json
import os
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from runner import eigenvalues, known_spectra  # noqa: E402

PROBLEM = known_spectra.Problem("two", ["two.mtx"], {"smallest": [1.0, 1.0]}, 1e-12)


def figures(*values, converged=True, bound=1e-9, orthogonality=1e-15):
    pairs = [{"value": v, "error_bound": bound, "converged": converged, "at_rounding": False} for v in values]
    return {
        "eigenvalues": pairs,
        "converged": converged,
        "orthogonality": orthogonality,
        "norm": 4.0,
        "n": 100,
        "iterations": 7,
        "solver": "lobpcg",
    }


def outcome(told, problem=PROBLEM):
    return eigenvalues.Outcome(problem, "smallest", told, "", 0.5)


class Verdicts(unittest.TestCase):
    def test_a_value_within_its_bound_is_right(self):
        self.assertEqual(outcome(figures(1.0, 1 + 9e-10)).verdict, "right")

    def test_a_missed_copy_of_a_double_eigenvalue_is_wrong(self):
        missed = outcome(figures(1.0, 1.5))
        self.assertEqual(missed.verdict, "wrong")
        self.assertIn("value 2 is 1.5, not 1", missed.text())

    def test_what_has_not_converged_is_not_wrong(self):
        self.assertEqual(outcome(figures(1.0, 1.5, converged=False)).verdict, "open")
        self.assertEqual(outcome(None).verdict, "open")

    def test_a_value_that_is_no_number_is_wrong(self):
        self.assertEqual(outcome(figures(1.0, float("nan"))).verdict, "wrong")

    def test_vectors_that_are_not_orthogonal_are_wrong(self):
        self.assertEqual(outcome(figures(1.0, 1.0, orthogonality=1e-3)).verdict, "wrong")

    def test_errors_are_relative_to_the_norm_where_zero_is_known(self):
        problem = known_spectra.Problem("zero", ["z.mtx"], {"smallest": [0.0]}, 0.0)
        self.assertEqual(outcome(figures(2e-10), problem).error, 0.5e-10)

    def test_errors_are_told_in_units_of_rounding(self):
        rounding = 10 * sys.float_info.epsilon * 10 * 4.0
        problem = known_spectra.Problem("zero", ["z.mtx"], {"smallest": [0.0]}, 0.0)
        self.assertAlmostEqual(outcome(figures(3 * rounding), problem).by_rounding, 3)
        self.assertIsNone(outcome(figures(3 * rounding, converged=False), problem).by_rounding)


class FakeRunner:
    """Answers by the words of a command, and keeps them."""

    def __init__(self, answers):
        self.answers, self.asked = answers, []

    def run(self, problem, end, words):
        self.asked.append(words)
        told = next((f for word, f in self.answers.items() if word in words), figures(1.0, 1.0))
        return eigenvalues.Outcome(problem, end, told, "" if told else "longer than 1 s", 0.1)

    def words_of(self, place, on_host):
        return ["--workers", place.split()[0]] if "worker" in place else ["--at", place]


class Rows(unittest.TestCase):
    def test_options_that_help_are_named_and_used_everywhere(self):
        class Helped(FakeRunner):
            def run(self, problem, end, words):
                done = super().run(problem, end, words)
                return done if "block-jacobi" in words else outcome(figures(1.0, 1.0, converged=False))

        runner = Helped({})
        row = eigenvalues.checked(runner, PROBLEM, "smallest", "lobpcg", ["1 worker", "2 workers", "opencl"])
        self.assertEqual(row["options"], ["--precond", "block-jacobi", "--block", "16"])
        self.assertEqual(row["without_options"].verdict, "open")
        self.assertEqual(list(row["places"]), ["1 worker", "2 workers", "opencl"])
        self.assertTrue(all("block-jacobi" in words for words in runner.asked[1:]))
        self.assertFalse(row["mistakes"])

    def test_a_small_matrix_may_be_solved_as_a_dense_one(self):
        class Dense(FakeRunner):
            def run(self, problem, end, words):
                done = super().run(problem, end, words)
                return done if "34" in words else outcome(figures(1.0, 1.0, converged=False))

        row = eigenvalues.checked(Dense({}), PROBLEM, "smallest", "lobpcg", ["2 workers"])
        self.assertEqual(row["options"], ["--block", "34"])  # of 100 rows

    def test_other_bits_with_another_number_of_workers_are_a_mistake(self):
        runner = FakeRunner({"1": figures(1.0, 1 + 2.3e-16)})
        row = eigenvalues.checked(runner, PROBLEM, "smallest", "lanczos", ["1 worker", "2 workers"])
        self.assertIn("bits", row["mistakes"][0])
        self.assertIn("1 wrong", eigenvalues.summary([row]))

    def test_what_is_not_solved_counts_for_each_place(self):
        runner = FakeRunner({"opencl": figures(1.0, 1.5, converged=False), "sim, out of core": None})
        row = eigenvalues.checked(runner, PROBLEM, "smallest", "lanczos", eigenvalues.PLACES)
        self.assertIn(
            "Not solved: 0 of 1 (1 worker), 0 of 1 (2 workers), 1 of 1 (sim, out of core), 1 of 1 (opencl).",
            eigenvalues.summary([row]),
        )

    def test_options_of_the_problem_are_not_given_twice(self):
        problem = known_spectra.Problem("p", ["p.mtx", "--block", "16"], {"smallest": [1.0, 1.0]}, 0)
        runner = FakeRunner({"--solver": figures(1.0, 1.5, converged=False)})
        eigenvalues.checked(runner, problem, "smallest", "lobpcg", ["2 workers"])
        self.assertFalse([words for words in runner.asked if "--block" in words])

    def test_mistakes_on_a_device_are_told_with_the_place(self):
        runner = FakeRunner({"opencl": figures(1.0, 2.0)})
        row = eigenvalues.checked(runner, PROBLEM, "smallest", "lanczos", ["2 workers", "opencl"])
        self.assertEqual(row["mistakes"], ["opencl: value 2 is 2, not 1"])
        self.assertIn("1 with an error of more than rounding", eigenvalues.summary([row]))
        self.assertIn("WRONG", eigenvalues.markdown([row]))
        json.dumps(eigenvalues.data([row]), allow_nan=False)


class Spectra(unittest.TestCase):
    def test_formulas(self):
        self.assertAlmostEqual(known_spectra.laplacian(2, 1)[0], 4)
        self.assertEqual([round(v, 12) for v in known_spectra.xx_chain(2)], [-0.5, 0.5])
        ring = known_spectra.haldane_shastry(8)
        self.assertEqual(len(ring), 70)
        self.assertAlmostEqual(ring[0], -3.5468890816414875, 12)
        self.assertAlmostEqual(ring[1], ring[2], 12)

    def test_a_folder_gives_what_the_table_knows(self):
        with tempfile.TemporaryDirectory() as folder:
            table, graph = os.path.join(folder, "known.json"), os.path.join(folder, "path.mtx")
            for name in ("path", "stranger"):
                with open(os.path.join(folder, name + ".mtx"), "w") as f:
                    f.write("%%MatrixMarket matrix coordinate pattern symmetric\n3 3 3\n2 1\n3 2\n3 3\n")
            path = {"graph": True, "lowest": [0, 1], "highest": [3], "accuracy": 0}
            with open(table, "w") as f:
                json.dump({"problems": {"path": path, "elsewhere": path}}, f)
            (problem,), unknown = known_spectra.of_folder(folder, table, folder)
            self.assertEqual(unknown, ["stranger"])
            self.assertEqual(problem.ends["largest"], [3])
            self.assertNotEqual(problem.words, [graph])
            with open(problem.words[0]) as f:
                self.assertEqual(f.read().splitlines()[1:], ["3 3 5", "1 1 1", "2 2 2", "3 3 1", "2 1 -1", "3 2 -1"])


class Program(unittest.TestCase):
    def test_names_what_is_missing(self):
        program = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "eigenvalues.py")
        missing = [(["/no/folder"], "/no/folder"), (["--build", "/no/build"], "/no/build/bin/tessera")]
        with tempfile.TemporaryDirectory() as folder:  # with a program that is never run
            os.makedirs(os.path.join(folder, "bin"))
            os.symlink(sys.executable, os.path.join(folder, "bin", "tessera"))
            for option in ("--json", "--html"):
                missing.append((["--build", folder, option, "/no/folder/file"], "/no/folder/file"))
            self.refuses(program, missing)

    def refuses(self, program, missing):
        for words, place in missing:
            done = subprocess.run([sys.executable, program, *words], capture_output=True, text=True, check=False)
            self.assertEqual(done.returncode, 1)
            self.assertIn(f"at: {place}\n  hint: ", done.stderr)
            self.assertNotIn("Traceback", done.stderr)


if __name__ == "__main__":
    unittest.main()
