#pragma once
// Distances of records to a place as a region.
#include <cstdint>

#include "apps/rodinia/nn/problem.hpp"
#include "tessera/region.hpp"

namespace tessera::apps::rodinia {

/// `count` records.
class nn_kernel {
 public:
  nn_kernel(location_model& model, const region_options& how, std::int64_t count)
      : latitudes(model.make_array<float>("latitudes", {count}, {.at = how.at})),
        longitudes(model.make_array<float>("longitudes", {count}, {.at = how.at})),
        distances(model.make_array<float>("distances", {count}, {.at = how.at})),
        m_model(model),
        m_how(how) {}

  void run(float latitude, float longitude) {
    m_model.region("distances", m_how, iterate(0, distances.extents()[0]), read(latitudes), read(longitudes),
                   write(distances), TESSERA_BODY((latitude, longitude), (auto i, auto north, auto east, auto to), {
                     const float a = north[i] - latitude, b = east[i] - longitude;
                     to[i] = std::sqrt(a * a + b * b);
                   }));
  }

  array<float> latitudes, longitudes, distances;

 private:
  location_model& m_model;
  region_options m_how;
};

}  // namespace tessera::apps::rodinia
