#include "core/operation/kernel.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/error.hpp"
#include "core/base/whole_file.hpp"
#include "core/plugin/device.hpp"

namespace tessera::operation {

kernel_launch& kernel_launch::over(std::int64_t count, std::uint32_t threads) {
  const std::int64_t groups = threads == 0 ? 0 : count / threads + (count % threads != 0 ? 1 : 0);
  if (threads == 0 || count < 0 || groups > 0x7fffffff)
    throw error(error_kind::usage, fmt::format("{} elements in groups of {} threads are no grid", count, threads), {},
                "a grid has at most 2^31 - 1 groups of at least one thread");
  grid = {static_cast<std::uint32_t>(groups), 1, 1};
  group = {threads, 1, 1};
  return *this;
}

kernel_launch& kernel_launch::add(const void* bytes, std::uint32_t size) {
  if (m_count == max_arguments)
    throw error(error_kind::usage, fmt::format("a kernel with more than {} arguments", max_arguments), {},
                "put them into a block");
  std::memcpy(m_arguments[m_count].bytes, bytes, size);
  m_sizes[m_count++] = size;
  return *this;
}

tsr_launch kernel_launch::to_abi() const {
  tsr_launch made{};
  made.struct_size = sizeof made;
  std::ranges::copy(grid, made.grid);
  std::ranges::copy(group, made.group);
  made.shared_bytes = local_bytes;
  for (std::uint32_t k = 0; k < m_count; ++k) m_places[k] = m_arguments[k].bytes;
  made.arguments = m_places.data();
  made.argument_sizes = m_sizes.data();
  made.argument_count = m_count;
  return made;
}

kernel_image kernel_image::from_file(std::string plugin, const std::filesystem::path& file) {
  std::string bytes;
  if (const std::error_code reason = read_whole_file(file, bytes))
    throw error(error_kind::input, "the image of a kernel cannot be read: " + reason.message(), file.string(),
                "check the path");
  if (bytes.empty()) throw error(error_kind::input, "the image of a kernel is empty", file.string(), "check the path");
  kernel_image made{.plugin = std::move(plugin), .bytes = {bytes.begin(), bytes.end()}};
  return made;
}

native_place native_place_of(const context& c, const operand& of) {
  const plugin::device& device = *c.device;
  native_place found;
  if (device.table().mem_base != nullptr) {
    device.check(device.table().mem_base(device.handle(), of.address.memory, &found.handle), "mem_base");
    found.handle = static_cast<std::byte*>(found.handle) + of.address.offset;
    return found;
  }
  if (device.table().mem_native == nullptr)
    throw error(error_kind::device, fmt::format("plugin {} does not tell where its memory is", device.plugin_name()),
                device.name());
  device.check(device.table().mem_native(device.handle(), of.address.memory, &found.handle), "mem_native");
  found.offset = of.address.offset;
  return found;
}

}  // namespace tessera::operation
