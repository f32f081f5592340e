#include "hierarchy/policy/split.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/base/error.hpp"
#include "hierarchy/policy/shares.hpp"

namespace tessera::hierarchy {
namespace {

using location::node_id;

/// floor(k n / c) for k <= c, without overflow.
std::uint64_t boundary(std::uint64_t n, std::uint64_t k, std::uint64_t c) { return n / c * k + n % c * k / c; }

class splitter {
 public:
  splitter(std::uint64_t n, const location::tree& tree, node_id at, const split_context& context)
      : m_n(n), m_tree(tree), m_at(at), m_context(context), m_leaves(context.known.begin(), context.known.end()) {
    if (m_leaves.empty()) m_leaves = executing_leaves(tree, at, context.leaves, context.who);
    if (m_leaves.empty() && !executing_leaves(tree, at, context.leaves).empty()) {
      if (context.who.devices)
        refuse(fmt::format("no device at or below location '{}' compiles its kernel", tree.at(at).properties.name),
               "run it at a location that has cores of the host below it, or a device with a compiler and its types");
      refuse(
          fmt::format("nothing at or below location '{}' runs functions of the host", tree.at(at).properties.name),
          "its body is host code: give it a text for devices (with_kernel), or run it at a location that has cores of "
          "the host below it");
    }
    if (m_leaves.empty())
      refuse(fmt::format("nothing at or below location '{}' executes", tree.at(at).properties.name),
             "attach a worker or a device there, or run the region elsewhere");
    if (!context.states.empty() && context.states.size() != m_leaves.size())
      refuse(fmt::format("{} leaf states for {} leaves", context.states.size(), m_leaves.size()));
  }

  std::vector<chunk> run(const policy& by) {
    switch (by.kind) {
      case policy_kind::static_split:
        down(m_at, 0, m_n);
        break;
      case policy_kind::flatten:
        flatten();
        break;
      case policy_kind::percentage:
        shares(by.percentages);
        break;
      case policy_kind::range:
        counts(by.counts);
        break;
      case policy_kind::any:
        any();
        break;
      case policy_kind::automatic:
        automatic();
        break;
      case policy_kind::runtime:
        refuse("the policy 'runtime' was not resolved before the split");
    }
    return std::move(m_chunks);
  }

 private:
  std::uint64_t m_n;
  const location::tree& m_tree;
  node_id m_at;
  const split_context& m_context;
  std::vector<node_id> m_leaves;
  std::vector<chunk> m_chunks;

  [[noreturn]] void refuse(std::string message, std::string hint = {}) const {
    throw error(error_kind::configuration, std::move(message),
                m_context.region.empty() ? std::string("a region without a name") : "region " + m_context.region,
                std::move(hint));
  }

  void give(node_id leaf, std::uint64_t begin, std::uint64_t end) {
    if (begin < end) m_chunks.push_back({leaf, begin, end});
  }

  void down(node_id id, std::uint64_t begin, std::uint64_t end) {
    const auto children = executing_children(m_tree, id, m_context.leaves, m_context.who);
    if (children.empty()) return give(id, begin, end);
    for (std::size_t k = 0; k < children.size(); ++k)
      down(children[k], begin + boundary(end - begin, k, children.size()),
           begin + boundary(end - begin, k + 1, children.size()));
  }

  void flatten() {
    for (std::size_t k = 0; k < m_leaves.size(); ++k)
      give(m_leaves[k], boundary(m_n, k, m_leaves.size()), boundary(m_n, k + 1, m_leaves.size()));
  }

  void shares(const std::vector<double>& percentages) {
    // A 64-bit mantissa: exact for every n that fits.
    long double cumulated = 0;
    std::uint64_t begin = 0;
    const long double sum = std::accumulate(percentages.begin(), percentages.end(), 0.0L);
    if (percentages.empty() || std::abs(sum - 100.0L) > 0.01L + 1e-9L)
      refuse(fmt::format("policy percentage: the shares sum to {:g}, not 100", static_cast<double>(sum)));
    std::size_t last = percentages.size() - 1;  // has what rounding, or a sum below 100, leaves
    while (last > 0 && !(percentages[last] > 0)) --last;
    for (std::size_t t = 0; t < percentages.size(); ++t) {
      if (!(percentages[t] >= 0))
        refuse(fmt::format("policy percentage: entry {} is {:g}, below 0", t + 1, percentages[t]));
      cumulated += percentages[t];
      const long double exact = std::round(static_cast<long double>(m_n) * cumulated / 100.0L);
      std::uint64_t end = exact >= static_cast<long double>(m_n) ? m_n : static_cast<std::uint64_t>(exact);
      if (t >= last) end = m_n;
      give(m_leaves[t % m_leaves.size()], begin, end);
      begin = end;
    }
  }

  void counts(const std::vector<std::uint64_t>& list) {
    std::uint64_t sum = 0;
    bool overflow = false;
    for (const std::uint64_t count : list) overflow |= __builtin_add_overflow(sum, count, &sum);
    if (overflow || sum != m_n)
      refuse(fmt::format("policy range: the counts sum to {}, but the loop has {} iterations",
                         overflow ? std::string("more than 2^64") : std::to_string(sum), m_n),
             "one list of counts fits loops of one length; percentage gives loops of all lengths the same shares");
    std::uint64_t begin = 0;
    for (std::size_t t = 0; t < list.size(); begin += list[t], ++t)
      give(m_leaves[t % m_leaves.size()], begin, begin + list[t]);
  }

  void any() {
    std::size_t chosen = 0;
    if (const auto states = m_context.states; !states.empty()) {
      const auto idle = std::ranges::find(states, true, &leaf_state::idle);
      const auto best =
          idle != states.end() ? idle : std::ranges::min_element(states, {}, &leaf_state::expected_finish);
      chosen = static_cast<std::size_t>(best - states.begin());
    }
    give(m_leaves[chosen], 0, m_n);
  }

  void automatic() {
    std::vector<leaf_cost> costs;
    for (const leaf_state& s : m_context.states) costs.push_back(s.cost);
    if (std::ranges::none_of(costs, &leaf_cost::known)) return flatten();
    counts(earliest_shares(m_n, costs));
  }
};

}  // namespace

std::vector<chunk> split(const policy& by, std::uint64_t n, const location::tree& tree, node_id at,
                         const split_context& context) {
  return splitter(n, tree, at, context).run(by);
}

}  // namespace tessera::hierarchy
