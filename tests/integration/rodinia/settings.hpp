#pragma once
// Machines and policies under which the applications are run, and what all of them must agree on.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tessera/region.hpp"
#include "tests/integration/runtime/machines.hpp"

namespace tessera::testing {

/// A tree and a policy.
struct rodinia_setting {
  const char* name;
  const char* policy;
  int memories;           ///< of the host
  const char* gpus = "";  ///< a plugin with a device beside it
  const char* file = "";  ///< instead of both: a file of configs
  const char* set = "";   ///< and a key over it
};
inline void PrintTo(const rodinia_setting& s, std::ostream* out) { *out << s.name; }

inline constexpr rodinia_setting rodinia_settings[] = {
    {"static_one", "static", 1},
    {"flatten_one", "flatten", 1},
    {"percentage_one", "percentage:70,30", 1},
    {"any_one", "any", 1},
    {"static_two", "static", 2},
    {"percentage_two", "percentage:10,40,20,30", 2},
    {"zero_share_two", "percentage:50,0,0,50", 2},
    {"auto_two", "auto", 2},
    {"cuda_emulated", "static", 1, "cuda_emulated"},
    {"hip_emulated", "flatten", 1, "hip_emulated"},
    {"sim", "static", 1, "sim"},
    {"sim_auto", "auto", 1, "sim"},
    {"policy_of_the_configuration", "runtime", 1, "", "host", "region.policy=percentage:25,75"},
    {"two_gpus", "percentage:10,20,40,30", 1, "cuda_emulated", "cuda_emulated", "plugin.cuda_emulated.devices=2"},
    {"small_device", "percentage:15,15,70", 1, "sim", "sim_quarter", "plugin.sim.device[0].memory=1536KiB"},
    {"declared_tree", "runtime", 1, "sim", "declared_tree"},  // which has a policy, too
    {"two_domains", "static", 2, "", "two_domains"},
    {"storage", "static", 1, "", "host_and_disk"},  // stays empty: arrays of regions are the process's own memory
#if defined(TESSERA_TEST_OPENCL)
    {"host_beside_opencl", "static", 1},  // in its process
    {"opencl", "static", 1, "opencl"},
#endif
};

/// A runtime under each setting.
class rodinia : public ::testing::TestWithParam<rodinia_setting> {
 protected:
  static machine make(const rodinia_setting& s) {
    if (*s.file != '\0') {
      std::vector<std::string> set{"runtime.history=off"};
      if (*s.set != '\0') set.emplace_back(s.set);
      const std::string file = std::string(TESSERA_SOURCE_DIR) + "/configs/" + s.file + ".toml";
      const std::optional<std::uint32_t> workers =
          s.name == std::string("declared_tree") || s.memories == 2 ? std::nullopt : std::optional(2u);
      return hierarchy::assemble(config::document::load({{file}, set, workers, {{}}}));
    }
    if (s.gpus == std::string("sim")) return with_sims(1, "256 MiB", false, 2, "history = \"off\"\n");
    if (*s.gpus != '\0') return with_gpus(s.gpus, 1, "256 MiB", "history = \"off\"\n");
    return s.memories == 2 ? machine_of("plugins = [\"host\"]\n" + two_hosts, 4) : host_only();
  }
  /// Whether a device, where there is one, got a part of the last launch of a region. With `auto` it may be too slow.
  bool devices_took_part(const char* region) const {
    if (*GetParam().gpus == '\0' || GetParam().policy == std::string("auto")) return true;
    const std::vector<region_row> rows = model.regions();
    const auto row = std::ranges::find(rows, region, &region_row::name);
    return row != rows.end() && std::ranges::any_of(row->shares, [](const region_share& s) {
             return s.leaf.starts_with(GetParam().gpus) || s.leaf.starts_with("LocG");  // in declared_tree
           });
  }
  /// Whether a device, where there is one, ran a task of a region.
  bool devices_ran(const std::string& region) const {
    if (*GetParam().gpus == '\0' || GetParam().policy == std::string("auto")) return true;
    const statistics so_far = rt.statistics();
    return std::ranges::any_of(so_far.operations, [&](const schedule::operation_statistics& o) {
      return o.tasks > 0 && o.operation.starts_with("region " + region) && o.place.starts_with(GetParam().gpus);
    });
  }
  runtime rt{make(GetParam())};
  location_model model{rt};
  region_options how{.policy = region_policy::from_text(GetParam().policy)};

  /// Whether functions of mathematics have the host's bits: OpenCL's compilers bring their own.
  static bool has_mathematics_of_host() { return GetParam().gpus != std::string("opencl"); }

  /// The bits are those of the setting that came here first.
  template <class T>
  static void expect_same(const std::string& what, std::span<const T> seen) {
    static std::map<std::string, std::vector<T>> first;
    const auto [at, fresh] = first.try_emplace(what, seen.begin(), seen.end());
    EXPECT_TRUE(fresh || (at->second.size() == seen.size() &&
                          std::memcmp(at->second.data(), seen.data(), seen.size_bytes()) == 0))
        << what;
  }
};

inline std::string name_of_rodinia(const ::testing::TestParamInfo<rodinia_setting>& info) { return info.param.name; }

inline void expect_close(double seen, double expected, double relative, const char* what) {
  EXPECT_LE(std::abs(seen - expected), relative * std::abs(expected)) << what << ": " << seen;
}

/// A file of tests/data/rodinia.
inline std::string rodinia_file(const std::string& name) {
  return std::string(TESSERA_SOURCE_DIR) + "/tests/data/rodinia/" + name;
}

}  // namespace tessera::testing
