// pointerchain region begin declare(...): the condensed form.
#include "check.hpp"

struct inner {
  float* x;
};
struct outer {
  inner in;
};

int main() {
  outer o{};
  outer* const p = &o;
  float* x = nullptr;
#pragma gecko memory allocate(x [0:50]) type(float)
  p->in.x = x;
#pragma pointerchain region begin declare(p->in.x{float * })
#pragma gecko region
  for (int i = 0; i < 50; ++i) p->in.x[i] = 1.5f * i;
#pragma gecko region end
#pragma gecko pause
  check(p->in.x[49] == 73.5f, "x");
#pragma pointerchain region end
}
