#pragma once
// What the policy auto has learnt, from run to run.
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/placement/region_rates.hpp"
#include "hierarchy/policy/learning.hpp"
#include "tessera/detail/runtime.hpp"

namespace tessera::hierarchy {

/// The rates of this program in the file that runtime.history names. Not thread-safe.
class kept_rates {
 public:
  /// Reads what an earlier run has kept; nothing where runtime.history is "off", and of a simulated run.
  explicit kept_rates(runtime& of);
  /// What a leaf takes for a region; unknown where nothing is.
  leaf_cost cost(std::string_view region, std::string_view leaf) const;
  /// Keeps these for later runs. What fails makes a line of the log.
  void keep(const std::vector<placement::region_rate>& rates) const noexcept;

 private:
  runtime& m_runtime;
  std::filesystem::path m_file;  // "": none
  std::vector<std::string> m_machine;
  std::string m_program = placement::this_program();
  std::map<std::pair<std::string, std::string>, leaf_cost> m_costs;  // by region and leaf
};

}  // namespace tessera::hierarchy
