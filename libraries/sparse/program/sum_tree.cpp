#include "libraries/sparse/program/sum_tree.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "libraries/sparse/program/device_kernels.hpp"
#include "tessera/operation.hpp"

namespace tessera::sparse {
namespace {

/// Parts that one task adds up; decides the bits of a result.
constexpr std::size_t fan_in = max_summed;

double* numbers(const op::operand& o) { return static_cast<double*>(o.host); }

}  // namespace

/// What tasks do with their blocks.
struct sum_tree::launches {
  /// The first block is the sum of the others.
  static void sum(const op::context& c) {
    double* const to = numbers(c.operands[0]);
    const std::int64_t size = c.operands[0].extents->count();
    std::copy_n(numbers(c.operands[1]), size, to);
    for (std::size_t part = 2; part < c.operands.size(); ++part) {
      const double* const from = numbers(c.operands[part]);
      for (std::int64_t i = 0; i < size; ++i) to[i] += from[i];
    }
  }
  static void sum_on_device(const op::context& c, op::kernel_launch& how) {
    const std::int64_t size = c.operands[0].extents->count();
    how.over(size).block(c.operands[0]).value(size).value(std::ssize(c.operands) - 1);
    add_parts(how, c.operands.subspan(1));
  }

  /// Adds up the first blocks into small matrices, the blocks behind them.
  static void finish(const op::context& c) {
    const sum_tree& tree = *c.arguments_as<const sum_tree*>();
    const std::size_t parts = tree.parts();
    for (std::size_t r = 0; r < tree.m_reductions.size(); ++r) {
      const reduced& one = tree.m_reductions[r];
      double* const to = numbers(c.operands[parts + r]);
      std::copy_n(numbers(c.operands[0]) + one.begin, one.size, to);
      for (std::size_t k = 1; k < parts; ++k) {
        const double* const part = numbers(c.operands[k]) + one.begin;
        for (std::int64_t i = 0; i < one.size; ++i) to[i] += part[i];
      }
      if (one.mirror)
        for (std::int64_t i = 0; i < one.to->rows; ++i)
          for (std::int64_t j = 0; j < i; ++j) to[i * one.to->columns + j] = to[j * one.to->columns + i];
      if (one.root) std::transform(to, to + one.size, to, [](double x) { return std::sqrt(x); });
    }
  }
  static void finish_on_device(const op::context& c, op::kernel_sequence& to) {
    const sum_tree& tree = *c.arguments_as<const sum_tree*>();
    const std::span<const reduced> all = tree.m_reductions;
    for (std::size_t from = 0; from < all.size(); from += max_finished) {
      const std::span<const reduced> some = all.subspan(from, std::min(max_finished, all.size() - from));
      const std::int64_t size = some.back().begin + some.back().size - some.front().begin;
      op::kernel_launch how;
      how.over(size).value(size).value(some.front().begin).value(static_cast<std::int64_t>(tree.parts()));
      for (std::size_t k = 0; k < max_finished; ++k) {
        const std::size_t r = std::min(k, some.size() - 1);
        how.block(c.operands[tree.parts() + from + r]).value(some[r].to->columns);
        how.value(static_cast<std::int64_t>(some[r].mirror)).value(static_cast<std::int64_t>(some[r].root));
        how.value(some[r].begin + some[r].size - some.front().begin);
      }
      add_parts(how, c.operands.first(tree.parts()));
      to.launch(0, how);
    }
  }

 private:
  static void add_parts(op::kernel_launch& how, std::span<const op::operand> parts) {
    for (std::size_t k = 0; k < max_summed; ++k) how.block(parts[std::min(k, parts.size() - 1)]);
  }
};

const op::definition& sum_tree::sum_operation(runtime& rt) {
  return found_or_defined(rt, "sparse_sum", [](op::definition& what) {
    what.host = &launches::sum;
    what.kernel.name = "sparse_add_parts";
    what.kernel.text = sums_text();
    what.kernel.launch = &launches::sum_on_device;
  });
}

const op::definition& sum_tree::finish_operation(runtime& rt) {
  return found_or_defined(rt, "sparse_reduce", [](op::definition& what) {
    what.host = &launches::finish;
    what.kernel.names = {"sparse_finish"};
    what.kernel.text = sums_text();
    what.kernel.sequence = &launches::finish_on_device;
  });
}

sum_tree::sum_tree(runtime& rt, std::int64_t panels, std::int64_t size, std::vector<reduced> reductions)
    : m_sum(sum_operation(rt)), m_finish(finish_operation(rt)), m_reductions(std::move(reductions)) {
  constexpr auto together = static_cast<std::int64_t>(fan_in);
  for (std::int64_t parts = panels;; parts = (parts + together - 1) / together) {
    m_levels.push_back(rt.make_array<double>("partial sums", {parts * size}, {size}));
    if (parts <= together) break;
  }
}

void sum_tree::submit(runtime& rt, std::uint32_t location) const {
  const auto site = std::source_location::current();
  const task_options soon{.priority = 1, .at = location};  // everything else waits for these
  std::vector<block_access> used;
  for (std::size_t level = 1; level < m_levels.size(); ++level)
    for (std::size_t k = 0; k < m_levels[level].size(); ++k) {
      const array<double>& parts = m_levels[level - 1];
      used.assign(1, write(m_levels[level].block(k)));
      for (std::size_t j = k * fan_in; j < std::min((k + 1) * fan_in, parts.size()); ++j)
        used.push_back(read(parts.block(j)));
      rt.submit_operation(m_sum, nullptr, 0, used, soon, site);
    }
  used.clear();
  for (std::size_t k = 0; k < parts(); ++k) used.push_back(read(m_levels.back().block(k)));
  for (const reduced& r : m_reductions) used.push_back(r.to->use(intent::write));
  const sum_tree* const self = this;
  rt.submit_operation(m_finish, &self, sizeof self, used, soon, site);
}

std::int64_t sum_tree::tasks() const noexcept {
  std::int64_t count = 1;
  for (std::size_t level = 1; level < m_levels.size(); ++level)
    count += static_cast<std::int64_t>(m_levels[level].size());
  return count;
}

}  // namespace tessera::sparse
