#include "core/plugin/tables.hpp"

#include <fmt/format.h>

#include <initializer_list>
#include <string>
#include <utility>

#include "core/base/error.hpp"

namespace tessera::plugin {
namespace {

struct entry {
  const char* name;
  bool there;
};

void require(const char* table, const void* given, std::initializer_list<entry> entries,
             const std::filesystem::path& file) {
  if (given == nullptr)
    throw error(error_kind::plugin, fmt::format("the plugin gives no {} (a null pointer)", table), file.string(),
                "set the out_ argument to a table that lives as long as the header says");
  for (const auto& [name, there] : entries)
    if (!there)
      throw error(error_kind::plugin,
                  fmt::format("the mandatory entry \"{}\" of the plugin's {} is missing", name, table), file.string(),
                  "set it, and set struct_size to the sizeof of the table; plugin.h says what it must do");
}

}  // namespace

tsr_plugin_table checked_table(const tsr_plugin_table* table, const std::filesystem::path& file) {
  const tsr_plugin_table t = completed(table);
  require("tsr_plugin_table", table,
          {{"enumerate", t.enumerate != nullptr},
           {"device_open", t.device_open != nullptr},
           {"device_close", t.device_close != nullptr},
           {"shutdown", t.shutdown != nullptr}},
          file);
  return t;
}

tsr_device_table checked_table(const tsr_device_table* table, const std::filesystem::path& file) {
  const tsr_device_table t = completed(table);
  require("tsr_device_table", table,
          {{"spaces", t.spaces != nullptr},
           {"link", t.link != nullptr},
           {"mem_alloc", t.mem_alloc != nullptr},
           {"mem_free", t.mem_free != nullptr},
           {"stream_create", t.stream_create != nullptr},
           {"stream_destroy", t.stream_destroy != nullptr},
           {"stream_signal", t.stream_signal != nullptr},
           {"stream_progress", t.stream_progress != nullptr},
           {"copy", t.copy != nullptr}},
          file);
  return t;
}

tsr_policy_table checked_table(const tsr_policy_table* table, const std::filesystem::path& file) {
  const tsr_policy_table t = completed(table);
  require("tsr_policy_table", table, {{"place", t.place != nullptr}}, file);
  return t;
}

tsr_layer_table checked_table(const tsr_layer_table* table, const std::filesystem::path& file) {
  const tsr_layer_table t = completed(table);
  require("tsr_layer_table", table, {{"wrap", t.wrap != nullptr}}, file);
  return t;
}

std::vector<tsr_operation> checked_operations(const tsr_operations_table* table, const std::filesystem::path& file) {
  const tsr_operations_table t = completed(table);
  require("tsr_operations_table", table, {{"operations", t.operations != nullptr || t.count == 0}}, file);
  std::vector<tsr_operation> operations = completed_array(t.operations, t.count);
  if (operations.size() != t.count)
    throw error(error_kind::plugin, "the first operation of the plugin has struct_size 0", file.string(),
                "set struct_size of every operation to sizeof(tsr_operation)");
  for (const tsr_operation& operation : operations)
    require("tsr_operation", &operation,
            {{"name", operation.name != nullptr},
             {"host", operation.host != nullptr},
             {"intents", operation.intents != nullptr || operation.intent_count == 0}},
            file);
  for (const tsr_operation& operation : operations)
    for (std::uint32_t k = 0; k < operation.intent_count; ++k)
      if (operation.intents[k] > TSR_SCRATCH)
        throw error(error_kind::plugin,
                    fmt::format("operation \"{}\" has intent {} for block {}", operation.name, operation.intents[k], k),
                    file.string(), "the intents are TSR_READ (0) to TSR_SCRATCH (4)");
  return operations;
}

}  // namespace tessera::plugin
