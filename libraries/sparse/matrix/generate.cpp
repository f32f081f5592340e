#include "libraries/sparse/matrix/generate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "core/base/error.hpp"
#include "libraries/sparse/matrix/available_memory.hpp"
#include "libraries/sparse/matrix/families.hpp"

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

struct matrix_size {
  std::int64_t rows, entries;
  double bytes;  ///< at least, while it is made
};

/// Of compressed rows, and `listed` entries with row and column that they are made of.
matrix_size size_of(std::int64_t rows, std::int64_t entries, std::int64_t listed = 0) {
  return {rows, entries,
          12 * static_cast<double>(entries) + 8 * static_cast<double>(rows) +
              static_cast<double>(sizeof(triplet)) * static_cast<double>(listed)};
}

/// In how many ways half of the spins are up.
std::int64_t words_of(std::int64_t spins) {
  std::int64_t ways = 1;
  for (std::int64_t k = 1; k <= spins / 2; ++k) ways = ways * (spins - spins / 2 + k) / k;
  return ways;
}

/// As it will be made; of graphs, whose edges may be drawn twice, at most.
matrix_size size_of(const family& f) {
  const std::int64_t n = f.size;
  switch (f.is) {
    case kind::lap2d:
      return size_of(n * n, 5 * n * n - 4 * n);
    case kind::lap3d:
      return size_of(n * n * n, 7 * n * n * n - 6 * n * n);
    case kind::xxz:
    case kind::xx:
    case kind::hs: {
      const std::int64_t pairs = f.is == kind::xxz ? n : f.is == kind::xx ? n - 1 : n * (n - 1) / 2;
      return size_of(words_of(n), words_of(n) + pairs * 2 * words_of(n - 2));  // two spins differ in two ways
    }
    case kind::kkt3d: {
      const std::int64_t points = n * n * n, controls = 6 * n * n, near = 3 * n - 2,  // along an edge, with itself
          entries = points + controls + 2 * near * near * near + 12 * near * near;
      return size_of(2 * points + controls, entries, entries);
    }
    case kind::rmat:
    case kind::nrmat: {
      const std::int64_t vertices = std::int64_t{1} << n, ends = 2 * vertices * f.edge_factor;
      return {vertices, vertices + ends, static_cast<double>(sizeof(triplet)) * static_cast<double>(ends)};
    }
  }
  return {};
}

}  // namespace

csr_matrix generate(std::string_view text, std::optional<std::int64_t> memory) {
  const family f = parse(text);
  const matrix_size is = size_of(f);
  require_memory(fmt::format("the family '{}'", text), is.rows, is.entries, is.bytes,
                 memory ? *memory : available_memory(), "made");
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
