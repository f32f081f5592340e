"""Files for results."""
import contextlib
import io
import json
import os
import tempfile
import unittest

from runner import results


class Files(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = folder.name

    def test_are_looked_at_before_and_stay_as_they_are(self):
        path = os.path.join(self.root, "rows.tsv")
        results.require_writable(path)
        self.assertFalse(os.path.exists(path))
        with open(path, "w") as f:
            f.write("kept")
        results.require_writable(path)
        with open(path) as f:
            self.assertEqual(f.read(), "kept")

    def test_that_cannot_be_written_are_told_with_a_hint(self):
        for path in (self.root, os.path.join(self.root, "no", "folder")):
            with self.assertRaises(SystemExit) as refused:
                results.require_writable(path)
            self.assertIn(f"at: {path}", str(refused.exception))
            self.assertIn("hint: ", str(refused.exception))

    def test_are_a_page_and_figures(self):
        machine = {"cpu": "a", "cores": 2, "virtual": False, "memory_gib": 1, "kernel": "6"}
        machine.update({"build_type": "Release", "compiler": "g", "openblas_coretype": ""})
        origin = {"date": "today", "revision": "1", "command": "measure", "machine": machine}
        with contextlib.redirect_stdout(io.StringIO()):
            results.publish(self.root, True, "one", origin, "| table |", "Notes.", {"results": [1]})
        page, figures = results.files(self.root, "one")
        with open(page) as f:
            text = f.read()
        self.assertTrue(text.startswith("# Measured: one") and "| table |" in text and text.endswith("Notes.\n"), text)
        with open(figures) as f:
            self.assertEqual(json.load(f)["results"], [1])


if __name__ == "__main__":
    unittest.main()
