"""Tests of runner/table.py, jobs.py, spill.py, sial.py and sparse.py: python3 -m unittest discover -s bench/runner -p
'*_test.py'"""
import os
import stat
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from runner import jobs, sial, sparse, spill, table  # noqa: E402


def row(runtime, value, others=0.0, ping=100.0, case="dag", suite="tasks", metric="ns_per_task", workers=2):
    return (suite, runtime, case, workers, metric, value, others, ping)


class Summary(unittest.TestCase):
    def test_median_of_undisturbed_runs_only(self):
        (e,) = table.summarize([row("A", 1), row("A", 3), row("A", 2), row("A", 99, others=0.5)], 0.03)
        self.assertEqual((e["median"], e["min"], e["max"], e["runs"], e["noisy"]), (2, 1, 3, 3, False))

    def test_all_runs_when_every_one_was_disturbed(self):
        (e,) = table.summarize([row("A", 10, others=0.2), row("A", 30, others=0.4)], 0.03)
        self.assertEqual((e["median"], e["runs"], e["noisy"]), (20, 2, True))

    def test_ratio_to_tessera_of_the_same_case(self):
        entries = table.summarize([row("Tessera", 200), row("B", 500), row("B", 50, workers=1)], 0.03)
        self.assertEqual([e["ratio"] for e in entries], [1, 2.5, None])
        self.assertEqual([e["goal"] for e in entries], [450, None, None])

    def test_untiled_peer_is_compared_with_the_best_tile(self):
        rates = {"suite": "dense", "metric": "gflops"}
        entries = table.summarize(
            [
                row("Tessera Zen", 40, case="gemm_n64_tile8", **rates),
                row("Tessera Zen", 50, case="gemm_n64_tile16", **rates),
                row("OpenBLAS Zen", 60, case="gemm_n64", **rates),
            ],
            0.03,
        )
        self.assertAlmostEqual(entries[2]["ratio"], 1.2)

    def test_goals_of_applications_come_from_the_better_peer(self):
        times = {"suite": "rodinia", "case": "nn_10M", "metric": "milliseconds"}
        entries = table.summarize([row("Tessera", 10, **times), row("A", 19, **times), row("B", 9.5, **times)], 0.03)
        self.assertEqual([e["goal"] for e in entries], [10, None, None])

    def test_goals_of_triads_come_from_the_best_triad(self):
        rates = {"suite": "regions", "metric": "gigabytes_per_s"}
        entries = table.summarize(
            [
                row("Tessera", 40, case="triad", **rates),
                row("A", 50, case="triad", **rates),
                row("A", 100, case="triad_alone", **rates),
                row("Tessera", 40, case="copy", **rates),
            ],
            0.03,
        )
        self.assertEqual([e["goal"] for e in entries], [97, None, None, None])

    def test_geometric_mean_against_the_better_peers_without_variants(self):
        times = {"suite": "rodinia", "metric": "milliseconds"}
        rows = [row("Tessera", 10, case=case, **times) for case in ("a", "b", "b_scan")]
        rows += [row("A", 40, case="a", **times), row("A", 5, case="b", **times), row("B", 80, case="a", **times)]
        rows += [row("A", 1, case="b_scan", **times)]
        last = table.against_peers(table.summarize(rows, 0.03)).splitlines()[-1]
        self.assertEqual(last, "| 2 | 2 | 1.41 | 1 | 0.50 (b) | 0.95 | b 0.50 |")
        self.assertEqual(table.against_peers(table.summarize([row("Tessera", 1)], 0.03)), "")

    def test_rates_at_a_power_of_two_are_compared_with_those_beside_it(self):
        rates = {"workers": 1, "metric": "gigabytes_per_s"}
        beside = f"n{table.BESIDE}_dot"
        rows = [row("Tessera", 30, case="dot", **rates), row("Tessera", 40, case=beside, **rates)]
        rows += [row("A", 40, case="dot", **rates), row("A", 40, case=beside, **rates),
                 row("B", 9, case="dot", **rates)]
        lines = table.at_powers_of_two(table.summarize(rows, 0.03)).splitlines()
        self.assertEqual(lines[-2:], ["| dot | 1 | Tessera | 0.75 | 0.95 |", "| dot | 1 | A | 1.00 |  |"])
        self.assertEqual(table.at_powers_of_two(table.summarize([row("Tessera", 1)], 0.03)), "")

    def test_missing_ping(self):
        (e,) = table.summarize([row("A", 1, ping=None)], 0.03)
        self.assertIsNone(e["ping_ns"])

    def test_table_puts_the_best_first(self):
        text = table.markdown(table.summarize([row("Slow", 9), row("Tessera", 3)], 0.03)).splitlines()
        self.assertEqual(len(text), 4)
        self.assertIn("**Tessera**", text[2])
        rates = table.summarize([row("Slow", 3, metric="gflops"), row("Fast", 9, metric="gflops")], 0.03)
        self.assertIn("Fast", table.markdown(rates).splitlines()[2])


class Spill(unittest.TestCase):
    DISK = [
        ("fio", "disk_block2048K_direct", "write_mib_per_s", 200.0),
        ("fio", "disk_block2048K_direct", "read_mib_per_s", 400.0),
        ("fio", "disk_block2048K_direct", "first_write_mib_per_s", 100.0),
        ("plugin disk", "disk_block2048K_direct", "read_mib_per_s", 900.0),
        ("pwrite", "disk_block2048K_cached", "read_mib_per_s", 4000.0),
    ]

    def job(self, name):
        mib = 1 << 20
        return [
            ("Tessera", name, metric, value)
            for metric, value in (
                ("seconds", 3.0),
                ("bytes_in", 400.0 * mib),
                ("bytes_out", 200.0 * mib),
                ("bound_in", 300.0 * mib),
                ("bound_out", 0.0),
                ("io_uring", 1.0),
            )
        ]

    def test_time_against_the_best_rate_of_others_and_the_same_way(self):
        (e,) = spill.jobs_of(spill.collect([self.DISK + self.job("stream_direct")]))
        self.assertEqual((e["disk_seconds"], e["time_over_disk"], e["bytes_over_bound"]), (2.0, 1.5, 2.0))

    def test_untouched_disks_are_compared_with_a_first_writing(self):
        (e,) = spill.jobs_of(spill.collect([self.DISK + self.job("write_first_direct")]))
        self.assertEqual(e["disk_seconds"], 3.0)

    def test_medians_over_rounds(self):
        rounds = [[("fio", "disk_direct", "read_mib_per_s", v)] for v in (1.0, 9.0, 2.0)]
        self.assertEqual(spill.collect(rounds)[("fio", "disk_direct")]["read_mib_per_s"], 2.0)


class Sial(unittest.TestCase):
    def setUp(self):
        # Times of which the figures are round: 4^6 products of blocks of 16^4, and 8^6 of 6^4.
        flops = {16: 2.0 * 4**6 * 16**6, 6: 2.0 * 8**6 * 6**6}
        seconds = {f"{case} {w}": 1.0 / w for case in sial.CASES for w in (1, 2)}
        for extent in (16, 6):
            seconds[f"contract_e{extent} 1"] = flops[extent] / 20e9
        seconds["smallput 1"] = 0.8
        self.measured = {
            "seconds": seconds,
            "dgemm": {16: 40.0, 6: 25.0},
            "by_hand": {16: seconds["contract_e16 1"] / 2, 6: seconds["contract_e6 1"] - 8**6 * 1e-6},
            "spill": {
                f"{case} {name}": [2.0 if name == "in memory" else 3.0, 0.5, 0.25]
                for case in sial.SPILLS
                for name in ("in memory", "look-ahead 4", "look-ahead 0")
            },
            "placed": {
                f"{m} {s} {d}": [1.0 if d == "never" else 1.5, 7.0]
                for m in sial.MACHINES
                for s in sial.SEGMENTS
                for d in ("never", "best")
            },
        }

    def rows(self):
        rows = [
            [cell.strip() for cell in line.strip("|").split("|")]
            for line in sial.tables(self.measured).splitlines()
            if line.startswith("| ")
        ]
        return {(row[0], row[1]): row for row in rows}

    def test_contractions_against_dgemm_and_the_program_by_hand(self):
        rows = self.rows()
        self.assertEqual(rows["contract", "16"][2:5], ["20.0", "40.0", "0.50"])
        self.assertEqual(rows["contract", "16"][7], "0.50")
        self.assertEqual(rows["contract", "6"][4], "0.80")
        self.assertEqual(rows["contract", "6"][6], "1.00")  # a microsecond per inner iteration
        self.assertEqual(rows["contract_perm", "6"][6:8], ["", ""])

    def test_puts_spills_and_places(self):
        rows = self.rows()
        self.assertEqual(rows["smallput", "us per get or put of a block of one element, each another"][2], "1.00")
        self.assertIn(["3.00", "1.50", "50%", "0.25"], [row[2:] for row in rows.values()])
        self.assertEqual(rows["sim_one", "6"][2:], ["46656", "1.000", "1.500", "1.50", "7"])

    def test_every_row_is_as_wide_as_its_head(self):
        width = None
        for line in sial.tables(self.measured).splitlines():
            if not line.startswith("|"):
                width = None
            elif width is None:
                width = line.count("|")
            else:
                self.assertEqual(line.count("|"), width, line)


class Jobs(unittest.TestCase):
    def test_every_group_measures_something(self):
        for group in jobs.GROUPS:
            self.assertTrue(jobs.jobs_of(group, 1000, [64]), group)

    def test_large_cases_and_cores_for_auto(self):
        self.assertIn("peer_rodinia_libgomp --case lavamd_50", " ".join(jobs.jobs_of("rodinia", 1, [], large=True)))
        self.assertNotIn("lavamd_50", " ".join(jobs.jobs_of("rodinia", 1, [])))
        self.assertIn("bench_regions_auto --plugin opencl --workers 2", jobs.jobs_of("auto", 1, [], cores=4))
        self.assertIn("bench_regions_auto --plugin opencl --workers 1", jobs.jobs_of("auto", 1, [], cores=2))

    def test_programs_that_were_not_built_are_named(self):
        with tempfile.TemporaryDirectory() as folder:
            program = os.path.join(folder, "bench_tasks")
            with open(program, "w"):
                pass
            os.chmod(program, stat.S_IRWXU)
            have, missing = jobs.existing(["bench_tasks --n 1", "peer_x --n 2", "peer_x --n 3"], folder)
        self.assertEqual((have, missing), (["bench_tasks --n 1"], ["peer_x"]))


class Panels(unittest.TestCase):
    def test_chosen_panels_are_compared_with_the_best(self):
        found = sparse.Results()
        times = {0: 11, 1024: 30, 2048: 20, 4096: 10, 65536: 40}  # the others took too long
        rows = [("Tessera", "lap3d:60_b8", f"milliseconds_panel_{n}", ms) for n, ms in times.items()]
        found.add(rows, "", [])
        measured = {"results": found, "matrices": ["lap3d:60@8"], "parts": ["panels"]}
        (row,) = [line for line in sparse.tables(measured).splitlines() if line.startswith("| lap3d:60_b8")]
        self.assertEqual(row, "| lap3d:60_b8 | 11 | 30 | 20 | 10 | – | – | – | 40 | 4K | 1.10 |")


if __name__ == "__main__":
    unittest.main()
