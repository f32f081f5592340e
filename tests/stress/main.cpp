// Random cases against a sequential oracle, each in a process of its own; see README.md.
#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <random>
#include <string>
#include <vector>

#include "tests/stress/case.hpp"

namespace {

using namespace tessera::stress;
using clock_type = std::chrono::steady_clock;

struct options {
  double minutes = 0;
  std::uint64_t seed = 0, cases = 0, limit_seconds = 120;
  limits most;
  bool one = false;
};

/// A case in this process. Nothing of it is torn down when it is wrong: a wrong runtime may hang in its end.
int run_here(const options& o) {
  try {
    const std::string wrong = run_case(o.seed, o.most);
    if (wrong.empty()) return 0;
    fmt::print(stderr, "{}\n", wrong);
  } catch (const std::exception& e) {
    fmt::print(stderr, "{}\n", e.what());
  }
  std::fflush(stderr);
  _exit(1);
}

/// What became of a case in a process of its own; empty: all is well.
std::string run_in_child(const options& o, std::uint64_t seed, std::uint64_t operations) {
  const std::string seed_text = std::to_string(seed), count = std::to_string(operations);
  const std::string self = std::filesystem::read_symlink("/proc/self/exe");
  int err[2];
  if (pipe2(err, O_CLOEXEC) != 0) return "no pipe";
  const pid_t child = fork();
  if (child < 0) return "fork failed";
  if (child == 0) {
    dup2(err[1], STDERR_FILENO);
    const char* const nodes = o.most.two_memories ? "--two-memories" : nullptr;
    execl(self.c_str(), "stress", "--one", "--seed", seed_text.c_str(), "--operations", count.c_str(), nodes, nullptr);
    _exit(127);
  }
  close(err[1]);
  std::string said;
  pollfd from{err[0], POLLIN, 0};
  const auto end = clock_type::now() + std::chrono::seconds(o.limit_seconds);
  bool late = false;
  for (;;) {
    late = clock_type::now() > end;
    if (late) break;
    if (poll(&from, 1, 200) <= 0) continue;
    char buffer[4096];
    const ssize_t got = read(err[0], buffer, sizeof buffer);
    if (got <= 0) break;
    said.append(buffer, static_cast<std::size_t>(got));
  }
  close(err[0]);
  if (late) kill(child, SIGKILL);
  int status = 0;
  waitpid(child, &status, 0);
  if (late) return fmt::format("it did not end within {} s\n{}", o.limit_seconds, said);
  if (WIFSIGNALED(status)) return fmt::format("signal {}\n{}", WTERMSIG(status), said);
  return WEXITSTATUS(status) == 0 ? "" : fmt::format("exit code {}\n{}", WEXITSTATUS(status), said);
}

/// The smallest number of operations with which a case still fails, as far as halving finds it. Threads make the answer
/// a matter of chance: each length has three chances to fail.
std::uint64_t smallest_prefix(const options& o, std::uint64_t seed) {
  std::uint64_t right = 0, wrong = o.most.operations;
  while (right + 1 < wrong) {
    const std::uint64_t middle = right + (wrong - right) / 2;
    bool fails = false;
    for (int chance = 0; chance < 3 && !fails; ++chance) fails = !run_in_child(o, seed, middle).empty();
    (fails ? wrong : right) = middle;
  }
  return wrong;
}

int run_all(const options& o) {
  const std::uint64_t first = o.seed != 0 ? o.seed : std::random_device{}();
  fmt::print("seed {}\n", first);
  std::fflush(stdout);
  const auto end = clock_type::now() +
                   std::chrono::duration_cast<clock_type::duration>(std::chrono::duration<double>(60 * o.minutes));
  std::uint64_t done = 0;
  for (; o.cases != 0 ? done < o.cases : clock_type::now() < end; ++done) {
    const std::uint64_t seed = first + done;
    const std::string wrong = run_in_child(o, seed, o.most.operations);
    if (wrong.empty()) continue;
    fmt::print("case {} fails: {}\n{}\n", seed, wrong, description_of(seed, o.most));
    std::fflush(stdout);
    fmt::print("smallest: stress --one --seed {} --operations {}{}\n", seed, smallest_prefix(o, seed),
               o.most.two_memories ? " --two-memories" : "");
    return 1;
  }
  fmt::print("{} cases agree\n", done);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  options o;
  CLI::App app("Random programs of several threads on random machines, against a sequential oracle");
  app.add_option("--minutes", o.minutes, "how long")->check(CLI::Range(0.0, 1e6));
  app.add_option("--cases", o.cases, "or how many");
  app.add_option("--seed", o.seed, "of the first case; the next has the next number. 0: any");
  app.add_option("--operations", o.most.operations, "of each thread")->capture_default_str();
  app.add_option("--limit", o.limit_seconds, "seconds after which a case is taken for hanging")->capture_default_str();
  app.add_flag("--two-memories", o.most.two_memories, "each case on two memory nodes; see two_memories.sh");
  app.add_flag("--one", o.one, "that case alone, in this process");
  CLI11_PARSE(app, argc, argv);
  if (!o.one && o.minutes == 0 && o.cases == 0) {
    fmt::print(stderr, "say how long: --minutes or --cases\n");
    return 2;
  }
  return o.one ? run_here(o) : run_all(o);
}
