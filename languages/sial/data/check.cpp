#include <fmt/format.h>

#include <limits>

#include "core/base/error.hpp"
#include "languages/sial/data/init_data.hpp"
#include "languages/sial/data/init_file.hpp"

namespace tessera::sial {
namespace {

using problems = std::vector<std::string>;

void check_segments(const init_data& data, problems& found) {
  for (const auto& [kind, lengths] : data.segments) {
    std::int64_t total = 0;
    for (std::size_t s = 0; s < lengths.size(); ++s) {
      const std::int64_t length = lengths[s];
      if (length < 1) {
        found.push_back(
            fmt::format("segment {} of kind {} has the length {}", s + 1, segment_table_name(kind), length));
        return;
      }
      if (__builtin_add_overflow(total, length, &total) || total > std::numeric_limits<std::int32_t>::max()) {
        found.push_back(fmt::format("the segments of kind {} have more than {} elements", segment_table_name(kind),
                                    std::numeric_limits<std::int32_t>::max()));
        return;
      }
    }
  }
}

template <typename arrays>
void check_arrays(const arrays& all, const char* what, problems& found) {
  for (const auto& [name, array] : all) {
    try {
      const std::int64_t wanted = elements_of(array.dims, {});
      if (static_cast<std::uint64_t>(wanted) != array.values.size())
        found.push_back(fmt::format("{} '{}' has {} values, dims [{}] make {}", what, name, array.values.size(),
                                    fmt::join(array.dims, ", "), wanted));
    } catch (const error& failure) {
      found.push_back(fmt::format("{} '{}': {}", what, name, failure.message()));
    }
  }
}

template <typename members>
void check_names(const members& all, const char* what, problems& found) {
  for (const auto& [name, is] : all) {
    if (name.empty()) found.push_back(fmt::format("{} has no name", what));
    if (name != in_lower_case(name)) found.push_back(fmt::format("{} '{}' is not in lower case", what, name));
  }
}

}  // namespace

void check_init(const init_data& data, const std::string& where) {
  problems found;
  check_segments(data, found);
  check_arrays(data.float_arrays, "float array", found);
  check_arrays(data.int_arrays, "int array", found);
  check_names(data.ints, "int constant", found);
  check_names(data.scalars, "scalar constant", found);
  check_names(data.float_arrays, "float array", found);
  check_names(data.int_arrays, "int array", found);
  for (const std::string& program : data.programs)
    if (program.empty()) found.push_back("a program has no name");
  if (!found.empty()) throw error(error_kind::input, fmt::format("{}", fmt::join(found, "; ")), where);
}

}  // namespace tessera::sial
