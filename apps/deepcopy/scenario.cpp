#include "apps/deepcopy/scenario.hpp"

#include <fmt/format.h>

#include "tessera/deep_copy.hpp"

namespace tessera::apps::deepcopy {
namespace {

/// Elements that are not (i + first) * factor.
std::int64_t wrong_elements(std::span<const double> values, double first, double factor) {
  std::int64_t wrong = 0;
  for (std::size_t i = 0; i < values.size(); ++i)
    wrong += values[i] == (static_cast<double>(i) + first) * factor ? 0 : 1;
  return wrong;
}
void fill_from(std::span<double> values, double first) {
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<double>(i) + first;
}
std::span<double> span_of(double* values, std::int64_t count) { return {values, static_cast<std::size_t>(count)}; }

}  // namespace

void describe(level& l, description& to) {
  to.array("values", l.values, l.count);
  to.pointer("next", l.next);
  to.scalar("count", l.count);
  to.scalar("remaining", l.remaining);
}

std::uint64_t list_size::nominal_bytes() const noexcept {
  const auto structures = static_cast<std::uint64_t>(k), numbers = static_cast<std::uint64_t>(n);
  return 24 * structures + 8 * numbers * (layout == list_layout::last_last ? 1 : structures);
}

std::string list_size::text() const { return fmt::format("a list of {} structures, {} numbers", k, n); }

linear::linear(const list_size& size) : m_size(size), m_levels(static_cast<std::size_t>(size.k)) {
  for (std::size_t at = 0; at < m_levels.size(); ++at) {
    level& l = m_levels[at];
    const bool last = at + 1 == m_levels.size();
    l.values = allocated(at) ? m_arrays.make(size.n) : nullptr;
    l.next = last ? nullptr : &m_levels[at + 1];
    l.count = allocated(at) ? static_cast<std::int32_t>(size.n) : 0;
    l.remaining = static_cast<std::int32_t>(m_levels.size() - at - 1);
  }
}

void linear::initialise() {
  for (std::size_t at = 0; at < m_levels.size(); ++at)
    fill_from(span_of(m_levels[at].values, m_levels[at].count), static_cast<double>(at));
}

std::vector<std::span<double>> linear::scaled() {
  std::vector<std::span<double>> found;
  auto at = chain(root());
  for (std::size_t k = 0; k < m_levels.size(); ++k) {
    if (k != 0) at = at.then(&level::next);
    if (all() || k + 1 == m_levels.size()) found.push_back(at.then(&level::values)[m_size.n].elements());
  }
  return found;
}

void linear::scale(level& root, bool all) {
  for (level* l = &root; l != nullptr; l = l->next)
    if (all || l->next == nullptr)
      for (double& v : span_of(l->values, l->count)) v *= factor;
}

std::int64_t linear::wrong() const {
  std::int64_t sum = 0;
  for (std::size_t at = 0; at < m_levels.size(); ++at)
    sum += wrong_elements(span_of(m_levels[at].values, m_levels[at].count), static_cast<double>(at),
                          all() || at + 1 == m_levels.size() ? factor : 1);
  return sum;
}

const char* linear::kernel_text() noexcept {
  return R"(
KERNEL void scale_levels(GLOBAL char* arena, double factor, int all) {
  GLOBAL long* header = (GLOBAL long*)arena;
  const long base = header[0];
  GLOBAL char* at = arena + header[2];
  for (;;) {
    GLOBAL long* pointers = (GLOBAL long*)at;
    const int count = *(GLOBAL int*)(at + 16);
    const int last = pointers[1] == 0;
    if ((all || last) && INDEX_X < count) {
      GLOBAL double* values = (GLOBAL double*)(arena + (pointers[0] - base));
      values[INDEX_X] *= factor;
    }
    if (last) break;
    at = arena + (pointers[1] - base);
  }
}
)";
}

std::uint64_t tree_size::nominal_bytes() const noexcept {
  const auto children = static_cast<std::uint64_t>(q), numbers = static_cast<std::uint64_t>(n);
  std::uint64_t bytes = 12 + 8 * numbers;
  for (int height = 1; height <= 3; ++height) bytes = 24 + 8 * numbers + children * bytes;
  return bytes;
}

std::string tree_size::text() const {
  return fmt::format("a tree of height 3, {} children per node, {} numbers", q, n);
}

dense::dense(const tree_size& size) : m_size(size) { fill(m_root); }

template <int Height>
void dense::fill(node<Height>& at) {
  at.count = static_cast<std::int32_t>(m_size.n);
  at.values = m_arrays.make(m_size.n);
  m_values.push_back(span_of(at.values, m_size.n));
  if constexpr (Height > 0) {
    const auto make = [&]<class Node>(std::vector<std::unique_ptr<Node[]>>& nodes) {
      return nodes.emplace_back(std::make_unique<Node[]>(static_cast<std::size_t>(m_size.q))).get();
    };
    if constexpr (Height == 3)
      at.children = make(m_nodes2);
    else if constexpr (Height == 2)
      at.children = make(m_nodes1);
    else
      at.children = make(m_leaves);
    at.child_count = static_cast<std::int32_t>(m_size.q);
    for (std::int64_t k = 0; k < m_size.q; ++k) fill(at.children[k]);
  }
}

void dense::initialise() {
  for (const std::span<double> values : m_values) fill_from(values, 1);
}

std::vector<std::span<double>> dense::scaled() {
  return {chain(m_root, &node<3>::children)
              .element(m_size.q - 1)
              .then(&node<2>::children)
              .element(m_size.q - 1)
              .then(&node<1>::children)
              .element(m_size.q - 1)
              .then(&node<0>::values)[m_size.n]
              .elements()};
}

void dense::scale(node<3>& root, bool) {
  const auto last = [](auto& at) -> auto& { return at.children[at.child_count - 1]; };
  node<0>& leaf = last(last(last(root)));
  for (double& v : span_of(leaf.values, leaf.count)) v *= factor;
}

std::int64_t dense::wrong() const {
  std::int64_t sum = 0;
  for (std::size_t k = 0; k < m_values.size(); ++k)
    sum += wrong_elements(m_values[k], 1, k + 1 == m_values.size() ? factor : 1);
  return sum;
}

const char* dense::kernel_text() noexcept {
  return R"(
KERNEL void scale_leaf(GLOBAL char* arena, double factor, int all) {
  GLOBAL long* header = (GLOBAL long*)arena;
  const long base = header[0];
  GLOBAL char* at = arena + header[2];
  for (int height = 3; height > 0; --height) {
    const long children = ((GLOBAL long*)at)[1];
    const int child_count = ((GLOBAL int*)(at + 16))[1];
    at = arena + (children - base) + (long)(child_count - 1) * (height > 1 ? 24 : 16);
  }
  const int count = *(GLOBAL int*)(at + 8);
  if (INDEX_X < count) {
    GLOBAL double* values = (GLOBAL double*)(arena + (((GLOBAL long*)at)[0] - base));
    values[INDEX_X] *= factor;
  }
}
)";
}

}  // namespace tessera::apps::deepcopy
