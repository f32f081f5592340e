#pragma once
// What the main part of an application does at least. The counts are functions beside each application's problem.
#include <string>
#include <vector>

namespace tessera::apps {

/// What all launches of one region do together.
struct region_work {
  std::string region;    ///< its name, by which its shares are found; any other name is work of the host
  double bytes = 0;      ///< memory traffic: each element that a launch reads or writes, once per launch
  double flops = 0;      ///< additions, multiplications, divisions and square roots of real numbers, each of them one
  double functions = 0;  ///< exponentials, logarithms, sines and cosines
};

/// What a main part does.
struct workload {
  double data = 0;  ///< bytes of all arrays together: small ones stay in the caches from launch to launch
  std::vector<region_work> regions = {};
};

}  // namespace tessera::apps
