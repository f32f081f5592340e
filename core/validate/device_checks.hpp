#pragma once
// Checks of the results that devices compute: what the host computes of the same inputs, for example.
#include <map>
#include <mutex>
#include <span>

#include "core/operation/definition.hpp"
#include "core/task/record.hpp"
#include "core/validate/intent_checker.hpp"

namespace tessera::validate {

/// `before` is a context for the operation's function on the host: its operands are private copies of what the device
/// found, and of blocks that it was to write, memory that nobody has written. `after` is what the device left, in the
/// same order; it must stay as it is. Called on the thread of the device's driver, without locks. Throws nothing.
using device_check = void (*)(const operation::context& before, std::span<const operation::operand> after);

/// The checks of all operations that have one. Thread-safe.
class device_checks {
 public:
  explicit device_checks(const pattern& with) : m_pattern(with) {}

  /// From now on; an operation has one check.
  void add(const operation::definition& of, device_check check);
  /// A device has run a task, whose copies `seen` holds.
  void run(task::record& t, const shadow_copies& seen, const plugin::device& on) const;

 private:
  device_check check_of(const operation::definition& of) const;

  const pattern& m_pattern;
  mutable std::mutex m_mutex;
  std::map<const operation::definition*, device_check> m_all;
};

}  // namespace tessera::validate
