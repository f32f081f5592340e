#pragma once
// The operations of the runtime's own tasks.
#include "core/operation/catalog.hpp"
#include "core/operation/tensor.hpp"
#include "core/task/record.hpp"

namespace tessera::schedule {

/// Adds them to a catalog, which outlives it.
class runtime_operations {
 public:
  explicit runtime_operations(operation::catalog& to)
      : view(to.add({.name = "view", .special = [](void*) {}})),
        destroy(to.add({.name = "destroy", .special = [](void*) {}})),
        bring_home(to.add({.name = "bring_home", .special = [](void*) {}})),
        retile(to.add({.name = "retile", .special = [](void*) {}})),
        reduce(to.find("reduce") != nullptr ? *to.find("reduce") : to.add(operation::reduce_add())),
        combine(to.find("combine") != nullptr ? *to.find("combine") : to.add(operation::combine())) {}

  const operation::definition& view;        ///< a host view
  const operation::definition& destroy;     ///< the end of a block
  const operation::definition& bring_home;  ///< a read of an adopted block in memory of the program
  const operation::definition& retile;      ///< blocks of adopted memory become other blocks of the same memory
  const operation::definition& reduce;      ///< the sum of a group of accumulates
  const operation::definition& combine;     ///< what another combination makes of a group

  bool is_view(const task::record& t) const noexcept { return t.operation == &view; }
  bool is_destroy(const task::record& t) const noexcept { return t.operation == &destroy; }
  bool is_bring_home(const task::record& t) const noexcept { return t.operation == &bring_home; }
  bool is_retile(const task::record& t) const noexcept { return t.operation == &retile; }
  /// Neither a task of the program nor a view: nothing to validate or to write down.
  bool is_housekeeping(const task::record& t) const noexcept {
    return is_destroy(t) || is_bring_home(t) || is_retile(t);
  }
};

}  // namespace tessera::schedule
