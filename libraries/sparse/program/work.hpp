#pragma once
// What operations have to do: counted from their shapes, not measured.
#include <cstdint>
#include <map>
#include <span>

#include "libraries/sparse/program/operation.hpp"

namespace tessera::sparse {

/// A count that is complete once the forms of the matrices are: panels have one from when a task first needs it.
class counted_work {
 public:
  /// Of the operations in the passes that fuse() finds: tessera/sparse.hpp says what counts (work_count).
  static counted_work of(std::span<const operation> operations);
  /// As far as is known now. The products must be there.
  work_count total() const;
  counted_work& operator+=(const counted_work& more) {
    m_apart += more.m_apart;
    for (const auto& [product, passes] : more.m_passes) m_passes[product] += passes;
    return *this;
  }
  /// What came since `before`, which is an earlier value of it.
  counted_work since(const counted_work& before) const {
    counted_work made = *this;
    made.m_apart.flops -= before.m_apart.flops, made.m_apart.bytes -= before.m_apart.bytes;
    for (const auto& [product, passes] : before.m_passes) made.m_passes[product] -= passes;
    return made;
  }

 private:
  work_count m_apart;                                      // all but matrices that have a form
  std::map<const matrix_product*, std::int64_t> m_passes;  // over these
};

}  // namespace tessera::sparse
