#include "core/schedule/device/workspace.hpp"

#include <fmt/format.h>

#include "core/base/units.hpp"
#include "core/task/block_names.hpp"

namespace tessera::schedule {

std::uint64_t device_driver::workspace_bytes(task::record& t) const {
  if (t.operation->workspace == nullptr) return 0;
  return t.operation->workspace(*m_where.device, t.argument_bytes(), t.all_accesses());
}

/// For a task that has its blocks. False: not now; nothing is taken.
bool device_driver::take_workspace(task::record& t, workspace& out) {
  const std::uint64_t bytes = workspace_bytes(t);
  if (bytes == 0) return true;
  memory::space& space = m_setup.coherence->space_at(m_where.space);
  if (!space.reserve(std::span(&bytes, 1), std::span(&out.where, 1))) return false;
  out.bytes = bytes;
  out.from = &space;
  return true;
}

/// Until kept_workspace of the task.
void device_driver::keep_workspace(const task::record& t, workspace&& scratch) {
  if (scratch.from != nullptr) m_kept_workspaces[&t] = std::make_unique<workspace>(std::move(scratch));
}

/// Null: none was kept.
std::unique_ptr<device_driver::workspace> device_driver::kept_workspace(const task::record& t) {
  if (m_kept_workspaces.empty()) return nullptr;
  auto found = m_kept_workspaces.extract(&t);
  return found.empty() ? nullptr : std::move(found.mapped());
}

/// Whether the task's blocks and its workspace can ever be in the memory together.
bool device_driver::fits(const task::record& t, std::uint64_t workspace_bytes) const {
  const memory::space& space = m_setup.coherence->space_at(m_where.space);
  std::uint64_t bytes = space.allocated_size(workspace_bytes);
  const auto accesses = const_cast<task::record&>(t).all_accesses();
  for (std::size_t k = 0; k < accesses.size(); ++k) {
    bool counted = false;
    for (std::size_t j = 0; j < k; ++j) counted = counted || accesses[j].block == accesses[k].block;
    if (!counted) bytes += space.allocated_size(accesses[k].block->bytes);
  }
  return bytes <= space.limit();
}

/// Its blocks and its workspace never fit.
void device_driver::fail_for_memory(task::record& t, std::uint64_t workspace_bytes) {
  const memory::space& space = m_setup.coherence->space_at(m_where.space);
  m_owner.fail(*m_context, t,
               m_setup.failures->note(
                   t, {fmt::format("its blocks and a workspace of {} need more than {} holds ({}): {}",
                                   format_bytes(static_cast<double>(workspace_bytes)), space.name(),
                                   format_bytes(static_cast<double>(space.limit())), task::names_of_blocks(t)),
                       "", error_kind::memory}));
}

}  // namespace tessera::schedule
