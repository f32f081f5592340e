// Short programs as a user meets them: whole processes, from their start to their end, with nothing settled before.
//
//   bench_cold [--workers 2 --width 8 --task_us 10 --reps 21 --from 20 --to 100]
//
// Every program computes the same stencil of compute-bound tasks (bench/common/stencil.hpp) that takes 20 to 100 ms
// when it is spread over all workers without any cost. They take turns, so that a drift of the machine's speed touches
// all alike. Printed: the median, and the ratio of the defaults to the program whose main thread was bound by hand,
// pair by pair.
#include <spawn.h>
#include <sys/wait.h>

#include <fstream>
#include <map>

#include "bench/common/stencil.hpp"

extern char** environ;

namespace {

struct peer {
  const char* name;
  std::vector<std::string> words;  ///< the program, in the folder of this one, and what it is told beside the size
};

std::string folder() {
  char path[4096];
  const ssize_t length = readlink("/proc/self/exe", path, sizeof path);
  const std::string self(path, length > 0 ? std::size_t(length) : 0);
  return self.substr(0, self.rfind('/') + 1);
}

/// Seconds from the start of a process to its end.
double run(const std::vector<std::string>& words) {
  std::vector<char*> argv;
  for (const std::string& w : words) argv.push_back(const_cast<char*>(w.c_str()));
  argv.push_back(nullptr);
  pid_t child = 0;
  int status = 0;
  const double t0 = bench::now();
  if (posix_spawn(&child, argv[0], nullptr, nullptr, argv.data(), environ) != 0)
    bench::fail("cannot start " + words[0]);
  if (waitpid(child, &status, 0) != child || status != 0) bench::fail(words[0] + " failed");
  return bench::now() - t0;
}

}  // namespace

int main(int argc, char** argv) {
  const bench::arguments args(argc, argv, {"workers", "width", "task_us", "reps", "from", "to"});
  const long workers = args.number("workers", 2), width = args.number("width", 8), reps = args.number("reps", 21);
  const long task_us = args.number("task_us", 10), from = args.number("from", 20), to = args.number("to", 100);
  if (workers < 1 || width < 2 || width > 4096 || reps < 1 || task_us < 1 || from < 1 || to < from) {
    std::fprintf(
        stderr,
        "--workers, --task_us, --reps and --from start at 1, --width is from 2 to 4096, --to is not below --from\n");
    return 2;
  }
  const std::vector<peer> all{{"Tessera", {"bench_tasks"}},
                              {"Tessera bound by hand", {"bench_tasks", "--pin", "1"}},
                              {"OpenMP libomp", {"peer_task_libomp"}},
                              {"OpenMP libgomp", {"peer_task_libgomp"}},
                              {"StarPU lws", {"peer_task_starpu"}}};
  std::vector<peer> peers;
  for (const peer& p : all)
    if (std::ifstream(folder() + p.words[0]).good()) peers.push_back(p);
  const double per_iteration = bench::seconds_per_iteration(int(workers));
  const long iterations = std::max(1L, long(double(task_us) * 1e-6 / per_iteration));
  for (long ms = from; ms <= to; ms = ms < to && ms * 5 > to ? to : ms * 5) {
    const long steps = std::max(1L, ms * 1000 * workers / (task_us * width));
    std::map<std::string, std::vector<double>> seconds;
    for (long rep = 0; rep < reps; ++rep)
      for (const peer& p : peers) {
        std::vector<std::string> words = p.words;
        words[0] = folder() + words[0];
        for (const auto& [key, value] : {std::pair{"--case", std::string("cold")},
                                         {"--workers", std::to_string(workers)},
                                         {"--width", std::to_string(width)},
                                         {"--steps", std::to_string(steps)},
                                         {"--iterations", std::to_string(iterations)}}) {
          words.emplace_back(key);
          words.push_back(value);
        }
        seconds[p.name].push_back(run(words));
      }
    const std::string kase = "cold_" + std::to_string(ms) + "ms";
    for (const peer& p : peers)
      bench::row("waits", p.name, kase, int(workers), "process_ms", 1e3 * bench::median(seconds[p.name]));
    std::vector<double> ratios;
    for (std::size_t k = 0; k < seconds["Tessera"].size(); ++k)
      ratios.push_back(seconds["Tessera"][k] / seconds["Tessera bound by hand"][k]);
    bench::row("waits", "Tessera", kase, int(workers), "ratio_to_bound_by_hand", bench::median(ratios));
    if (ms == to) break;
  }
}
