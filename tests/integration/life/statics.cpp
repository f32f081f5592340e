// Runtimes with static storage: they end after the main thread's thread_local objects.
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>

#include "tests/integration/runtime/machines.hpp"

namespace {

using tessera::testing::host_only;

bool validated = false;

tessera::machine two_workers() {
  tessera::machine found = host_only(2);
  found.settings.validate = validated;
  return found;
}

struct pair {
  tessera::runtime rt{two_workers()};
  tessera::array<double> a = rt.make_array<double>("a", {4}, {1});

  void work(int times) {
    for (int k = 0; k < times; ++k)
      rt.submit(
          "add", [](tessera::view<double> x) { x[0] += 1; }, tessera::update(a(k % 4)));
  }
  pair() {
    for (int k = 0; k < 4; ++k) fill(rt, a(k), 0.0);
  }
};

std::unique_ptr<pair> first, second;

/// Says after all runtimes what has come of them; constructed before them, so destroyed after.
struct last_word {
  ~last_word() { std::puts("ended"); }
};

}  // namespace

int main(int argc, char** argv) {
  const std::string name = argc > 1 ? argv[1] : "";
  validated = argc > 2 && argv[2] == std::string("validated");
  static last_word last;
  if (name == "one") {  // another was used last: the thread has to find its way back
    first = std::make_unique<pair>();
    first->work(10);
    pair local;
    local.work(1000);
    local.rt.fence();
    first->work(100);
    local.work(10);
  } else if (name == "two") {
    first = std::make_unique<pair>();
    second = std::make_unique<pair>();
    first->work(1000);
    second->work(1000);
  } else if (name == "used_in_turn") {  // also while they end
    static struct user {
      ~user() {
        for (int k = 0; k < 100; ++k) {
          first->work(3);
          second->work(3);
        }
        first->rt.fence();
        second->rt.fence();
        first.reset();
        second.reset();
      }
    } at_the_end;
    first = std::make_unique<pair>();
    second = std::make_unique<pair>();
  } else if (name == "left_running") {  // tasks are queued when main returns
    first = std::make_unique<pair>();
    first->work(4000);
  } else {
    std::fprintf(stderr, "usage: life_of_statics one|two|used_in_turn|left_running\n");
    return 2;
  }
  return 0;
}
