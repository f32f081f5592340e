#pragma once
// What every plugin checks of a launch before it looks at the arguments.
#include <tessera/plugin.h>

#include "plugins/kit/abi/report.hpp"

namespace tessera::kit {

/// Threads of a group, at most.
inline constexpr unsigned max_threads = 1024;

/// Fails: INVALID_ARGUMENT with a record that names the kernel.
inline tsr_status check_geometry(const reporter& report, const char* kernel, const tsr_launch* launch) {
  if (launch == nullptr) return report.fail(TSR_INVALID_ARGUMENT, "launch of '%s': the launch is NULL", kernel);
  std::uint64_t threads = 1;
  for (int d = 0; d < 3; ++d) {
    if (launch->grid[d] == 0 || launch->group[d] == 0)
      return report.fail(TSR_INVALID_ARGUMENT, "launch of '%s': an extent of the %s is 0", kernel,
                         launch->grid[d] == 0 ? "grid" : "group");
    threads *= launch->group[d];
    if (threads > max_threads)
      return report.fail(TSR_INVALID_ARGUMENT, "launch of '%s': a group of %u x %u x %u threads; %u is the most",
                         kernel, launch->group[0], launch->group[1], launch->group[2], max_threads);
  }
  if (launch->argument_count > 0 && (launch->arguments == nullptr || launch->argument_sizes == nullptr))
    return report.fail(TSR_INVALID_ARGUMENT, "launch of '%s': arguments or their sizes are NULL", kernel);
  for (std::uint32_t i = 0; i < launch->argument_count; ++i)
    if (launch->arguments[i] == nullptr)
      return report.fail(TSR_INVALID_ARGUMENT, "launch of '%s': argument %u is NULL", kernel, i);
  return TSR_OK;
}

}  // namespace tessera::kit
