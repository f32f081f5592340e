// bench_permute: permutations of blocks of four dimensions by the host plugin, called through the plugin ABI by one
// thread: extents that are powers of two, whose rows lie whole powers of two apart, and their neighbours.
//
//   bench_permute --plugin FILE [--repeats 41]      rows of bench/common/measure.hpp
//   bench_permute --help 1
//
// C(dcba), C(badc) and C(acbd) of A(abcd), in double precision; bytes read and written. All blocks are warm.
#include <algorithm>
#include <numeric>
#include <span>
#include <string>
#include <vector>

#include "bench/common/measure.hpp"
#include "bench/contract/host_device.hpp"

using namespace bench;

namespace {

struct order {
  const char* name;
  std::uint32_t of[4];  // the source's dimension that becomes the k-th
};
constexpr order orders[] = {{"dcba", {3, 2, 1, 0}}, {"badc", {1, 0, 3, 2}}, {"acbd", {0, 2, 1, 3}}};

/// Blocks lie in slabs, one behind the other.
class slab {
 public:
  slab(const host_device& device, std::uint64_t bytes) : m_device(device) {
    void* base = nullptr;
    check(device.table->mem_alloc(device.handle, 0, bytes, &m_memory), "mem_alloc");
    check(device.table->mem_base(device.handle, m_memory, &base), "mem_base");
    m_base = static_cast<char*>(base);
  }
  ~slab() { m_device.table->mem_free(m_device.handle, m_memory); }
  slab(const slab&) = delete;
  slab& operator=(const slab&) = delete;
  double* at(std::uint64_t offset) const { return reinterpret_cast<double*>(m_base + offset); }

 private:
  const host_device& m_device;
  tsr_memory* m_memory = nullptr;
  char* m_base = nullptr;
};

std::uint64_t rounded(std::uint64_t bytes) { return (bytes + 4095) / 4096 * 4096; }

void measure(const host_device& device, const order& by, std::int64_t extent, long repeats) {
  const auto count = static_cast<std::size_t>(extent * extent * extent * extent);
  const slab memory(device, 2 * rounded(count * sizeof(double)));
  const std::span<double> from(memory.at(0), count), to(memory.at(rounded(count * sizeof(double))), count);
  std::iota(from.begin(), from.end(), 1.0);
  const double one = 1;
  tsr_permute call{};
  call.struct_size = sizeof call;
  call.type = TSR_F64;
  call.rank = 4;
  std::fill_n(call.extents, 4, extent);
  std::copy_n(by.of, 4, call.permutation);
  call.alpha = &one;
  call.source = at(from.data()), call.destination = at(to.data());
  const auto permute = [&] { check(device.tensor->permute(device.handle, device.stream, &call), "permute"); };
  permute();
  if (to.front() != 1 || to.back() != double(count) ||
      std::accumulate(to.begin(), to.end(), 0.0) != double(count) * double(count + 1) / 2)
    fail("a permutation has other elements");
  const long calls = std::max(1L, long(2'000'000 / count));
  std::vector<double> rates;
  for (long r = 0; r < repeats; ++r) {
    const double began = now();
    for (long k = 0; k < calls; ++k) permute();
    rates.push_back(double(calls) * 16.0 * double(count) / (now() - began) * 1e-9);
  }
  row("permute", "Tessera host", std::string(by.name) + "_e" + std::to_string(extent), 1, "gigabytes_per_s",
      median(rates));
}

}  // namespace

int main(int argc, char** argv) {
  const arguments args(argc, argv, {"plugin", "repeats", "help"});
  if (args.number("help", 0) != 0) {
    std::puts(
        "bench_permute [--plugin FILE] [--repeats 41]\n"
        "Rates of permutations of blocks of 15 to 17 and 31 to 33 in each of four dimensions, by the host plugin.\n"
        "  --plugin   the plugin's file\n"
        "  --repeats  measurements, of which the median is printed");
    return 0;
  }
  const host_device device(args.text("plugin", TESSERA_HOST_PLUGIN));
  const long repeats = std::max(args.number("repeats", 41), 1L);
  for (const order& one : orders)
    for (const std::int64_t extent : {15, 16, 17, 31, 32, 33}) measure(device, one, extent, repeats);
}
