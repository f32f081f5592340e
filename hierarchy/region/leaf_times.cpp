#include "hierarchy/region/leaf_times.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include "hierarchy/region/launch_span.hpp"
#include "hierarchy/region/live_tree.hpp"
#include "tessera/detail/region_code.hpp"

namespace tessera::hierarchy {
namespace {

thread_local bool not_noted = false;

}  // namespace

times_not_noted::times_not_noted() noexcept { not_noted = true; }
times_not_noted::~times_not_noted() { not_noted = false; }

}  // namespace tessera::hierarchy

namespace tessera::detail {

piece_count::piece_count(std::shared_ptr<hierarchy::leaf_work> on, std::shared_ptr<hierarchy::region_leaf_times> times,
                         std::shared_ptr<hierarchy::launch_span> launch) noexcept
    : m_on(std::move(on)), m_times(std::move(times)), m_launch(std::move(launch)) {
  m_on->under_way.fetch_add(1, std::memory_order_relaxed);
  if (m_times != nullptr) m_times->under_way.fetch_add(1, std::memory_order_relaxed);
}

void piece_count::end() noexcept {
  if (m_times != nullptr) m_times->under_way.fetch_sub(1, std::memory_order_relaxed);
  m_on->under_way.fetch_sub(1, std::memory_order_release);
}

namespace {

/// From `begin` to `end`; of that, the leaf worked for the last `took` nanoseconds.
void note(const piece_count& of, std::uint64_t iterations, std::int64_t begin, std::int64_t end, std::int64_t took) {
  if (hierarchy::not_noted || took <= 0 || iterations == 0) return;
  of.times()->note(iterations, static_cast<double>(took) * 1e-9);
  if (of.launch() != nullptr) of.launch()->note(begin, end);
}

}  // namespace

std::int64_t steady_now() noexcept {
  const auto since_epoch = std::chrono::steady_clock::now().time_since_epoch();
  return std::int64_t{std::chrono::duration_cast<std::chrono::nanoseconds>(since_epoch).count()};
}

void note_piece(const piece_count& of, std::uint64_t iterations, std::int64_t began) noexcept {
  const std::int64_t end = steady_now();
  note(of, iterations, began, end, end - began);
}

void note_kernel(const piece_count& of, std::uint64_t iterations, std::int64_t launched) noexcept {
  hierarchy::device_clock* const clock = of.times()->clock.get();
  if (clock == nullptr) return;  // of the host: a kernel that validation began there, and that failed
  const std::int64_t end = steady_now(), last = clock->last_end.exchange(end, std::memory_order_relaxed);
  note(of, iterations, launched, end, std::max<std::int64_t>(end - std::max(launched, last), 1));
}

}  // namespace tessera::detail
