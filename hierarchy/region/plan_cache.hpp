#pragma once
// What regions have been planned before.
#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "core/location/tree.hpp"
#include "hierarchy/policy/policy.hpp"
#include "hierarchy/region/plan.hpp"

namespace tessera::hierarchy {

/// Policies by their texts, and leaves and plans of one tree. Bounded: what is full is emptied, since only a program
/// that makes up texts or lengths each time fills it. For one thread at a time.
class plan_cache {
 public:
  static constexpr std::size_t max_policies = 1024, max_plans = 4096, max_leaves = 256;
  /// What a plan depends on, in one tree.
  struct plan_key {
    std::shared_ptr<const policy> rule;
    std::uint64_t iterations;
    location::node_id at;
    bool devices;                      ///< whether any take part
    const location::node_id* without;  ///< the list of those that do not, by its place: region_kernels::runners_of
    auto operator<=>(const plan_key&) const = default;
  };

  /// From now on leaves and plans are those of this tree: what is known of another one is forgotten.
  void use(const std::shared_ptr<const location::tree>& tree) {
    if (m_tree == tree) return;
    m_plans.clear();
    m_leaves.clear();
    m_tree = tree;
  }
  /// The policy of this text; else what make() gives, from now on.
  template <class Make>
  std::shared_ptr<const policy> policy_of(std::string_view text, Make&& make) {
    if (const auto found = m_policies.find(text); found != m_policies.end()) return found->second;
    std::shared_ptr<const policy> fresh = std::forward<Make>(make)();
    if (m_policies.size() >= max_policies) m_policies.clear();
    return m_policies.emplace(std::string(text), std::move(fresh)).first->second;
  }
  /// The leaves below a location that take part; likewise.
  template <class Make>
  const std::vector<location::node_id>& leaves_of(location::node_id at, const executors& runners, Make&& make) {
    const std::tuple key(at, runners.devices, runners.without.data());
    if (const auto known = m_leaves.find(key); known != m_leaves.end()) return known->second;
    std::vector<location::node_id> fresh = std::forward<Make>(make)();
    if (m_leaves.size() >= max_leaves) m_leaves.clear();
    return m_leaves.emplace(key, std::move(fresh)).first->second;
  }
  /// The plan; likewise.
  template <class Make>
  std::shared_ptr<const plan> plan_of(const plan_key& key, Make&& make) {
    if (const auto found = m_plans.find(key); found != m_plans.end()) return found->second;
    std::shared_ptr<const plan> fresh = std::forward<Make>(make)();
    if (m_plans.size() >= max_plans) m_plans.clear();
    return m_plans.emplace(key, std::move(fresh)).first->second;
  }

 private:
  std::map<std::string, std::shared_ptr<const policy>, std::less<>> m_policies;
  std::shared_ptr<const location::tree> m_tree;
  std::map<plan_key, std::shared_ptr<const plan>> m_plans;
  std::map<std::tuple<location::node_id, bool, const location::node_id*>, std::vector<location::node_id>> m_leaves;
};

}  // namespace tessera::hierarchy
