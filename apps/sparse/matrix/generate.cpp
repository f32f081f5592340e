#include "apps/sparse/matrix/generate.hpp"

#include <fmt/format.h>

#include <array>
#include <charconv>

#include "apps/sparse/matrix/families.hpp"
#include "core/base/error.hpp"

namespace tessera::sparse {
namespace {

enum class kind : std::uint8_t {
  lap2d,
  lap3d,
  xxz,
  xx,
  hs,
  kkt3d,
  rmat,
  nrmat
};

struct family_name {
  std::string_view word;
  kind is;
  std::int64_t least, most;  ///< sizes
};
// At most 2^31 - 1 rows, and matrices that a large machine holds.
constexpr std::array names = {family_name{"lap2d", kind::lap2d, 1, 46340}, family_name{"lap3d", kind::lap3d, 1, 1290},
                              family_name{"xxz", kind::xxz, 4, 28},        family_name{"xx", kind::xx, 4, 28},
                              family_name{"hs", kind::hs, 4, 28},          family_name{"kkt3d", kind::kkt3d, 1, 512},
                              family_name{"rmat", kind::rmat, 1, 28},      family_name{"nrmat", kind::nrmat, 1, 28}};

struct family {
  kind is;
  std::int64_t size, edge_factor;
};

[[noreturn]] void refuse(std::string_view text, std::string message) {
  throw error(error_kind::usage, std::move(message), fmt::format("the family '{}'", text),
              "lap2d:M, lap3d:M, xxz:L, xx:L, hs:L, kkt3d:N, rmat:S[:F] or nrmat:S[:F]");
}

std::int64_t number_in(std::string_view text, std::string_view word) {
  std::int64_t value = 0;
  const auto [end, status] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (status != std::errc{} || end != word.data() + word.size())
    refuse(text, fmt::format("'{}' is not a whole number", word));
  return value;
}

family parse(std::string_view text) {
  const auto colon = text.find(':');
  const std::string_view word = text.substr(0, colon);
  for (const family_name& name : names) {
    if (name.word != word) continue;
    if (colon == text.npos) refuse(text, "the size is missing");
    std::string_view rest = text.substr(colon + 1);
    family found{name.is, 0, 8};
    if (const auto second = rest.find(':'); second != rest.npos) {
      if (name.is != kind::rmat && name.is != kind::nrmat) refuse(text, "only rmat and nrmat have a second number");
      found.edge_factor = number_in(text, rest.substr(second + 1));
      if (found.edge_factor < 1 || found.edge_factor > 256) refuse(text, "the edges per vertex are 1 to 256");
      rest = rest.substr(0, second);
    }
    found.size = number_in(text, rest);
    if (found.size < name.least || found.size > name.most)
      refuse(text, fmt::format("the size of {} is {} to {}", word, name.least, name.most));
    const bool chain = name.is == kind::xxz || name.is == kind::xx || name.is == kind::hs;
    if (chain && found.size % 2 != 0) refuse(text, "the number of spins must be even: half of them are up");
    return found;
  }
  refuse(text, fmt::format("there is no family '{}'", word));
}

families::spins spins_of(kind is) {
  return is == kind::xxz  ? families::spins::heisenberg_ring
         : is == kind::xx ? families::spins::open_xx_chain
                          : families::spins::haldane_shastry_ring;
}

}  // namespace

csr_matrix generate(std::string_view text) {
  const family f = parse(text);
  csr_matrix made;
  switch (f.is) {
    case kind::lap2d:
    case kind::lap3d:
      made = families::laplacian(f.is == kind::lap2d ? 2 : 3, f.size);
      break;
    case kind::xxz:
    case kind::xx:
    case kind::hs:
      made = families::spin_chain(spins_of(f.is), static_cast<int>(f.size));
      break;
    case kind::kkt3d:
      made = families::boundary_control(f.size);
      break;
    case kind::rmat:
    case kind::nrmat:
      made = families::graph_laplacian(static_cast<int>(f.size), static_cast<int>(f.edge_factor), f.is == kind::nrmat);
      break;
  }
  made.name = text;
  return made;
}

std::vector<double> known_lowest(std::string_view text, std::size_t count) {
  const family f = parse(text);
  switch (f.is) {
    case kind::lap2d:
    case kind::lap3d:
      return families::laplacian_lowest(f.is == kind::lap2d ? 2 : 3, f.size, count);
    case kind::xxz:
    case kind::xx:
    case kind::hs:
      return families::spin_chain_lowest(spins_of(f.is), static_cast<int>(f.size), count);
    case kind::kkt3d:
      return {};
    case kind::rmat:
    case kind::nrmat:
      return std::vector<double>(std::min<std::size_t>(count, 1), 0.0);
  }
  return {};
}

}  // namespace tessera::sparse
