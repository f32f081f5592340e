// pointerchain with ranges: memory of the program at the end of chains, which no directive has allocated; rows of
// several elements, elements on the way, smart pointers, types without a name; a null on the way is an error.
#include <tessera/directives.hpp>

#include <memory>
#include <string>
#include <vector>

#include "check.hpp"

namespace {
struct cell_data {
  double* positions;
  int count;
};
template <class T>
struct grid {
  std::unique_ptr<cell_data> cells[2];
  struct {
    T* forces;
  } unnamed;
};
struct simulation : grid<float> {
  grid<float>* other = nullptr;
  double energy = 0;
};
}  // namespace

/// The message of the error that a chain is.
template <class Function>
std::string message_of(const Function& call) {
  try {
    call();
  } catch (const tessera::error& e) {
    return e.message();
  }
  return {};
}

int main() {
  constexpr int n = 60;
  std::vector<double> first(3 * n, 1), second(n, 2);
  std::vector<float> forces(n);
  simulation sim;
  sim.cells[0] = std::make_unique<cell_data>(cell_data{first.data(), n});
  sim.cells[1] = std::make_unique<cell_data>(cell_data{second.data(), n});
  sim.unnamed.forces = forces.data();
  simulation* const s = &sim;
  const int which = 1;
#pragma pointerchain declare(s->cells[0]->positions [0:s->cells[0]->count] [0:3]{double * : restrict})
#pragma pointerchain region begin declare(s->cells[which]->positions [0:n]{double * }, \
                                          s->unnamed.forces [0:n]{float * }, s->energy{double})
  for (int round = 0; round < 3; ++round) {
#pragma gecko region
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < 3; ++j) s->cells[0]->positions[3 * i + j] += s->cells[which]->positions[i] * (j + 1);
#pragma gecko region end
#pragma gecko region
    for (int i = 0; i < n; ++i) s->unnamed.forces[i] = float(i);
#pragma gecko region end
  }
#pragma gecko pause
  s->energy = s->cells[0]->positions[5];
#pragma pointerchain region end
  check(first[3 * n - 1] == 1 + 3 * 2 * 3 && first[0] == 1 + 3 * 2, "rows");
  check(forces[n - 1] == n - 1, "an unnamed type");
  check(sim.energy == first[5], "written back");

  const std::string null_link = message_of([&] {
#pragma pointerchain region begin declare(s->other->unnamed.forces [0:n]{float * })
#pragma gecko region
    for (int i = 0; i < n; ++i) s->other->unnamed.forces[i] = 0;
#pragma gecko region end
#pragma pointerchain region end
  });
  check(null_link.find("link 1 of a chain") != std::string::npos && null_link.find("is null") != std::string::npos,
        null_link.c_str());
  sim.cells[0]->positions = nullptr;
  const std::string null_end = message_of([&] {
#pragma pointerchain region begin declare(s->cells[0]->positions{double * })
    s->cells[0]->positions[0] = 0;
#pragma pointerchain region end
  });
  check(null_end.find("is null") != std::string::npos, "the end is null");
}
