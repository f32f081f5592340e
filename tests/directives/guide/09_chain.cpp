// An example of docs/directives.md.
// clang-format off
#include <cstdio>
#include <vector>

struct atoms {
  double* x;
  int count;
};
struct simulation {
  atoms* all;
  double scale;
};

int main() {
  std::vector<double> positions(100);
  atoms a{positions.data(), 100};
  simulation s{&a, 2}, *sim = &s;
#pragma pointerchain region begin declare(sim->all->x[0:100]{double*}, sim->scale{double})
#pragma gecko region
  for (int i = 0; i < 100; ++i) sim->all->x[i] = sim->scale * i;
#pragma gecko region end
#pragma pointerchain region end
#pragma gecko pause
  std::printf("%.0f\n", positions[99]);
}
