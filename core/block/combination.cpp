#include "core/block/combination.hpp"

#include <atomic>
#include <mutex>

#include "core/base/error.hpp"

namespace tessera::block {
namespace {

constexpr std::size_t max_combinations = 4096;
struct combination_table {
  std::mutex mutex;
  std::size_t used = 1;  // that of additions
  std::array<std::atomic<const combination*>, max_combinations> all{};
};
combination_table& known_combinations() noexcept {
  static combination_table one;
  return one;
}

}  // namespace

combination_number add_combination(const combination& what) {
  combination_table& in = known_combinations();
  const std::lock_guard guard(in.mutex);
  if (in.used == max_combinations)
    throw error(error_kind::usage, "more than 4095 operations to accumulate with", {},
                "one type of operation and one element type are one of them; make values that differ a block's");
  in.all[in.used].store(&what, std::memory_order_release);
  return static_cast<combination_number>(in.used++);
}

const combination& combination_at(combination_number number) noexcept {
  return *known_combinations().all[number].load(std::memory_order_acquire);
}

}  // namespace tessera::block
