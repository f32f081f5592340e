#pragma once
// For programs that are validated (runtime.validate; docs/validation.md): what was found, and their own
// synchronisation.
#include "core/validate/finding.hpp"
#include "tessera/detail/array.hpp"
#include "tessera/detail/order_point.hpp"
#include "tessera/detail/recording.hpp"
#include "tessera/detail/runtime.hpp"
