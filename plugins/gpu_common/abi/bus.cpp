#include "plugins/gpu_common/abi/bus.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>

#include "plugins/gpu_common/api/runtime.hpp"

namespace tessera::gpu {
namespace {

constexpr std::size_t probe_bytes = std::size_t{16} << 20;
constexpr int probe_copies = 3;

/// What the copies use, given back at the end.
struct ends {
  void *host = nullptr, *device = nullptr;
  stream_t stream{};
  bool made = false;
  ends() {
    const auto good = [](error_t error) { return kind_of(error) == error_kind::none; };
    made = good(allocate_pinned(&host, probe_bytes)) && good(allocate(&device, probe_bytes)) &&
           good(create_stream(&stream));
  }
  ~ends() {
    if (stream != stream_t{}) destroy_stream(stream);
    if (device != nullptr) release(device);
    if (host != nullptr) release_pinned(host);
    clear_error();
  }
  ends(const ends&) = delete;
  ends& operator=(const ends&) = delete;
};

double best_rate(void* to, const void* from, stream_t stream) {
  double best = 0;
  for (int k = 0; k < probe_copies; ++k) {
    const auto begin = std::chrono::steady_clock::now();
    if (kind_of(copy(to, from, probe_bytes, stream)) != error_kind::none ||
        kind_of(synchronize_stream(stream)) != error_kind::none)
      return 0;
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
    best = std::max(best, static_cast<double>(probe_bytes) / took.count());
  }
  return best;
}

}  // namespace

bus_rates measure_bus() {
  const ends of;
  if (!of.made) return {};
  return {best_rate(of.device, of.host, of.stream), best_rate(of.host, of.device, of.stream)};
}

}  // namespace tessera::gpu
