#pragma once
// A group of accumulates into one block with one combination: private copies, and one reduction at the end.
#include <vector>

#include "core/base/spin_lock.hpp"
#include "core/block/combination.hpp"
#include "core/block/record.hpp"

namespace tessera::block {

/// Open from the first accumulate after another use of the block until the next other use, or accumulate with another
/// combination, which closes it by submitting the reduction. `adders` is guarded by the block's flow lock, `copies`,
/// `missing`, `summed` and `several` by `lock`.
struct accumulation {
  record* base = nullptr;
  combination_number how = addition;  ///< the copies become one
  std::vector<task_reference> adders;

  /// A hidden block of the base's shape. Adders take one that is idle in their space, or a new one; so there are never
  /// more than run at the same time.
  struct private_copy {
    record* block = nullptr;
    std::uint16_t space = 0;
    bool busy = false;
  };
  spin_lock lock;
  std::vector<private_copy> copies;
  std::shared_ptr<const failure> missing;  ///< an adder failed before it had a copy: there is no sum
  /// In deterministic mode adders take the copies in turn, when they are linked: so many of them, all under the flow
  /// lock.
  static constexpr std::size_t copies_in_turn = 4;
  bool in_turn = false;  ///< decided with the group
  bool summed = false;   ///< its reduction has taken the copies: they stay as they are
  bool several = false;  ///< it has had two copies at the same time
  std::size_t turn = 0;
};

}  // namespace tessera::block
