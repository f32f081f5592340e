#include "hierarchy/region/leaf_times.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include "hierarchy/region/live_tree.hpp"
#include "tessera/region_code.hpp"

namespace tessera::hierarchy {
namespace {

thread_local bool not_noted = false;

}  // namespace

times_not_noted::times_not_noted() noexcept { not_noted = true; }
times_not_noted::~times_not_noted() { not_noted = false; }

}  // namespace tessera::hierarchy

namespace tessera::detail {

piece_count::piece_count(std::shared_ptr<hierarchy::leaf_work> on,
                         std::shared_ptr<hierarchy::region_leaf_times> times) noexcept
    : m_on(std::move(on)), m_times(std::move(times)) {
  m_on->under_way.fetch_add(1, std::memory_order_relaxed);
  if (m_times != nullptr) m_times->under_way.fetch_add(1, std::memory_order_relaxed);
}

void piece_count::end() noexcept {
  if (m_times != nullptr) m_times->under_way.fetch_sub(1, std::memory_order_relaxed);
  m_on->under_way.fetch_sub(1, std::memory_order_release);
}

void note_piece(hierarchy::region_leaf_times& on, std::uint64_t iterations, double seconds) noexcept {
  if (hierarchy::not_noted) return;
  if (seconds > 0 && iterations > 0) on.note(iterations, seconds);
}

void note_kernel(hierarchy::region_leaf_times& on, std::uint64_t iterations,
                 std::chrono::steady_clock::time_point launched) noexcept {
  if (on.clock == nullptr) return;  // of the host: a kernel that validation began there, and that failed
  const auto nanoseconds = [](std::chrono::steady_clock::time_point at) {
    return std::int64_t{std::chrono::duration_cast<std::chrono::nanoseconds>(at.time_since_epoch()).count()};
  };
  const std::int64_t end = nanoseconds(std::chrono::steady_clock::now()),
                     last = on.clock->last_end.exchange(end, std::memory_order_relaxed),
                     took = std::max<std::int64_t>(end - std::max(nanoseconds(launched), last), 1);
  note_piece(on, iterations, static_cast<double>(took) * 1e-9);
}

}  // namespace tessera::detail
