#pragma once
// The machines of tests of rows of arrays.
#include <gtest/gtest.h>

#include <ostream>
#include <string>

#include "tessera/region.hpp"
#include "tests/integration/runtime/machines.hpp"

namespace tessera {

struct rows_setting {
  const char* name;
  machine (*make)();
  static std::string name_of(const ::testing::TestParamInfo<rows_setting>& one) { return one.param.name; }
};
inline void PrintTo(const rows_setting& s, std::ostream* out) { *out << s.name; }

inline auto rows_settings() {
  return ::testing::Values(
      rows_setting{"one_worker", [] { return testing::host_only(1); }},
      rows_setting{"host", [] { return testing::host_only(3); }},
      rows_setting{"two_hosts", [] { return testing::machine_of("plugins = [\"host\"]\n" + testing::two_hosts, 4); }},
      rows_setting{
          "two_hosts_validated",
          [] { return testing::machine_of("plugins = [\"host\"]\nvalidate = true\n" + testing::two_hosts, 4); }},
      rows_setting{"gpus", [] { return testing::with_gpus("cuda_emulated", 2, "4 MiB", "history = \"off\"\n"); }});
}

struct task_rows : ::testing::TestWithParam<rows_setting> {
  runtime rt{GetParam().make()};
  location_model model{rt};
};

}  // namespace tessera
