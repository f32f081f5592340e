#pragma once
// What sparse programs compute with: blocks of vectors, and matrices of a few rows.
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace tessera::sparse {

struct vector_data;
struct small_data;

/// rows x columns numbers, row-major: `columns` vectors side by side. A handle: copies name the same numbers, and
/// moving copies, so that none is ever empty. Belongs to the program that made it, and must not be used after that has
/// ended.
class block_vector {
 public:
  /// Made by program::vector.
  explicit block_vector(std::shared_ptr<vector_data> data) noexcept : m_data(std::move(data)) {}
  block_vector(const block_vector&) noexcept = default;             ///< the same numbers
  block_vector& operator=(const block_vector&) noexcept = default;  ///< likewise
  std::int64_t rows() const noexcept;                               ///< those of the program's matrix
  std::int64_t columns() const noexcept;                            ///< vectors
  const std::string& name() const noexcept;                         ///< for messages
  /// Runs what is recorded, waits for it, and copies the numbers, row by row. Throws tessera::error for numbers that an
  /// operation which failed should have made.
  std::vector<double> values() const;
  /// Runs what is recorded, waits for it, and overwrites all numbers. Throws tessera::error (usage) for another count,
  /// and inside a loop's body.
  void set(std::span<const double> row_major);
  vector_data& data() const noexcept { return *m_data; }  ///< for the operations

 private:
  std::shared_ptr<vector_data> m_data;
};

/// A matrix of a few rows and columns, row-major, which one task has at a time. A handle, as block_vector is.
class small_matrix {
 public:
  /// Made by program::small.
  explicit small_matrix(std::shared_ptr<small_data> data) noexcept : m_data(std::move(data)) {}
  small_matrix(const small_matrix&) noexcept = default;             ///< the same numbers
  small_matrix& operator=(const small_matrix&) noexcept = default;  ///< likewise
  std::int64_t rows() const noexcept;                               ///< as it was made
  std::int64_t columns() const noexcept;                            ///< likewise
  const std::string& name() const noexcept;                         ///< for messages
  /// Runs what is recorded, waits for it, and copies the numbers, row by row. Throws tessera::error for numbers that an
  /// operation which failed should have made.
  std::vector<double> values() const;
  /// Runs what is recorded, waits for it, and overwrites all numbers. Throws tessera::error (usage) for another count,
  /// and inside a loop's body.
  void set(std::span<const double> row_major);
  small_data& data() const noexcept { return *m_data; }  ///< for the operations

 private:
  std::shared_ptr<small_data> m_data;
};

}  // namespace tessera::sparse
