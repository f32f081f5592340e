// pointerchain declare, region begin and end: chains are evaluated once, changed scalars are written back.
#include "check.hpp"

struct traits {
  double* positions;
  double scale;
};
struct atoms {
  traits* of;
  int count;
};
struct simulation {
  atoms* all;
};

int main() {
  traits t{nullptr, 2};
  atoms a{&t, 100};
  simulation s{&a}, *sim = &s;
  double* positions = nullptr;
#pragma gecko memory allocate(positions [0:sim->all->count]) type(double)
  t.positions = positions;
#pragma pointerchain declare(sim->all->of->positions{double * : restrict}, sim->all->of->scale{double})
#pragma pointerchain declare(sim->all->count{int})
#pragma pointerchain region begin
#pragma gecko region
  for (int i = 0; i < sim->all->count; ++i) sim->all->of->positions[i] = sim->all->of->scale * i;
#pragma gecko region end
  sim->all->of->scale = 7;
#pragma pointerchain region end
#pragma gecko pause
  check(positions[99] == 198, "positions");
  check(t.scale == 7, "written back");
}
