#pragma once
// The nearest of many records to a place: reading, input, selection.
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "apps/common/workload.hpp"

namespace tessera::apps::rodinia {

/// Records in the order of the files. Plain data.
struct nn_records {
  std::vector<float> latitudes, longitudes;
  std::vector<std::string> names;  ///< "1988 TONY"; empty for synthetic ones
};

/// Appends the records of a file, lines of 48 characters: the year in columns 0-3, the name in 17-27, latitude and
/// longitude in 28-32 and 33-37. Throws tessera::error (input), with the line.
void read_nn_records(const std::filesystem::path& file, nn_records& to);

/// Synthetic records: latitudes 0 to 89.9, longitudes 0 to 359.9, in tenths.
nn_records make_nn_records(std::int64_t count, std::uint64_t seed);

/// A record and how far away it is.
struct nn_neighbour {
  std::int64_t record = 0;
  double distance = 0;
};
/// The nearest k, the nearest first; of equal ones the first record.
std::vector<nn_neighbour> nn_nearest(std::span<const float> distances, std::int64_t k);
/// The same from the records in double, all of them sorted.
std::vector<nn_neighbour> nn_nearest_serial(const nn_records& records, double latitude, double longitude,
                                            std::int64_t k);

/// Each record's place is read and its distance written, with 6 operations; the selection reads the distances.
workload nn_workload(std::int64_t records);

}  // namespace tessera::apps::rodinia
