#pragma once
// Devices for tests of discovery, declaration and drawing.
#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "core/base/error.hpp"
#include "hierarchy/discovery/devices.hpp"
#include "tests/support/error_of.hpp"

namespace tessera::hierarchy {

/// A host with one space per NUMA domain, as the host plugin reports it; domains 0 .. count-1.
inline found_device invented_host(std::uint32_t domains) {
  found_device d;
  d.index = 0;
  d.name = "host";
  d.plugin = "host";
  d.device_class = TSR_DEVICE_CPU;
  for (std::uint32_t i = 0; i < domains; ++i)
    d.spaces.push_back({i, TSR_SPACE_HOST, static_cast<std::int32_t>(i), 4ull << 30});
  return d;
}

inline found_device invented_device(std::uint32_t index, std::string name, tsr_device_class what = TSR_DEVICE_GPU,
                                    std::uint64_t bytes = 1ull << 30) {
  found_device d;
  d.index = index;
  d.name = std::move(name);
  d.plugin = what == TSR_DEVICE_STORAGE ? "disk" : what == TSR_DEVICE_GPU ? "cuda" : "sim";
  d.description = "Invented " + d.name;
  d.device_class = what;
  d.spaces.push_back(
      {0, static_cast<tsr_space_kind>(what == TSR_DEVICE_STORAGE ? TSR_SPACE_STORAGE : TSR_SPACE_DEVICE), -1, bytes});
  d.bandwidth = 12e9;
  d.latency_ns = 5000;
  return d;
}

using test_support::message_of;

/// Whether a text has all these parts.
inline testing::AssertionResult has(const std::string& text, std::initializer_list<const char*> parts) {
  for (const char* part : parts)
    if (text.find(part) == std::string::npos)
      return testing::AssertionFailure() << "'" << part << "' is not in: " << text;
  return testing::AssertionSuccess();
}

}  // namespace tessera::hierarchy
