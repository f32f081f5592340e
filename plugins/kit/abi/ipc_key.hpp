#pragma once
// What the 128 bytes of a key for another process's memory say.
#include <tessera/plugin.h>

#include <cstdint>
#include <string_view>

#include "plugins/kit/abi/report.hpp"

namespace tessera::kit {

/// An allocation that a process has exported: the vendor's handle on it, and what every plugin needs to know besides.
struct exported_memory {
  static constexpr std::size_t handle_bytes = 64;
  std::uint8_t handle[handle_bytes] = {};
  std::uint64_t bytes = 0;
  std::uint32_t space = 0;
};

/// Whose keys they are: a plugin by its name and version, a device by its uuid.
struct ipc_origin {
  std::string_view plugin, version;
  std::uint8_t uuid[16] = {};
};

void write_key(const ipc_origin& origin, const exported_memory& memory,
               std::uint8_t out_key[TSR_IPC_KEY_BYTES]) noexcept;

/// Fails: INVALID_ARGUMENT (no key, a damaged one, one of another plugin, version or device), FAILED_PRECONDITION (this
/// process's).
tsr_status read_key(const reporter& report, const ipc_origin& origin, const std::uint8_t key[TSR_IPC_KEY_BYTES],
                    exported_memory& out);

}  // namespace tessera::kit
