#include "languages/sial/interpreter/deterministic_sums.hpp"

#include <mutex>

namespace tessera::sial {

void deterministic_sums::add(std::uint32_t array, std::int64_t ordinal, const shape& extents, const tile& from,
                             double value) {
  private_block*& sum = m_sums[array][ordinal];
  if (sum == nullptr) {
    sum = &m_pool.take(extents);
    fill(sum->data, sum->count, 0);
  }
  if (from.data == nullptr)
    add_value(sum->data, sum->count, value);
  else
    add_scaled(sum->data, from.data, sum->count, 1);
}

void deterministic_sums::drop(std::uint32_t array, std::int64_t ordinal) {
  const auto sum = m_sums[array].find(ordinal);
  if (sum == m_sums[array].end()) return;
  m_pool.give(*sum->second);
  m_sums[array].erase(sum);
}

void deterministic_sums::drop_all(std::uint32_t array) {
  for (const auto& [ordinal, sum] : m_sums[array]) m_pool.give(*sum);
  m_sums[array].clear();
}

void deterministic_sums::hand_over(std::uint32_t array, std::int64_t ordinal) {
  const auto sum = m_sums[array].find(ordinal);
  if (sum != m_sums[array].end()) hand_over(array, sum);
}

void deterministic_sums::hand_over_all() {
  for (std::uint32_t array = 0; array < m_sums.size(); ++array)
    while (!m_sums[array].empty()) hand_over(array, m_sums[array].begin());
}

void deterministic_sums::hand_over(std::uint32_t array, sums_of_array::iterator which) {
  private_block& sum = *which->second;
  array_generation& generation = *m_generations[array];
  shared_block& b = generation.begin_store(which->first, sum.extents(), store_kind::add);
  {
    const std::lock_guard guard(b.lock);
    if (b.written) {
      auto to = b.elements.update();
      add_scaled(to.data(), sum.data, sum.count, 1);
    } else {
      auto to = b.elements.write();
      copy(to.data(), sum.data, sum.count);
      b.written = true;
    }
    generation.end_store(which->first, b, store_kind::add, 1);
  }
  m_pool.give(sum);
  m_sums[array].erase(which);
}

}  // namespace tessera::sial
