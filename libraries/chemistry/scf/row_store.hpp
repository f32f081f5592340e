#pragma once
// Memory for many rows of numbers that live and end together.
#include <cstddef>
#include <memory>
#include <span>
#include <vector>

namespace tessera::chemistry {

/// Gives memory out in order, from large pieces on huge pages that go back to the system as a whole.
class row_store {
 public:
  /// Zeros; valid until `clear`. Throws std::bad_alloc.
  std::span<double> take(std::size_t count);
  void clear() noexcept;

 private:
  struct unmapped {
    std::size_t bytes;
    void operator()(double* memory) const noexcept;
  };
  std::vector<std::unique_ptr<double, unmapped>> m_pieces;
  std::span<double> m_free;  // of the last piece
};

}  // namespace tessera::chemistry
