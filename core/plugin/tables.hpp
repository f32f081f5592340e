#pragma once
// Copies of a plugin's C tables, completed with nulls to the size that this build knows.
#include <tessera/plugin.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <vector>

namespace tessera::plugin {

/// What the plugin's side knows of a struct, in a struct of this build: fields that it does not know are zero; fields
/// that this build does not know are left behind. Null gives all zero. struct_size becomes that of this build.
template <class T>
T completed(const T* from) {
  T to{};
  if (from != nullptr) std::memcpy(&to, from, std::min<std::size_t>(from->struct_size, sizeof(T)));
  to.struct_size = sizeof(T);
  return to;
}

/// Room for a struct that a plugin fills, and some more behind it: a plugin of a newer minor version that forgets rule
/// R1 and writes the whole of its own, longer struct does no harm.
template <class T>
struct roomy {
  T value{};
  unsigned char room[256]{};
  roomy() { value.struct_size = sizeof(T); }
};

/// completed() for an array, whose elements lie as far apart as the plugin's side built them.
template <class T>
std::vector<T> completed_array(const T* first, std::size_t count) {
  std::vector<T> all;
  if (first == nullptr || first->struct_size == 0) return all;
  const std::size_t step = first->struct_size;
  const char* bytes = reinterpret_cast<const char*>(first);
  for (std::size_t i = 0; i < count; ++i) all.push_back(completed(reinterpret_cast<const T*>(bytes + i * step)));
  return all;
}

/// Completed tables whose mandatory entries are all there. Throw tessera::error (kind plugin) that names the first
/// entry that is missing, with `file` as the place.
tsr_plugin_table checked_table(const tsr_plugin_table* table, const std::filesystem::path& file);
tsr_device_table checked_table(const tsr_device_table* table, const std::filesystem::path& file);
tsr_policy_table checked_table(const tsr_policy_table* table, const std::filesystem::path& file);
tsr_layer_table checked_table(const tsr_layer_table* table, const std::filesystem::path& file);
/// The operations of an OPERATIONS plugin: each has a name and a host function.
std::vector<tsr_operation> checked_operations(const tsr_operations_table* table, const std::filesystem::path& file);

}  // namespace tessera::plugin
