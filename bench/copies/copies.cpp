// bench_copies: copies of bytes by one thread at each distance of the destination from the source, 0 to 63 bytes modulo
// a page: std::memcpy beside Tessera's own (core/bytes/copy.hpp).
//
//   bench_copies [--reps 15] [--large 67108864] [--each 1]        rows of bench/common/measure.hpp
//   bench_copies --help 1
//
// Of each size the rates at the best and the worst distance, and the quotient of both: bytes copied, not moved. The
// second size is warm in the second cache, the third in none. With --each 1 all distances are rows.
#include <sys/mman.h>

#include <cstdint>
#include <iterator>
#include <string>
#include <vector>

#include "bench/common/measure.hpp"
#include "core/bytes/copy.hpp"

using namespace bench;

namespace {

constexpr std::size_t page = 4096, huge = std::size_t{2} << 20;

/// Fresh memory from a boundary of huge pages on.
std::byte* map(std::size_t bytes) {
  void* const memory =
      mmap(nullptr, bytes + huge, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) fail("no memory");
  const auto past = reinterpret_cast<std::uintptr_t>(memory) % huge;
  auto* const begin = static_cast<std::byte*>(memory) + (past == 0 ? 0 : huge - past);
  madvise(begin, bytes, MADV_HUGEPAGE);
  std::memset(begin, 1, bytes);
  return begin;
}

struct way {
  const char* name;
  void (*copy)(void* to, const void* from, std::size_t bytes);
};
constexpr way ways[] = {
    {"memcpy", [](void* to, const void* from, std::size_t bytes) { std::memcpy(to, from, bytes); }},
    {"Tessera", [](void* to, const void* from, std::size_t bytes) { tessera::copy_bytes(to, from, bytes); }}};

std::string text(std::size_t bytes) {
  return bytes < huge / 2 ? std::to_string(bytes >> 10) + "KiB" : std::to_string(bytes >> 20) + "MiB";
}

/// Gigabytes per second, the best of some tries: what else the machine does makes copies slower, and never faster.
double rate(const way& how, std::byte* to, const std::byte* from, std::size_t bytes, int reps) {
  const std::size_t copies = std::max<std::size_t>((std::size_t{4} << 20) / bytes, 1);
  double best = 0;
  for (int rep = 0; rep < reps; ++rep) {
    const double began = now();
    for (std::size_t k = 0; k < copies; ++k) {
      how.copy(to, from, bytes);
      asm volatile("" : : "r"(to) : "memory");
    }
    best = std::max(best, double(copies * bytes) / (now() - began) * 1e-9);
  }
  return best;
}

}  // namespace

int main(int argc, char** argv) {
  const arguments args(argc, argv, {"reps", "large", "each", "help"});
  if (args.number("help", 0) != 0) {
    std::puts(
        "bench_copies [--reps 15] [--large 67108864] [--each 1]\n"
        "Rates of copies at 64 distances of the destination from the source modulo a page, by memcpy and by Tessera.\n"
        "  --reps   tries at each distance, of which the best one counts\n"
        "  --large  bytes of the largest copy\n"
        "  --each   1: a row for each distance, too");
    return 0;
  }
  const int reps = static_cast<int>(args.number("reps", 15));
  const auto large = static_cast<std::size_t>(args.number("large", 64 << 20));
  std::byte* const from = map(large + huge);
  std::byte* const to = map(large + huge) + 5 * page;
  for (const std::size_t bytes : {std::size_t{16} << 10, std::size_t{256} << 10, large}) {
    std::vector<double> rates[std::size(ways)];
    for (std::size_t distance = 0; distance < 64; ++distance)
      for (std::size_t w = 0; w < std::size(ways); ++w)  // in turns
        rates[w].push_back(rate(ways[w], to + distance, from, bytes, reps));
    for (std::size_t w = 0; w < std::size(ways); ++w) {
      const auto [worst, best] = std::minmax_element(rates[w].begin(), rates[w].end());
      const auto say = [&](const char* metric, double value) {
        row("copies", ways[w].name, text(bytes), 1, metric, value);
      };
      say("gigabytes_per_s", *worst);
      say("gigabytes_per_s_best", *best);
      say("best_over_worst", *best / *worst);
      for (std::size_t distance = 0; args.number("each", 0) != 0 && distance < 64; ++distance)
        say(("gigabytes_per_s_at_" + std::to_string(distance)).c_str(), rates[w][distance]);
    }
    if (std::memcmp(to + 63, from, bytes) != 0) fail("a copy differs from its source");
  }
}
