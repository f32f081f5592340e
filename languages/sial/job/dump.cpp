#include "languages/sial/job/dump.hpp"

#include <cmath>
#include <nlohmann/json.hpp>

#include "languages/sial/estimate/text.hpp"

namespace tessera::sial {
namespace {

using nlohmann::ordered_json;

void add_elements(ordered_json& to, const double* data, std::int64_t count, bool checksums) {
  if (!checksums) {
    to["values"] = std::vector<double>(data, data + count);
    return;
  }
  double sum = 0, size = 0;
  for (std::int64_t k = 0; k < count; ++k) {
    sum += data[k];
    size += std::abs(data[k]);
  }
  to["sum"] = sum;
  to["sum_of_magnitudes"] = size;
}

}  // namespace

ordered_json dump_of(const program_run& run, bool checksums) {
  const code& c = run.program;
  const final_state& left = run.left;
  ordered_json out{{"program", c.program},
                   {"ints", ordered_json::object()},
                   {"scalars", ordered_json::object()},
                   {"arrays", ordered_json::array()}};
  for (std::size_t k = 0; k < c.ints.size(); ++k) out["ints"][c.ints[k].name] = left.ints[k];
  for (std::size_t k = 0; k < c.scalars.size(); ++k) out["scalars"][c.scalars[k].name] = left.scalars[k];
  for (std::uint32_t k = 0; k < c.arrays.size(); ++k) {
    const array_geometry& a = run.sizes.array(k);
    ordered_json entry{{"name", a.name}, {"kind", word_of(a.kind)}};
    std::vector<std::int64_t> extents;
    for (std::size_t d = 0; d < a.rank; ++d) extents.push_back(a.dims[d].elements());
    entry["extents"] = extents;
    if (a.kind == array_kind::fixed) {
      add_elements(entry, left.statics[k].data(), static_cast<std::int64_t>(left.statics[k].size()), checksums);
    } else if (left.generations[k] != nullptr) {
      entry["blocks"] = ordered_json::array();
      for (const std::int64_t ordinal : left.generations[k]->ordinals()) {
        const shared_block& b = *left.generations[k]->find(ordinal);
        const auto view = b.elements.read();
        const auto at = a.segments_of(ordinal);
        ordered_json block{
            {"segments", std::vector<std::int64_t>(at.begin(), at.begin() + static_cast<std::ptrdiff_t>(a.rank))}};
        const auto shown = b.elements.stored_extents().extents();
        block["shape"] = std::vector<std::int64_t>(shown.begin(), shown.end());
        add_elements(block, view.data(), view.size(), checksums);
        entry["blocks"].push_back(std::move(block));
      }
    } else {
      continue;  // temp and local blocks are each worker's own
    }
    out["arrays"].push_back(std::move(entry));
  }
  return out;
}

}  // namespace tessera::sial
