// The program of docs/deep_copy.md: a list of arrays, copied to another memory, changed there, and brought back.
#include <tessera/deep_copy.hpp>

#include <cstdio>
#include <vector>

struct level {
  double* values;
  level* next;
  int count;
};
void describe(level& l, tessera::description& d) {
  d.array("values", l.values, l.count);
  d.pointer("next", l.next);
  d.scalar("count", l.count);
}

int main() {
  tessera::runtime rt;
  std::vector<double> first(1000, 1.0), second(1000, 2.0);
  level last{second.data(), nullptr, 1000}, head{first.data(), &last, 1000};
  auto copy = tessera::deep_copy(head, tessera::to(rt, "machine"));  // or numa1, cuda0: `tessera topology` has names
  rt.submit(
      "add", [](tessera::object_view<level> l) { l->next->values[0] += l->values[0]; }, update(copy));
  copy.copy_back();  // waits for the task
  std::printf("%.0f, %d pointers\n", second[0], int(copy.report().pointers));
  return second[0] == 3.0 && first[0] == 1.0 ? 0 : 1;
}
