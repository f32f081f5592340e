#pragma once
// Memory of the program that changes its blocks.
#include <source_location>
#include <span>
#include <vector>

#include "core/schedule/program_owner.hpp"
#include "core/schedule/runtime_operations.hpp"

namespace tessera::schedule {

/// Adopted blocks, and those that take over their memory: both lists cover the same bytes of it.
struct retiling {
  std::span<block::record*const> from, to;
};

/// New adopted blocks take over the memory of old ones, in program order with the tasks around it; nothing is copied
/// but what is not at home.
class retiler {
 public:
  retiler(program_owner& owner, const runtime_operations& operations) noexcept
      : m_owner(owner), m_operations(operations) {}

  /// The caller destroys the old ones afterwards, when all tasks that use them are submitted. Where it throws, nothing
  /// was submitted.
  void submit(std::span<const retiling> parts, std::source_location site);
  /// The same in each replay of the recording that the calling thread makes. All of them stay as long as that does.
  void record(std::span<const retiling> parts, std::source_location site);

 private:
  task::record& make(thread_context& thread, const retiling& part, std::source_location site);
  std::vector<task::record*> make_all(thread_context& thread, std::span<const retiling> parts,
                                      std::source_location site);

  program_owner& m_owner;
  const runtime_operations& m_operations;
};

}  // namespace tessera::schedule
