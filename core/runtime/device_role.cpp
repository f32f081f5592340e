#include "core/runtime/device_role.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "core/operation/blas.hpp"
#include "core/operation/tensor.hpp"

namespace tessera {
namespace {

constexpr std::array types{element_type::f32, element_type::f64, element_type::c64, element_type::c128,
                           element_type::i32, element_type::i64, element_type::u8};

std::vector<offered_operation> operations_of(const plugin::device& device) {
  std::vector<offered_operation> offered;
  for (const auto& make :
       {operation::gemm, operation::syrk, operation::trsm, operation::potrf, operation::axpy, operation::scal,
        operation::permute, operation::contract, operation::fill, operation::reduce_add}) {
    const operation::definition one = make();
    offered_operation entry{one.name, {}};
    for (const element_type type : types)
      if (one.runs_on(device, type, false)) entry.types.push_back(type);
    if (!entry.types.empty()) offered.push_back(std::move(entry));
  }
  return offered;
}

std::string why_no_place(const plugin::device& device) {
  if (device.description().device_class == TSR_DEVICE_STORAGE)
    return "it stores blocks that leave full memories, and runs no tasks";
  if (device.description().device_class == TSR_DEVICE_CPU && device.has(TSR_DEVICE_INLINE))
    return "";  // the host: its cores run tasks
  const bool own_memory = std::ranges::any_of(device.spaces(), [](const plugin::space& s) {
    return s.description.kind == TSR_SPACE_DEVICE || s.description.kind == TSR_SPACE_MANAGED;
  });
  if (own_memory || device.spaces().empty() || !is_host_memory(device.spaces().front())) return "";
  return fmt::format(
      "it is no place for tasks: its memory \"{}\" is host memory, where the host's cores run them; a device has a "
      "memory of kind TSR_SPACE_DEVICE or TSR_SPACE_MANAGED",
      device.spaces().front().name);
}

}  // namespace

bool is_host_memory(const plugin::space& space) noexcept {
  return space.description.kind == TSR_SPACE_HOST && (space.description.capabilities & TSR_SPACE_HOST_VISIBLE) != 0;
}

device_role role_of(const plugin::device& device) {
  device_role role;
  role.why_not = why_no_place(device);
  role.runs_tasks = role.why_not.empty();
  role.operations = operations_of(device);
  role.compiles_kernels = device.jit() != nullptr;
  role.loads_kernels = device.launches();
  return role;
}

std::string to_text(const device_role& role) {
  // Operations with the same types share them.
  std::vector<std::pair<std::vector<element_type>, std::vector<std::string>>> groups;
  for (const offered_operation& one : role.operations) {
    const auto same = std::ranges::find(groups, one.types, [](const auto& g) { return g.first; });
    (same == groups.end() ? groups.emplace_back(one.types, std::vector<std::string>{}) : *same)
        .second.push_back(one.name);
  }
  std::string text = groups.empty() ? "runs no built-in operation" : "runs ";
  for (const auto& [of_types, names] : groups) {
    std::vector<std::string_view> words;
    for (const element_type type : of_types) words.push_back(name_of(type));
    text += fmt::format("{}{} ({})", &names == &groups.front().second ? "" : ", ", fmt::join(names, ", "),
                        fmt::join(words, ", "));
  }
  text += role.compiles_kernels ? "; compiles kernels"
          : role.loads_kernels  ? "; loads kernels, and compiles none"
                                : "; no kernels";
  return role.why_not.empty() ? text : role.why_not + "; it " + text;
}

}  // namespace tessera
