#pragma once
// Plans of contractions that were asked for before.
#include <memory>

#include "plugins/kit/kernels/contract/plan.hpp"

namespace tessera::kit {

/// The plan of a shape. Each thread keeps the plans that it used last, up to `contract_plans_kept`, so that nobody
/// waits and a plan that is known costs some 50 ns. Fails as lay_out does. `costs` are told apart by their address and
/// stay as they are.
tsr_status find_plan(const reporter& report, const contract_shape& shape, const contract_costs& costs,
                     std::shared_ptr<const contract_plan>& out);

inline constexpr std::size_t contract_plans_kept = 512;

/// Plans that the calling thread has made so far, for tests.
std::size_t contract_plans_made() noexcept;

}  // namespace tessera::kit
