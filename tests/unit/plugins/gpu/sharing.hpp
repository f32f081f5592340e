#pragma once
// A plugin that shares its memory with other processes: for the tests and for the process beside them.
#include <array>

#include "tests/unit/plugins/opened_plugin.hpp"

namespace tessera::test {

using memory_key = std::array<std::uint8_t, TSR_IPC_KEY_BYTES>;

/// A plugin opened with `shared`, its first device, and the table.
struct sharing {
  explicit sharing(const std::string& name) : plugin(name, {{"shared", TSR_OPTION_BOOL, 1, 0, {}}}) {
    const void* found = nullptr;
    opened_plugin::check(plugin.table->extension(plugin.plugin, d().handle, TSR_EXTENSION_IPC, 1, &found));
    ipc = static_cast<const tsr_ipc_table*>(found);
  }
  const opened_plugin::device& d() const { return plugin.devices.at(0); }
  tsr_memory* allocate(std::uint64_t bytes, std::uint32_t space = 0) const {
    tsr_memory* made = nullptr;
    opened_plugin::check(d().table->mem_alloc(d().handle, space, bytes, &made));
    return made;
  }
  memory_key exported(tsr_memory* memory) const {
    memory_key made{};
    opened_plugin::check(ipc->export_memory(d().handle, memory, made.data()));
    return made;
  }
  tsr_status import(const memory_key& what, tsr_memory** out) const {
    return ipc->import_memory(d().handle, what.data(), out);
  }
  std::uint64_t query(tsr_query_key what) const {
    std::uint64_t value = 0;
    opened_plugin::check(d().table->query(d().handle, what, 0, &value));
    return value;
  }
  opened_plugin plugin;
  const tsr_ipc_table* ipc = nullptr;
};

}  // namespace tessera::test
