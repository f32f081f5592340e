#pragma once
// What the checks of the SPARSE table share.
#include "tests/conformance/suite/numbers.hpp"

namespace tessera::conformance {

/// Runs `one(stream, sparse, T{}, random)` `rounds` times for every device and type that claims the operation.
template <class One>
void each_claimed(const subject& what, tsr_sparse_operation operation, int rounds, One&& one) {
  const opened all(what);
  bool tried = false;
  for_each_device(all, [&](const device& device) {
    const tsr_sparse_table* sparse = device.sparse();
    if (sparse == nullptr) return;
    expect(sparse->version >= 1, "the SPARSE table has version 0");
    for_each_number([&](auto zero) {
      using T = decltype(zero);
      if (!sparse->supports(device.handle(), operation, number<T>::type)) return;
      tried = true;
      auto random = what.generator();
      const queue stream(device);
      for (int i = 0; i < rounds; ++i) {
        try {
          one(stream, *sparse, zero, random);
        } catch (const check_failed& failure) {
          throw check_failed(fmt::format("{} (seed {}, round {}): {}", number<T>::name, what.seed, i, failure.what()));
        }
      }
    });
  });
  if (!tried) skip("the operation is not offered");
}

}  // namespace tessera::conformance
