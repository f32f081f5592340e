#include <fmt/format.h>

#include <array>

#include "core/base/error.hpp"
#include "languages/sial/data/init_data.hpp"

namespace tessera::sial {

std::string_view segment_table_name(index_kind kind) noexcept {
  static constexpr std::array<std::string_view, 7> names{"ao", "mo", "moa", "mob", "simple", "la", "sub"};
  const auto number = static_cast<std::size_t>(kind);
  return number < names.size() ? names[number] : "unknown";
}

const std::vector<std::int64_t>& init_data::segments_of(index_kind kind) const {
  static const std::vector<std::int64_t> none;
  const auto found = segments.find(kind);
  return found == segments.end() ? none : found->second;
}

std::int64_t init_data::offset_of(index_kind kind, std::int64_t segment) const {
  if (kind == index_kind::simple) return segment - 1;
  const auto& lengths = segments_of(kind);
  if (segment < 1 || segment - 1 > static_cast<std::int64_t>(lengths.size()))
    throw error(error_kind::input, fmt::format("there is no segment {} of kind {}: the initialization data have {}",
                                               segment, segment_table_name(kind), lengths.size()));
  std::int64_t before = 0;
  for (std::int64_t s = 1; s < segment; ++s) before += lengths[static_cast<std::size_t>(s - 1)];
  return before;
}

std::int64_t elements_of(const std::vector<std::int64_t>& dims, const std::string& where) {
  for (const std::int64_t dim : dims)
    if (dim < 0) throw error(error_kind::input, fmt::format("an extent is {}", dim), where, "extents are 0 or more");
  for (const std::int64_t dim : dims)
    if (dim == 0) return 0;
  std::int64_t product = 1;
  for (const std::int64_t dim : dims)
    if (__builtin_mul_overflow(product, dim, &product))
      throw error(error_kind::input, fmt::format("the extents [{}] have too large a product", fmt::join(dims, ", ")),
                  where);
  return product;
}

}  // namespace tessera::sial
