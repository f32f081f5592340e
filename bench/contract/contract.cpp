// bench_contract: one block contraction of the host plugin, called through the plugin ABI by one thread, beside one
// plain cblas_dgemm of the same size: 2 outer indices of each input and 2 summed ones, all of the same extent e, C(...)
// += A(...) B(...).
//
//   bench_contract --plugin FILE [--from 6] [--to 16] [--repeats 41]      rows of bench/common/measure.hpp
//
// aligned: A(abcd) B(cdij) C(abij), the product as it stands. one_permuted: A(acbd). all_permuted: A(acbd) B(dicj)
// C(aibj). The two are timed in turn, and medians are printed. The blocks are the same in every call, so they are as
// warm as they can be.
#include <cblas.h>

#include <cmath>
#include <string>
#include <vector>

#include "bench/common/measure.hpp"
#include "bench/contract/host_device.hpp"

using namespace bench;

namespace {

struct form {
  const char *name, *a, *b, *c;
};
constexpr form forms[] = {{"aligned", "abcd", "cdij", "abij"},
                          {"one_permuted", "acbd", "cdij", "abij"},
                          {"all_permuted", "acbd", "dicj", "aibj"}};

void measure(const host_device& device, const form& of, std::int64_t extent, long repeats) {
  const auto order = static_cast<int>(extent * extent);
  const std::size_t count = std::size_t(order) * std::size_t(order);
  std::vector<double> a(count), b(count), c(count, 0.0), plain(count, 0.0);
  for (std::size_t i = 0; i < count; ++i) a[i] = double(i % 13) - 6, b[i] = double(i % 11) - 5;
  tsr_contract g{};
  g.struct_size = sizeof g;
  g.type = TSR_F64;
  g.rank_a = g.rank_b = g.rank_c = 4;
  for (int d = 0; d < 4; ++d) {
    g.extents_a[d] = g.extents_b[d] = extent;
    g.modes_a[d] = of.a[d], g.modes_b[d] = of.b[d], g.modes_c[d] = of.c[d];
  }
  std::uint64_t bytes = 0;
  check(device.tensor->workspace(device.handle, TSR_TENSOR_CONTRACT, &g, &bytes), "workspace");
  std::vector<double> scratch(bytes / sizeof(double) + 1);
  const double one = 1;
  const auto contract = [&] {
    check(device.tensor->contract(device.handle, device.stream, TSR_F64, &one, &one, at(a.data()), 4, g.extents_a,
                                  g.modes_a, at(b.data()), 4, g.extents_b, g.modes_b, at(c.data()), 4, g.modes_c,
                                  {at(scratch.data()), bytes}),
          "contract");
  };
  const auto multiply = [&] {
    cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, order, order, order, 1.0, a.data(), order, b.data(), order,
                1.0, plain.data(), order);
  };
  const auto seconds = [](long calls, auto&& call) {
    const double begin = bench::now();
    for (long i = 0; i < calls; ++i) call();
    return (bench::now() - begin) / double(calls);
  };
  contract();
  multiply();
  double sum = 0, expected = 0;  // the same numbers in another order are summed to another C, all of whole numbers
  for (std::size_t i = 0; i < count; ++i) sum += c[i], expected += plain[i];
  if (of.a == forms[0].a && c != plain) bench::fail("the contraction differs from the product");
  if (!std::isfinite(sum) || !std::isfinite(expected)) bench::fail("not finite");
  const double flops = 2.0 * order * order * order;
  const long calls = std::max(1L, long(0.002 / std::max(1e-7, seconds(3, multiply))));
  std::vector<double> ours, theirs, extra, share;
  for (long r = 0; r < repeats; ++r) {
    theirs.push_back(seconds(calls, multiply));
    ours.push_back(seconds(calls, contract));
    extra.push_back(ours.back() - theirs.back());
    share.push_back(theirs.back() / ours.back());
  }
  const std::string kase = std::string(of.name) + "_e" + std::to_string(extent);
  bench::row("contract", "Tessera host", kase, 1, "gflops", flops / bench::median(ours) * 1e-9);
  bench::row("contract", "dgemm", kase, 1, "gflops", flops / bench::median(theirs) * 1e-9);
  bench::row("contract", "Tessera host", kase, 1, "overhead_us", bench::median(extra) * 1e6);
  bench::row("contract", "Tessera host", kase, 1, "efficiency_to_dgemm", bench::median(share));
}

}  // namespace

int main(int argc, char** argv) {
  const bench::arguments args(argc, argv, {"plugin", "from", "to", "repeats"});
  const std::string file = args.text("plugin", TESSERA_HOST_PLUGIN);
  const long from = args.number("from", 6), to = args.number("to", 16), repeats = args.number("repeats", 41);
  if (from < 1 || to < from || to > 32 || repeats < 1) {
    std::fprintf(stderr, "--from and --to are extents from 1 to 32, --repeats starts at 1\n");
    return 2;
  }
  const host_device device(file);
  for (const form& one : forms)
    for (long extent = from; extent <= to; extent += extent < 8 ? 1 : 2) measure(device, one, extent, repeats);
  return 0;
}
