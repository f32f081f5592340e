#pragma once
// What the checks of TENSOR entries have in common.
#include "tests/conformance/suite/numbers.hpp"

namespace tessera::conformance {

/// Calls one(queue, table, zero of the type, generator) some rounds for each type that a device claims; skips where
/// none is claimed.
template <class One>
void each_claimed(const subject& what, tsr_tensor_operation operation, int rounds, One&& one) {
  const opened all(what);
  bool any = false, tried = false;
  for_each_device(all, [&](const device& device) {
    const tsr_tensor_table* tensor = device.tensor();
    if (tensor == nullptr) return;
    any = true;
    for_each_number([&](auto zero) {
      using T = decltype(zero);
      if (!tensor->supports(device.handle(), operation, number<T>::type)) return;
      tried = true;
      expect(tensor->workspace != nullptr || (operation != TSR_TENSOR_PERMUTE && operation != TSR_TENSOR_CONTRACT),
             "the TENSOR table claims permute or contract and has no `workspace`, which is not optional");
      expect(tensor->contract != nullptr || operation != TSR_TENSOR_CONTRACT,
             "the TENSOR table claims contract and has no `contract`; `contract_batched` alone does not do");
      const queue stream(device);
      in_rounds(what, number<T>::name, rounds, [&](random_source& random) { one(stream, *tensor, zero, random); });
    });
  });
  if (!tried)
    skip(any ? "the TENSOR table claims this operation for none of the types that are checked"
             : "no device offers the table TENSOR");
}

}  // namespace tessera::conformance
