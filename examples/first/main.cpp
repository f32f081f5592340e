// The program of the front page.
#include <tessera/tessera.hpp>

#include <algorithm>
#include <cstdio>

int main() {
  tessera::runtime rt;                                 // this machine, or the one that TESSERA_CONFIG names
  auto x = rt.make_array<double>("x", {1000}, {250});  // 1000 elements in four blocks
  auto y = rt.make_array<double>("y", {1000}, {250});
  for (std::size_t k = 0; k < x.size(); ++k) {  // every task declares which blocks it uses, and how
    tessera::fill(rt, x.block(k), 2.0);
    const auto number = [k](tessera::view<double> v) { std::ranges::fill(v, static_cast<double>(k)); };
    rt.submit("number", number, tessera::write(y.block(k)));
    tessera::axpy(rt, 10.0, x.block(k), y.block(k));  // y += 10 x, on a core or on a device
  }
  std::printf("%g\n", y.block(3).read()[0]);  // waits only for the tasks that make this block
}
