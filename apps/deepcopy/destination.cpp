#include "apps/deepcopy/destination.hpp"

#include <fmt/format.h>

#include <cstring>
#include <optional>

#include "hierarchy/region/live_tree.hpp"
#include "tessera/machine.hpp"

namespace tessera::apps::deepcopy {
namespace {

const plugin::device& device_of(const runtime& rt, location::node_id memory) {
  return *rt.plugins().devices()[rt.tree().at(memory).properties.space->device];
}
bool is_host_memory(const runtime& rt, location::node_id memory) {
  return device_of(rt, memory).plugin_name() == "host";
}
bool computes(const runtime& rt, location::node_id memory) {
  return device_of(rt, memory).description().device_class != TSR_DEVICE_STORAGE;
}

void scale_on_host(const operation::context& c) {
  const auto& given = c.arguments_as<scale_arguments>();
  auto* const values = reinterpret_cast<double*>(static_cast<std::byte*>(c.operands[0].host) + given.offset);
  for (std::int64_t i = 0; i < given.count; ++i) values[i] *= given.factor;
}

void scale_on_device(const operation::context& c) {
  const auto& given = c.arguments_as<scale_arguments>();
  tsr_vector_operation v{};
  v.struct_size = sizeof v;
  v.type = TSR_F64;
  v.n = given.count;
  v.incx = 1;
  v.alpha = &given.factor;
  v.x = c.operands[0].address;
  v.x.offset += static_cast<std::uint64_t>(given.offset);
  c.device->check(c.device->blas()->scal(c.device->handle(), c.stream, &v), "scal");
}

bool scales_doubles(const plugin::device& device, element_type) {
  return device.has(TSR_DEVICE_HAS_FP64) && device.blas() != nullptr && device.blas()->scal != nullptr;
}

void launch_kernel(const operation::context& c, operation::kernel_launch& how) {
  const auto& given = c.arguments_as<kernel_arguments>();
  how.over(given.threads).block(c.operands[0]).value(given.factor).value(static_cast<std::int32_t>(given.all));
}

const operation::definition& defined_once(runtime& rt, operation::definition what) {
  if (const operation::definition* const known = rt.operations().find(what.name)) return *known;
  return rt.define(std::move(what));
}

}  // namespace

destination::destination(runtime& rt, const std::string& at) {
  const location::tree& tree = rt.tree();
  std::vector<location::node_id> hosts, devices;
  for (const location::node_id node : tree.subtree(tree.root()))
    if (tree.at(node).properties.space && computes(rt, node))
      (is_host_memory(rt, node) ? hosts : devices).push_back(node);
  m_location =
      at.empty() ? (devices.empty() ? hosts.back() : devices.front()) : hierarchy::attached_location(tree, at, "--at");
  m_name = tree.at(m_location).properties.name;
  location::node_id memory = tree.memory_of(m_location);
  for (const location::node_id below : hosts)  // of a group that has none: the first below it
    if (memory == location::no_node && tree.is_ancestor(m_location, below)) memory = below;
  if (memory == location::no_node || !computes(rt, memory))
    throw error(error_kind::usage, fmt::format("location '{}' has no memory where something computes", m_name), "--at",
                "name a device, a memory of the host or what is below one; `tessera topology` shows them");
  m_is_host = is_host_memory(rt, memory);
  m_is_only = m_is_host && hosts.size() == 1;
  m_compiles = device_of(rt, memory).jit() != nullptr && device_of(rt, memory).has(TSR_DEVICE_HAS_FP64);
}

const operation::definition& scale_operation(runtime& rt) {
  return defined_once(rt, {.name = "deepcopy scale",
                           .signature = {intent::update},
                           .host = scale_on_host,
                           .enqueue = scale_on_device,
                           .available = scales_doubles});
}

const operation::definition& arrive_operation(runtime& rt) {
  return defined_once(rt, {.name = "deepcopy arrive",
                           .signature = {intent::read},
                           .host = [](const operation::context&) {},
                           .enqueue = [](const operation::context&) {}});
}

const operation::definition& kernel_operation(runtime& rt, const char* name, const char* text) {
  return defined_once(rt, {.name = std::string("deepcopy ") + name,
                           .signature = {intent::update},
                           .kernel = {.name = name, .text = {.source = text}, .launch = launch_kernel}});
}

}  // namespace tessera::apps::deepcopy
