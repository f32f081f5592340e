// Overhead of tasks in Tessera, in the cases and the rows of the peers' programs.
//
//   bench_tasks --case independent|chain|dag|heat|submit|stencil|cold|view|metadata|idle --workers 2 --n 1000000
//   [--check 1]
//               [--width 8 --reps 3 --recorded 0 --replays 2]
//   bench_tasks --case cold --workers 2 --width 8 --steps 100 --iterations 1000 [--pin 1]     see bench_cold
#include "bench/common/measure.hpp"
#include "bench/tasks/cases.hpp"

int main(int argc, char** argv) {
  const bench::arguments args(
      argc, argv,
      {"case", "workers", "n", "check", "width", "reps", "recorded", "replays", "steps", "iterations", "pin"});
  const std::string kase = args.text("case", "dag");
  bench::case_options o;
  o.workers = int(args.number("workers", o.workers));
  o.n = args.number("n", o.n);
  o.check = args.number("check", 0) != 0;
  o.width = args.number("width", o.width);
  o.reps = args.number("reps", o.reps);
  o.replays = args.number("replays", o.replays);
  o.steps = args.number("steps", o.steps);
  o.iterations = args.number("iterations", o.iterations);
  o.bound_by_hand = args.number("pin", 0) != 0;
  o.recorded = args.number("recorded", 0) != 0;
  if (o.workers < 1 || o.n < 1 || o.width < 2 || o.width > 4096 || o.reps < 1 || o.replays < 2) {
    std::fprintf(stderr, "--workers, --n and --reps start at 1, --replays at 2, --width is from 2 to 4096\n");
    return 2;
  }
  try {
    if (kase == "independent" || kase == "chain" || kase == "dag")
      bench::overhead_case(kase, o);
    else if (kase == "heat")
      bench::heat_case(o);
    else if (kase == "submit")
      bench::submit_case(o);
    else if (kase == "stencil")
      bench::stencil_case(o);
    else if (kase == "cold")
      bench::cold_case(o);
    else if (kase == "view")
      bench::view_case(o);
    else if (kase == "metadata")
      bench::metadata_case(o);
    else if (kase == "idle")
      bench::idle_case(o);
    else {
      std::fprintf(stderr,
                   "unknown case '%s': independent, chain, dag, heat, submit, stencil, cold, view, metadata, idle\n",
                   kase.c_str());
      return 2;
    }
    return 0;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
}
