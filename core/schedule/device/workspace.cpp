#include "core/schedule/device/workspace.hpp"

#include <fmt/format.h>

#include "core/base/units.hpp"
#include "core/task/block_names.hpp"

namespace tessera::schedule {

std::uint64_t workspaces::bytes_of(task::record& t) const {
  if (t.operation->workspace == nullptr) return 0;
  return t.operation->workspace(m_device, t.argument_bytes(), t.all_accesses());
}

bool workspaces::take(std::uint64_t bytes, task_workspace& out) {
  if (bytes == 0) return true;
  if (!m_space.reserve(std::span(&bytes, 1), std::span(&out.where, 1))) return false;
  out.bytes = bytes;
  out.from = &m_space;
  return true;
}

void workspaces::keep(const task::record& t, task_workspace&& scratch) {
  if (scratch.from != nullptr) m_kept[&t] = std::make_unique<task_workspace>(std::move(scratch));
}

std::unique_ptr<task_workspace> workspaces::kept(const task::record& t) {
  if (m_kept.empty()) return nullptr;
  auto found = m_kept.extract(&t);
  return found.empty() ? nullptr : std::move(found.mapped());
}

bool workspaces::fits(const task::record& t, std::uint64_t bytes) const {
  std::uint64_t all = m_space.allocated_size(bytes);
  const auto accesses = const_cast<task::record&>(t).all_accesses();
  for (std::size_t k = 0; k < accesses.size(); ++k) {
    bool counted = false;
    for (std::size_t j = 0; j < k; ++j) counted = counted || accesses[j].block == accesses[k].block;
    if (!counted) all += m_space.allocated_size(accesses[k].block->bytes);
  }
  return all <= m_space.limit();
}

block::failure workspaces::why_never(task::record& t, std::uint64_t bytes) const {
  return {fmt::format("its blocks and a workspace of {} need more than {} holds ({}): {}",
                      format_bytes(static_cast<double>(bytes)), m_space.name(),
                      format_bytes(static_cast<double>(m_space.limit())), task::names_of_blocks(t)),
          "", error_kind::memory};
}

}  // namespace tessera::schedule
