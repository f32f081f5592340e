#include "plugins/kit/abi/ipc_key.hpp"

#include <unistd.h>

#include <cstddef>
#include <cstring>
#include <random>

namespace tessera::kit {
namespace {

/// As it lies in the 128 bytes.
struct key_layout {
  char title[8];
  exported_memory memory;
  std::uint8_t uuid[16];
  std::uint64_t process[2];
  std::uint64_t check;  // last: over all before it, and the plugin's name and version
};
static_assert(sizeof(exported_memory) == 80 && sizeof(key_layout) == TSR_IPC_KEY_BYTES);
constexpr char title[8] = {'t', 's', 'r', '.', 'i', 'p', 'c', '1'};

/// FNV-1a, 64 bits (Fowler, Noll, Vo).
std::uint64_t hash(const void* data, std::size_t bytes, std::uint64_t seed) {
  for (std::size_t i = 0; i < bytes; ++i) seed = (seed ^ static_cast<const std::uint8_t*>(data)[i]) * 0x100000001b3;
  return seed;
}

std::uint64_t check_sum(const key_layout& key, const ipc_origin& origin) {
  std::uint64_t sum = hash(&key, offsetof(key_layout, check), 0xcbf29ce484222325);
  sum = hash(origin.plugin.data(), origin.plugin.size(), sum);
  sum = hash("", 1, sum);
  return hash(origin.version.data(), origin.version.size(), sum);
}

/// Tells processes apart, also those that have had the same number one after the other.
void put_process(std::uint64_t out[2]) {
  static const std::uint64_t chosen = [] {
    std::random_device random;
    return std::uint64_t{random()} << 32 | random();
  }();
  out[0] = static_cast<std::uint64_t>(::getpid());
  out[1] = chosen;
}

}  // namespace

void write_key(const ipc_origin& origin, const exported_memory& memory,
               std::uint8_t out_key[TSR_IPC_KEY_BYTES]) noexcept {
  key_layout key;
  std::memset(static_cast<void*>(&key), 0, sizeof key);  // what lies between the fields too
  std::memcpy(key.title, title, sizeof title);
  std::memcpy(key.memory.handle, memory.handle, sizeof memory.handle);
  key.memory.bytes = memory.bytes;
  key.memory.space = memory.space;
  std::memcpy(key.uuid, origin.uuid, sizeof key.uuid);
  put_process(key.process);
  key.check = check_sum(key, origin);
  std::memcpy(out_key, &key, sizeof key);
}

tsr_status read_key(const reporter& report, const ipc_origin& origin, const std::uint8_t given[TSR_IPC_KEY_BYTES],
                    exported_memory& out) {
  key_layout key;
  std::memcpy(static_cast<void*>(&key), given, sizeof key);
  if (std::memcmp(key.title, title, sizeof title) != 0)
    return report.fail(TSR_INVALID_ARGUMENT, "import_memory: these bytes are no key of a memory");
  if (key.check != check_sum(key, origin))
    return report.fail(TSR_INVALID_ARGUMENT, "import_memory: the key is damaged, or not one of plugin '%.*s' %.*s",
                       static_cast<int>(origin.plugin.size()), origin.plugin.data(),
                       static_cast<int>(origin.version.size()), origin.version.data());
  if (std::memcmp(key.uuid, origin.uuid, sizeof key.uuid) != 0)
    return report.fail(TSR_INVALID_ARGUMENT, "import_memory: the key is of another device");
  std::uint64_t here[2];
  put_process(here);
  if (std::memcmp(key.process, here, sizeof here) == 0)
    return report.fail(TSR_FAILED_PRECONDITION, "import_memory: this process has exported the memory itself");
  out = key.memory;
  return TSR_OK;
}

}  // namespace tessera::kit
