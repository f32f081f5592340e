// A program that knows nothing of traces: some_runtimes one|together|in_turn|off|throws|moves|static|exits|forks.
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <optional>
#include <stdexcept>
#include <string>

#include "tessera/tessera.hpp"

namespace {

void work(tessera::runtime& rt, const char* task) {
  auto a = rt.make_array<double>("a", {8}, {4});
  for (std::size_t k = 0; k < a.size(); ++k) {
    fill(rt, a.block(k), 1.0);
    const auto twice = [](tessera::view<double> x) {
      for (double& value : x) value *= 2;
    };
    rt.submit(task, twice, tessera::update(a.block(k)));
  }
}

void run(const std::string& how) {
  if (how == "together") {
    tessera::runtime first, second;
    work(first, "first_task");
    work(second, "second_task");
  } else if (how == "in_turn") {
    for (const char* task : {"first_task", "second_task", "third_task"}) {
      tessera::runtime rt;
      work(rt, task);
    }
  } else if (how == "off") {  // what the program says counts
    tessera::runtime rt({.settings = {"runtime.report=", "runtime.trace_file=", "runtime.stats=false"}});
    work(rt, "first_task");
  } else if (how == "throws") {
    tessera::runtime rt;
    work(rt, "first_task");
    throw std::runtime_error("thrown");
  } else if (how == "moves") {
    tessera::runtime rt;
    work(rt, "first_task");
    if (chdir("/") != 0) std::perror("chdir");
  } else if (how == "exits") {  // without the end of its runtime
    tessera::runtime rt;
    work(rt, "first_task");
    rt.fence();
    std::exit(0);
  } else if (how == "forks") {  // a child has nothing to tell
    tessera::runtime rt;
    work(rt, "first_task");
    rt.fence();
    if (const pid_t child = fork(); child == 0)
      std::exit(0);
    else
      waitpid(child, nullptr, 0);
  } else if (how == "static") {
    static std::optional<tessera::runtime> rt;
    work(rt.emplace(), "first_task");
  } else {
    tessera::runtime rt;
    work(rt, "first_task");
  }
}

}  // namespace

int main(int argc, char** argv) try {
  std::signal(SIGXFSZ, SIG_IGN);  // a file that may not grow is an error of its writer
  run(argc > 1 ? argv[1] : "one");
  std::puts("done");
  return 0;
} catch (const tessera::error& e) {
  std::fprintf(stderr, "%s\n", e.what());
  return 3;
} catch (const std::exception& e) {
  std::fprintf(stderr, "%s\n", e.what());
  return 1;
}
