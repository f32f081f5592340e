#pragma once
// The line `model` of a report: what a main part took beside the least time that it could take.
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "apps/common/roofline.hpp"
#include "apps/common/session.hpp"
#include "tessera/tessera.hpp"

namespace tessera::apps {

/// What crossed each link since an earlier count, with the link's bandwidth where one end is a device or a store.
std::vector<link_traffic> traffic_since(const statistics& before, const runtime& of);

/// Measures the machine, with the places that the regions had, and adds the line `model`, the object `model` of the
/// JSON, and a section of the page of --report.
/// @param seconds  that the main part took
void add_model(report& to, session& of, double seconds, const workload& did, std::span<const region_row> shares,
               std::span<const link_traffic> links);

/// The text of the line: "time 12.3 ms, the model 9.81 ms (80 %): memory of the host, 393 MB at 40.1 GB/s; ...".
std::string model_text(double seconds, const least_time& least);

}  // namespace tessera::apps
