// Loops that are tasks: tessera::loop.
#include <fmt/format.h>

#include <memory>
#include <string>
#include <utility>

#include "core/base/call_site.hpp"
#include "core/base/error.hpp"
#include "hierarchy/region/kernel_text.hpp"
#include "hierarchy/region/request.hpp"
#include "hierarchy/region/two_forms.hpp"
#include "tessera/detail/body.hpp"
#include "tessera/operation.hpp"

namespace tessera::detail {
namespace {

/// Extents of a block as a region has those of an array: the slowest dimension first.
row_extents slowest_first(const shape& stored) {
  const std::size_t rank = stored.rank();
  if (rank == 2) return {stored[1], stored[0], 1};
  if (rank == 3) return {stored[2], stored[1], stored[0]};
  return {stored.count(), 1, 1};
}

/// The operation, without its name.
operation::definition definition_of(std::string_view name, const loop_form& form) {
  const device_body body = text_for_devices(*form.source, form.signature, name);
  hierarchy::kernel_shape shape{form.signature.depth, {}, {form.values.begin(), form.values.end()}};
  for (const loop_operand& one : form.operands) {
    hierarchy::kernel_use use{.type = one.type, .written = one.written, .rank = one.rank};
    use.column_major = one.column_major;
    shape.uses.push_back(use);
  }
  operation::definition loop_operation;
  loop_operation.host = form.host.run;
  loop_operation.destroy_arguments = form.host.destroy;
  loop_operation.plain_arguments = form.host.plain;
  loop_operation.kernel.name = hierarchy::kernel_name;
  loop_operation.kernel.text.source = kernel_source(body.text, shape, std::string(name), form.source->site, "task");
  loop_operation.kernel.text.file = fmt::format("kernel around {}", name);
  loop_operation.kernel.launch = form.launch;
  if (body.doubles)
    loop_operation.available = [](const plugin::device& d, element_type) { return d.has(TSR_DEVICE_HAS_FP64); };
  loop_operation.data =
      std::make_shared<const hierarchy::kernel_layout>(hierarchy::kernel_layout{std::move(shape.uses)});
  return loop_operation;
}

}  // namespace

const operation::definition& define_loop(runtime& of, std::string_view name, const loop_form& form) {
  std::string chosen(name);
  operation::catalog& known = of.operations();
  for (int suffix = 2;; ++suffix) {  // several loops may have one name
    if (const operation::definition* found = known.find(chosen)) {
      if (found->host == form.host.run) return *found;
      chosen = fmt::format("{}#{}", name, suffix);
      continue;
    }
    operation::definition fresh = definition_of(name, form);
    fresh.name = chosen;
    try {
      return known.add(std::move(fresh));
    } catch (const error&) {  // another thread was faster: look again
      if (known.find(chosen) == nullptr) throw;
    }
  }
}

std::int64_t iterations_of(const loop_bounds& loop, std::source_location site) {
  if (loop.step == 0)
    throw error(error_kind::usage, "a loop of a task with a step of 0", file_and_line(site),
                "iterate(begin, end) has a step of 1, iterate(begin, end, step) another one");
  return static_cast<std::int64_t>(hierarchy::iterations_of(loop));
}

void launch_loop(const operation::context& c, operation::kernel_launch& how, const task_launch& with) {
  std::vector<region_operand> operands(c.operands.size());
  std::vector<row_extents> extents(c.operands.size());
  for (std::size_t k = 0; k < operands.size(); ++k) {
    operands[k].first = static_cast<std::uint32_t>(k), operands[k].count = 1;
    extents[k] = slowest_first(*c.operands[k].extents);
  }
  const auto count = static_cast<std::uint64_t>(with.count);
  launch_region(c, how, {{0, count}, with.rows, with.inner, operands, extents, with.values});
}

}  // namespace tessera::detail
