#include "languages/sial/interpreter/static_arrays.hpp"

#include <fmt/format.h>

#include "languages/sial/exchange/failure.hpp"

namespace tessera::sial {

static_arrays::static_arrays(const code& program, const geometry& sizes, const init_data& data)
    : m_sizes(sizes), m_values(sizes.arrays()) {
  for (std::uint32_t k = 0; k < sizes.arrays(); ++k) {
    const array_geometry& a = sizes.array(k);
    if (a.kind != array_kind::fixed) continue;
    m_values[k].resize(static_cast<std::size_t>(a.elements()));
    if (!program.arrays[k].predefined) continue;
    const auto found = data.float_arrays.find(a.name);
    if (found == data.float_arrays.end()) continue;  // program_run::notes says so
    if (found->second.values.size() != m_values[k].size())
      throw run_error(fmt::format("the initialization data have {} elements for static array '{}', which has {}",
                                  found->second.values.size(), a.name, m_values[k].size()));
    m_values[k] = found->second.values;
  }
}

box static_arrays::part_of(std::uint32_t array, const segment_numbers& at) const noexcept {
  const array_geometry& a = m_sizes.array(array);
  box part;
  part.rank = a.rank;
  for (std::size_t d = 0; d < a.rank; ++d) {
    part.array_extents[d] = a.dims[d].elements();
    part.offset[d] = a.dims[d].offset(at[d]);
    part.extents[d] = a.dims[d].length(at[d]);
  }
  return part;
}

}  // namespace tessera::sial
