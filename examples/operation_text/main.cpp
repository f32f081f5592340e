// The second form of an operation: a kernel as a text, compiled when a device first needs it (docs/kernels.md).
//
// The sum of squares of each block, by groups of threads that add up in memory of their own. The same text runs on the
// host, through its C compiler, and on an emulated GPU; with the plugins cuda, hip or opencl in the list it runs there.
#include <tessera/operation.hpp>
#include <tessera/tessera.hpp>

#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <string>

namespace {

constexpr const char* machine_text = R"(
[runtime]
plugins = ["host", "cuda_emulated"]
)";

constexpr const char* kernel_text = R"(
KERNEL void squares(GLOBAL const double* x, long n, GLOBAL double* sum) {
  LOCAL_ARRAY(double, part, THREADS);
  double mine = 0;
  for (long i = THREAD_X; i < n; i += THREADS) mine += x[i] * x[i];
  part[THREAD_X] = mine;
  BARRIER;
  for (int width = THREADS / 2; width > 0; width /= 2) {
    if (THREAD_X < width) part[THREAD_X] += part[THREAD_X + width];
    BARRIER;
  }
  if (THREAD_X == 0) sum[0] = part[0];
}
)";

void launch(const tessera::operation::context& c, tessera::operation::kernel_launch& how) {
  how.group = {64, 1, 1};  // one group; THREADS of the text
  how.block(c.operands[0]).value(c.operands[0].extents->count()).block(c.operands[1]);
}

}  // namespace

int main() try {
  tessera::runtime rt({.text = machine_text});
  const auto& squares = rt.define(
      {.name = "squares",
       .signature = {tessera::intent::read, tessera::intent::write},
       .kernel = {.name = "squares", .text = {.source = kernel_text, .options = "-DTHREADS=64"}, .launch = launch}});
  auto x = rt.make_array<double>("x", {5000}, {1250});
  auto sums = rt.make_array<double>("sums", {4}, {1});
  for (std::int64_t k = 0; k < 4; ++k) {
    tessera::fill(rt, x(k), static_cast<double>(k + 1));
    const std::array<tessera::block::access, 2> blocks{tessera::read(x(k)), tessera::write(sums(k))};
    rt.submit_operation(squares, nullptr, 0, blocks, {.at = rt.at(k % 2 == 0 ? "numa0" : "cuda_emulated0")});
  }
  bool right = true;
  for (std::int64_t k = 0; k < 4; ++k) {
    const double sum = sums.read_host(sums(k))[0], wanted = 1250.0 * static_cast<double>((k + 1) * (k + 1));
    std::printf("block %lld: %.1f\n", static_cast<long long>(k), sum);
    right = right && std::abs(sum - wanted) < 1e-9 * wanted;
  }
  rt.fence();
  return right ? 0 : 1;
} catch (const tessera::error& e) {
  std::fprintf(stderr, "error: %s\n", e.what());
  return tessera::exit_code_of(e.kind());
}
