#include "languages/sial/chemistry/batch_tables.hpp"

#include <fmt/format.h>

#include <array>

#include "languages/sial/chemistry/orbitals.hpp"
#include "languages/sial/instructions/builtin/arguments.hpp"
#include "languages/sial/instructions/instruction_job.hpp"

namespace tessera::sial {
namespace {

/// Orbitals of one segment that are worked on together.
struct orbital_batch {
  std::int64_t segment;      ///< from 1, the first of those that are active
  std::int64_t first, last;  ///< from 1, among all orbitals
};
constexpr std::size_t max_in_batch = 5;

std::int64_t occupied_bound(const init_data& data, const char* name) {
  const auto found = data.ints.find(name);
  const auto segments = static_cast<std::int64_t>(data.segments_of(index_kind::moa).size());
  if (found == data.ints.end())
    refuse(fmt::format("the initialization data have no int '{}', a segment of occupied orbitals", name));
  if (found->second < 1 || found->second > segments)
    refuse(fmt::format("the int '{}' of the initialization data is {}, and there are {} segments of moa", name,
                       found->second, segments));
  return found->second;
}

std::vector<orbital_batch> batches_of(const init_data& data, std::int64_t first, std::int64_t last) {
  std::vector<orbital_batch> all;
  for (std::int64_t segment = first; segment <= last; ++segment) {
    std::int64_t at = data.offset_of(index_kind::moa, segment) + 1;
    const auto length =
        static_cast<std::size_t>(data.segments_of(index_kind::moa)[static_cast<std::size_t>(segment) - 1]);
    for (const std::int64_t count : orbital_segments(length, max_in_batch)) {
      all.push_back({segment - first + 1, at, at + count - 1});
      at += count;
    }
  }
  return all;
}

/// w: a row for each two batches of ordered segments and each third segment; behind the last a row of -1.
/// @param ordered  the third segment, too, is not before the second
void set_table(const instruction_call& c, bool ordered) {
  constexpr std::int64_t columns = 7;
  const sial_argument& table = c.arguments[0];
  const init_data& data = c.job.data();
  if (table.rank != 2 || table.extents[1] != columns)
    refuse(fmt::format("{} is {}, and a table of {} columns is expected", shown(table), extents_of(table), columns));
  const std::int64_t first = occupied_bound(data, "baocc"), last = occupied_bound(data, "eaocc");
  const std::vector<orbital_batch> batches = batches_of(data, first, last);
  std::int64_t row = 0;
  const auto add = [&](const std::array<std::int64_t, columns>& values) {
    if (row < table.extents[0])
      for (std::size_t k = 0; k < values.size(); ++k)
        table.data[row + table.extents[0] * static_cast<std::int64_t>(k)] = static_cast<double>(values[k]);
    ++row;
  };
  for (const orbital_batch& i : batches)
    for (const orbital_batch& j : batches)
      for (std::int64_t k = ordered ? j.segment : 1; i.segment <= j.segment && k <= last - first + 1; ++k)
        add({i.segment, i.first, i.last, j.segment, j.first, j.last, k});
  add({-1, -1, -1, -1, -1, -1, -1});
  if (row > table.extents[0])
    refuse(
        fmt::format("{} has {} rows, and the {} batches of occupied orbitals need {}; longer segments of occupied "
                    "orbitals need fewer",
                    shown(table), table.extents[0], batches.size(), row));
}

}  // namespace

std::vector<instruction> batch_table_instructions() {
  return {{"set_ijk_aaa", {"w"}, {}, [](const instruction_call& c) { set_table(c, true); }},
          {"set_ijk_aab", {"w"}, {}, [](const instruction_call& c) { set_table(c, false); }}};
}

}  // namespace tessera::sial
