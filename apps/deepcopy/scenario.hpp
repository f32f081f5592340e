#pragma once
// The structures of `tessera deepcopy`: what they are made of, what is scaled, and what must be there afterwards.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "tessera/deep_copy.hpp"
#include "tessera/operation.hpp"

namespace tessera::apps::deepcopy {

/// Arrays of numbers, each allocated by itself.
class number_arrays {
 public:
  double* make(std::int64_t count) {
    return m_all.emplace_back(std::make_unique_for_overwrite<double[]>(static_cast<std::size_t>(count))).get();
  }

 private:
  std::vector<std::unique_ptr<double[]>> m_all;
};

// ---- a list
// -----------------------------------------------------------------------------------------------------------

/// One structure of the list: 24 bytes.
struct level {
  double* values;
  level* next;
  std::int32_t count;      ///< of values
  std::int32_t remaining;  ///< structures behind it
};
void describe(level& l, description& to);

/// Which arrays are allocated, and which of them are scaled.
enum class list_layout {
  all_all,   ///< allinit-allused
  all_last,  ///< allinit-llused
  last_last  ///< llinit-llused
};

/// A list of k structures with n numbers each.
struct list_size {
  std::int64_t k, n;
  list_layout layout;
  std::uint64_t nominal_bytes() const noexcept;  ///< 24 k + 8 n k, or 24 k + 8 n
  std::string text() const;                      ///< for reports
};

/// The list.
class linear {
 public:
  using root_type = level;
  using size_type = list_size;
  static constexpr double factor = 31;

  explicit linear(const list_size& size);

  level& root() noexcept { return m_levels.front(); }
  void initialise();  ///< values[i] = i + level
  /// Every array that is scaled, as chains find it.
  std::vector<std::span<double>> scaled();
  /// Scales what the root of a copy leads to.
  static void scale(level& root, bool all);
  bool all() const noexcept { return m_size.layout == list_layout::all_all; }  ///< arrays are scaled
  const list_size& size() const noexcept { return m_size; }
  /// Elements that are not what they should be.
  std::int64_t wrong() const;

  /// `scale` for devices: the kernel's name and text; parameters arena, factor, all.
  static const char* kernel_name() noexcept { return "scale_levels"; }
  static const char* kernel_text() noexcept;

 private:
  bool allocated(std::size_t level) const noexcept {
    return m_size.layout != list_layout::last_last || level + 1 == m_levels.size();
  }
  list_size m_size;
  number_arrays m_arrays;
  std::vector<level> m_levels;
};

// ---- a tree
// -----------------------------------------------------------------------------------------------------------

/// A node of the tree with so many levels below it: 24 bytes.
template <int Height>
struct node {
  double* values;
  node<Height - 1>* children;
  std::int32_t count;  ///< of values
  std::int32_t child_count;
};
/// A leaf: 12 bytes, and 4 of padding.
template <>
struct node<0> {
  double* values;
  std::int32_t count;
};
template <int Height>
void describe(node<Height>& n, description& to) {
  to.array("values", n.values, n.count);
  to.scalar("count", n.count);
  if constexpr (Height > 0) {
    to.array("children", n.children, n.child_count);
    to.scalar("child_count", n.child_count);
  }
}

/// A tree of height 3 with q children per node and n numbers each.
struct tree_size {
  std::int64_t q, n;
  std::uint64_t nominal_bytes() const noexcept;  ///< S(3) of S(d) = 24 + 8 n + q S(d - 1), S(0) = 12 + 8 n
  std::string text() const;                      ///< for reports
};

/// The tree; the numbers of its last leaf are scaled.
class dense {
 public:
  using root_type = node<3>;
  using size_type = tree_size;
  static constexpr double factor = 37;

  explicit dense(const tree_size& size);

  node<3>& root() noexcept { return m_root; }
  void initialise();  ///< values[i] = i + 1
  std::vector<std::span<double>> scaled();
  static void scale(node<3>& root, bool all);
  bool all() const noexcept { return false; }
  const tree_size& size() const noexcept { return m_size; }
  std::int64_t wrong() const;

  static const char* kernel_name() noexcept { return "scale_leaf"; }
  static const char* kernel_text() noexcept;

 private:
  template <int Height>
  void fill(node<Height>& at);
  tree_size m_size;
  number_arrays m_arrays;
  std::vector<std::unique_ptr<node<2>[]>> m_nodes2;
  std::vector<std::unique_ptr<node<1>[]>> m_nodes1;
  std::vector<std::unique_ptr<node<0>[]>> m_leaves;
  std::vector<std::span<double>> m_values;  // of every node; those of the last leaf come last
  node<3> m_root{};
};

}  // namespace tessera::apps::deepcopy
