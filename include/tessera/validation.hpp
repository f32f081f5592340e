#pragma once
// For programs that are validated (runtime.validate; docs/validation.md): what was found, and their own
// synchronisation.
#include "core/validate/finding.hpp"
#include "tessera/order_point.hpp"
#include "tessera/runtime.hpp"
