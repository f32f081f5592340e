#include "hierarchy/region/kernels.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <boost/container/small_vector.hpp>
#include <limits>
#include <memory>

#include "core/memory/space.hpp"
#include "core/operation/kernel_loader.hpp"
#include "core/placement/place.hpp"
#include "core/runtime/program_side.hpp"
#include "core/validate/validator.hpp"
#include "hierarchy/region/by_runtime.hpp"
#include "hierarchy/region/kernel_text.hpp"
#include "hierarchy/region/plan.hpp"
#include "hierarchy/region/storage.hpp"
#include "hierarchy/region/two_forms.hpp"

namespace tessera::hierarchy {
namespace {

std::size_t rank_of(const row_extents& extents) { return extents.third != 1 ? 3 : extents.second != 1 ? 2 : 1; }

/// The fewest tiles for which there are kernels, for an array by itself: a task that names fewer names its last one
/// several times.
std::size_t fewest_taken(std::size_t named) { return named <= 1 ? 1 : std::bit_ceil(named); }

/// Parameters of a kernel that takes as many tiles of each array as `taken` says of the number that is named.
template <class Taken>
std::size_t parameters_of(const detail::region_kernel& kernel, std::span<const detail::region_demand> demands,
                          std::span<const std::size_t> named, const Taken& taken) {
  std::size_t all = 1 + 2 * kernel.depth + kernel.values.size();
  for (std::size_t u = 0; u < demands.size(); ++u)
    all += demands[u].array == nullptr ? 1 : 2 * taken(named[u]) + rank_of(demands[u].array->extents()) - 1;
  return all;
}

/// Tiles of each array that a kernel takes: one of each, or 8 of each, or 32 and so on. Each number is compiled by
/// itself, which on some devices takes some tenths of a second, and policies that learn try many splits. Where that is
/// more than a kernel can take, as few as there may be.
boost::container::small_vector<std::size_t, 8> tiles_taken(const detail::region_kernel& kernel,
                                                           std::span<const detail::region_demand> demands,
                                                           std::span<const std::size_t> named) {
  std::size_t most = 1;
  for (std::size_t u = 0; u < demands.size(); ++u)
    if (demands[u].array != nullptr) most = std::max(most, named[u]);
  std::size_t usual = most == 1 ? 1 : 8;
  while (usual < most) usual *= 4;
  const auto fits = [&](std::size_t tiles) {
    return parameters_of(kernel, demands, named, [tiles](std::size_t) { return tiles; }) <=
           operation::kernel_launch::max_arguments;
  };
  const std::size_t common = fits(usual) ? usual : fits(std::bit_ceil(most)) ? std::bit_ceil(most) : 0;
  boost::container::small_vector<std::size_t, 8> taken;
  for (const std::size_t tiles : named) taken.push_back(common > 0 ? common : fewest_taken(tiles));
  return taken;
}

kernel_shape shape_of(const detail::region_kernel& kernel, std::span<const detail::region_demand> demands,
                      std::span<const std::size_t> named) {
  kernel_shape shape{kernel.depth, {}, {kernel.values.begin(), kernel.values.end()}};
  const auto tiles = tiles_taken(kernel, demands, named);
  for (std::size_t u = 0; u < demands.size(); ++u) {
    const detail::region_demand& d = demands[u];
    if (d.array != nullptr)
      shape.uses.push_back({d.array->type(), d.how != intent::read, tiles[u], rank_of(d.array->extents()),
                            detail::reduction_kind::none});
    else
      shape.uses.push_back({d.result->type(), true, 1, 1, d.join});
  }
  return shape;
}

/// All that an operation depends on, in one word.
std::string key_of(const detail::region_kernel& kernel, const kernel_shape& shape) {
  std::string key = fmt::format("{}/{}/", reinterpret_cast<std::uintptr_t>(kernel.host.run), shape.depth);
  for (const kernel_use& u : shape.uses)
    key += fmt::format("{}.{}.{}.{}.{}/", int(u.type), int(u.written), u.tiles, u.rank, int(u.reduction));
  for (const element_type v : shape.values) key += fmt::format("{}/", int(v));
  return key.append(kernel.text);
}

/// What else it depends on while somebody looks.
std::string key_of(const two_forms& forms) {
  std::string key =
      fmt::format("/{}/{}:{}/{}", forms.region, forms.site.file_name(), forms.site.line(), forms.rounding);
  for (const declared_use& d : forms.declared)
    key += fmt::format("/{}.{}.{}.{}.{}", d.array, int(d.how), int(d.pattern.which), d.pattern.first, d.pattern.last);
  return key;
}

/// Whether a device needs numbers of 64 bits for it.
bool has_doubles(const detail::region_kernel& kernel, std::span<const detail::region_demand> demands) {
  const auto is_double = [](element_type type) { return type == element_type::f64; };
  return kernel.doubles || std::ranges::any_of(kernel.values, is_double) ||
         std::ranges::any_of(demands, [&](const detail::region_demand& d) {
           return is_double(d.array != nullptr ? d.array->type() : d.result->type());
         });
}

std::unique_ptr<two_forms> forms_of(runtime& of, const task_name& region, const detail::region_form& form,
                                    std::span<const detail::region_demand> demands) {
  auto forms = std::make_unique<two_forms>();
  forms->owner = &of, forms->function = form.host.run, forms->uses = form.uses;
  forms->region = std::string(region.text), forms->site = region.site;
  for (const detail::region_demand& d : demands)
    forms->declared.push_back({d.array != nullptr ? d.array->name() : d.result->name(), d.pattern, d.how});
  return forms;
}

}  // namespace

std::shared_ptr<region_kernels::operation_set> region_kernels::operations_of(runtime& rt) {
  static auto& all = *new by_runtime<operation_set>;  // NOLINT: as the trees of live_tree::of
  return all.of(rt, [] { return std::make_shared<operation_set>(); });
}

region_kernels::region_kernels(runtime& of) : m_runtime(of), m_operations(operations_of(of)) {
  for (const auto& place : program_side_of(of).places) {
    if (place->is_host || place->device == nullptr) continue;
    for (location::node_id id = 0; id < of.tree().known(); ++id) {
      const location::properties& p = of.tree().at(id).properties;
      if (p.kind != location::kind::worker || !p.space || !of.tree().is_ancestor(place->location, id)) continue;
      m_limits[id] = program_side_of(of).memories[place->space]->limit();
      m_devices[id] = {place.get(), operation::compiles(*place->device, operation::kernel_text().language),
                       place->device->has(TSR_DEVICE_HAS_FP64)};
    }
  }
  // A device that is no place for tasks, since its memory is the host's, runs no part of a region either.
  for (location::node_id id = 0; id < of.tree().known(); ++id) {
    const location::properties& p = of.tree().at(id).properties;
    if (p.kind == location::kind::worker && p.space) m_devices.try_emplace(id);
  }
}

bool region_kernels::takes_part(const abilities& d, bool doubles, bool with_detached) noexcept {
  return d.compiles && (d.has_doubles || !doubles) && (with_detached || d.place->attached());
}

/// No memory is allocated where there was such a list before.
const std::vector<location::node_id>& region_kernels::without(bool doubles, bool with_detached) {
  const auto is_it = [&](const std::vector<location::node_id>& list) {
    auto next = list.begin();  // both are in the order of numbers
    for (const auto& [id, d] : m_devices)
      if (!takes_part(d, doubles, with_detached) && (next == list.end() || *next++ != id)) return false;
    return next == list.end();
  };
  if (const auto known = std::ranges::find_if(m_lists, is_it); known != m_lists.end()) return *known;
  std::vector<location::node_id> all;
  for (const auto& [id, d] : m_devices)
    if (!takes_part(d, doubles, with_detached)) all.push_back(id);
  return *m_lists.insert(std::move(all)).first;
}

std::string region_kernels::idle_device(const detail::region_kernel* kernel,
                                        std::span<const detail::region_demand> demands, const location::tree& tree,
                                        location::node_id at) const {
  if (kernel != nullptr && !has_doubles(*kernel, demands)) return {};
  for (const auto& [id, d] : m_devices)
    if (d.place != nullptr && takes_part(d, false, false) && (kernel == nullptr || !d.has_doubles) &&
        tree.is_ancestor(at, id))
      return tree.at(id).properties.name;
  return {};
}

bool region_kernels::any_detached() const noexcept {
  return std::ranges::any_of(m_devices, [](const auto& entry) {
    const placement::place* const place = entry.second.place;
    return place != nullptr && !place->attached();
  });
}

executors region_kernels::runners_of(const detail::region_kernel* kernel,
                                     std::span<const detail::region_demand> demands, bool with_detached) {
  if (kernel == nullptr) return host_executors;
  return {true, without(has_doubles(*kernel, demands), with_detached)};
}

const operation::definition& region_kernels::operation_for(const task_name& region, const detail::region_kernel& kernel,
                                                           std::span<const detail::region_demand> demands,
                                                           std::span<const std::size_t> tiles) {
  kernel_shape shape = shape_of(kernel, demands, tiles);
  std::string key = key_of(kernel, shape);
  std::unique_ptr<two_forms> compared;
  if (looks()) {
    compared = forms_of(m_runtime, region, {kernel.host, kernel.uses}, demands);
    compared->rounding = kernel.rounding;
    key += key_of(*compared);
  }
  const std::lock_guard guard(m_operations->mutex);
  auto& known = m_operations->all;
  if (const auto found = known.find(key); found != known.end()) return *found->second;
  operation::definition region_operation{.name = fmt::format("region {} #{}", region.text, known.size())};
  region_operation.kernel.name = kernel_name;
  region_operation.kernel.text.source = kernel_source(kernel.text, shape, std::string(region.text), kernel.site);
  region_operation.kernel.text.file = fmt::format("kernel around {}", region.text);
  region_operation.kernel.launch = kernel.launch;
  if (compared != nullptr) {
    operation::definition alone = region_operation;
    alone.name += " as text";
    alone.data = std::make_shared<const kernel_layout>(kernel_layout{shape.uses});
    compared->kernel = &m_runtime.define(std::move(alone));
  }
  region_operation.host = compared != nullptr ? &run_both_forms : kernel.host.run;
  region_operation.destroy_arguments = kernel.host.destroy;
  region_operation.plain_arguments = kernel.host.plain;
  region_operation.data =
      std::make_shared<const kernel_layout>(kernel_layout{std::move(shape.uses), std::move(compared)});
  const operation::definition& defined = m_runtime.define(std::move(region_operation));
  if (looks()) program_side_of(m_runtime).validator->check_on_devices(defined, &compare_with_device);
  return *known.emplace(std::move(key), &defined).first->second;
}

const operation::definition& region_kernels::looked_at(const task_name& region, const detail::region_form& form,
                                                       std::span<const detail::region_demand> demands) {
  auto forms = forms_of(m_runtime, region, form, demands);
  const std::string key = fmt::format("{}/", reinterpret_cast<std::uintptr_t>(form.host.run)) + key_of(*forms);
  const std::lock_guard guard(m_operations->mutex);
  auto& known = m_operations->all;
  if (const auto found = known.find(key); found != known.end()) return *found->second;
  kernel_layout layout;
  for (const detail::region_demand& d : demands)
    layout.uses.push_back(
        {d.array != nullptr ? d.array->type() : d.result->type(), d.how != intent::read, 1, 1, d.join});
  layout.compared = std::move(forms);
  operation::definition region_operation{.name = fmt::format("region {} #{}", region.text, known.size())};
  region_operation.host = &run_surrounded;
  region_operation.destroy_arguments = form.host.destroy;
  region_operation.plain_arguments = form.host.plain;
  region_operation.data = std::make_shared<const kernel_layout>(std::move(layout));
  return *known.emplace(key, &m_runtime.define(std::move(region_operation))).first->second;
}

bool region_kernels::looks() const noexcept { return program_side_of(m_runtime).validator != nullptr; }

bool region_kernels::compares(const detail::region_kernel* kernel) const noexcept {
  return kernel != nullptr && looks();
}

/// As launch_region gives them.
bool region_kernels::fits(const detail::region_kernel& kernel, std::span<const detail::region_demand> demands,
                          std::span<const std::size_t> tiles) noexcept {
  return parameters_of(kernel, demands, tiles, fewest_taken) <= operation::kernel_launch::max_arguments;
}

std::uint64_t region_kernels::memory_limit(location::node_id device) const {
  const auto found = m_limits.find(device);
  return found != m_limits.end() ? found->second : std::numeric_limits<std::uint64_t>::max();
}

std::int64_t region_kernels::groups_for(std::uint64_t iterations, std::uint64_t inside) noexcept {
  constexpr std::uint64_t many = 1u << 20;
  if (iterations >= many || inside >= many || iterations * inside >= many) return 1024;
  if (iterations * inside < 4096) return 4;
  return iterations * inside < 65536 ? 16 : 128;
}

}  // namespace tessera::hierarchy

namespace tessera::detail {
namespace {

void add_value(operation::kernel_launch& how, const kernel_value& number) {
  const auto add = [&]<class T>(std::type_identity<T>) {
    T value{};
    std::memcpy(&value, number.bytes.data(), sizeof value);
    how.value(value);
  };
  switch (number.type) {
    case element_type::f32:
      return add(std::type_identity<float>{});
    case element_type::f64:
      return add(std::type_identity<double>{});
    case element_type::i32:
      return add(std::type_identity<std::int32_t>{});
    case element_type::i64:
      return add(std::type_identity<std::int64_t>{});
    default:
      return add(std::type_identity<std::uint8_t>{});
  }
}

/// The tiles of an array, those that the kernel takes beyond them, and the array's extents.
void add_array(const operation::context& c, operation::kernel_launch& how, const hierarchy::kernel_use& use,
               const region_operand& operand, const row_extents& extents) {
  std::int64_t position = operand.row * extents.row_elements();
  if (operand.count > use.tiles)
    throw error(error_kind::internal, fmt::format("a kernel for {} tiles got {}", use.tiles, operand.count));
  for (std::size_t k = 0; k < use.tiles; ++k) {
    // Where no rows are used, another block of the task stands there, at which the kernel does not look.
    const operation::operand& tile = operand.count == 0
                                         ? c.operands.front()
                                         : c.operands[operand.first + std::min<std::size_t>(k, operand.count - 1)];
    how.block(tile);
    how.value(k == 0 || k < operand.count ? position : std::numeric_limits<std::int64_t>::max());
    if (k + 1 < operand.count) position += tile.extents->count();
  }
  if (use.rank > 1) how.value(extents.second);
  if (use.rank > 2) how.value(extents.third);
}

}  // namespace

const void* arguments_of(const operation::context& c) noexcept { return c.arguments; }

void launch_region(const operation::context& c, operation::kernel_launch& how, const region_launch& with) {
  const auto& layout = *static_cast<const hierarchy::kernel_layout*>(c.data);
  if (c.operands.empty()) {  // no rows of anything: there is nothing that a kernel could do
    how.over(0, hierarchy::kernel_threads);
    return;
  }
  const auto count = static_cast<std::int64_t>(with.piece.end - with.piece.begin);
  how.value(with.rows.begin + static_cast<std::int64_t>(with.piece.begin) * with.rows.step);
  how.value(with.rows.step).value(count);
  std::int64_t threads = count, groups = 0;
  for (const loop_bounds& inner : with.inner) {
    const std::int64_t length = std::max<std::int64_t>(inner.end - inner.begin, 0);
    if (__builtin_mul_overflow(threads, length, &threads)) threads = std::numeric_limits<std::int64_t>::max();
    how.value(inner.begin).value(length);
  }
  for (std::size_t u = 0; u < layout.uses.size(); ++u) {
    const region_operand& operand = with.operands[u];
    if (layout.uses[u].reduction == reduction_kind::none) {
      add_array(c, how, layout.uses[u], operand, with.extents[u]);
      continue;
    }
    how.block(c.operands[operand.first]);
    groups = c.operands[operand.first].extents->count();
  }
  for (const kernel_value& number : with.values) add_value(how, number);
  if (groups == 0 || threads == std::numeric_limits<std::int64_t>::max()) {  // which is refused
    how.over(threads, hierarchy::kernel_threads);
  } else {
    how.grid = {static_cast<std::uint32_t>(groups), 1, 1};
    how.group = {hierarchy::kernel_threads, 1, 1};
  }
}

}  // namespace tessera::detail
