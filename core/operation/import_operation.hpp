#pragma once
// Operations that OPERATIONS plugins bring.
#include "core/operation/definition.hpp"
#include "core/plugin/registry.hpp"

namespace tessera::operation {

/// A definition that calls `offered` on the host, for all element types; `plugin` must outlive its use. A status other
/// than TSR_OK fails the task with the plugin's own words. An operation without intents takes the blocks given at
/// submission.
definition import_operation(const plugin::registry::operations_plugin& plugin, const tsr_operation& offered);

}  // namespace tessera::operation
