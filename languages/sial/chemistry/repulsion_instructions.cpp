#include "languages/sial/chemistry/repulsion_instructions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "languages/sial/instructions/builtin/arguments.hpp"

namespace tessera::sial {
namespace {

/// Where a', b', c', d' of an equal integral (a'b'|c'd') stand in (ab|cd).
using image = std::array<std::size_t, 4>;
constexpr std::array<image, 8> all_images{
    {{0, 1, 2, 3}, {1, 0, 2, 3}, {0, 1, 3, 2}, {1, 0, 3, 2}, {2, 3, 0, 1}, {3, 2, 0, 1}, {2, 3, 1, 0}, {3, 2, 1, 0}}};

/// What an instruction of the family is responsible for, by the segments (mu nu|la si) that programs call it with.
struct fock_variant {
  const char* name;
  std::vector<std::size_t> images;
};
const std::vector<fock_variant>& fock_variants() {
  static const std::vector<fock_variant> all{{"compute_ubatch1", {0, 1, 2, 3, 4, 5, 6, 7}},
                                             {"compute_ubatch2", {0, 2, 4, 5}},  // (mu mu|la si)
                                             {"compute_ubatch4", {0, 1, 2, 3, 4, 5, 6, 7}},
                                             {"compute_ubatch6", {0}},            // (mu mu|mu mu)
                                             {"compute_ubatch7", {0, 4}},         // (mu mu|la la)
                                             {"compute_ubatch8", {0, 1, 2, 3}}};  // (mu nu|mu nu)
  return all;
}

/// The images of a block that are blocks of their own: where segments are equal, the elements of one block are images
/// of each other already.
std::vector<image> images_of(const sial_argument& block, const std::vector<std::size_t>& candidates) {
  std::vector<image> found;
  const auto same = [&](const image& one, const image& other) {
    for (std::size_t k = 0; k < 4; ++k)
      if (block.offsets[one[k]] != block.offsets[other[k]] || block.extents[one[k]] != block.extents[other[k]])
        return false;
    return true;
  };
  for (const std::size_t k : candidates)
    if (std::ranges::none_of(found, [&](const image& before) { return same(all_images[k], before); }))
      found.push_back(all_images[k]);
  return found;
}

/// Elements of a matrix, one for each first index of a row of integrals.
struct matrix_row {
  std::int64_t at = 0, stride = 0;
};

/// Of a matrix of order n: the row of element (first, second), which are the ordinals of two indices of the block.
matrix_row row_of(const std::array<std::int64_t, 4>& number, std::size_t first, std::size_t second, std::int64_t n) {
  return {number[first] + n * number[second], (first == 0 ? 1 : 0) + (second == 0 ? n : 0)};
}

/// A row of integrals v(a) of one image: f[to] += or -= d[from] * v.
class fock_update {
 public:
  fock_update(const instruction_call& c, std::int64_t n)
      : m_n(n),
        m_d{c.arguments[1].data, c.arguments[2].data},
        m_f{c.arguments[3].data, c.arguments[4].data},
        m_run(c.arguments[0].extents[0]) {}

  void add(const double* v, const std::array<std::int64_t, 4>& number, const image& i) {
    const matrix_row to = row_of(number, i[0], i[1], m_n), from = row_of(number, i[2], i[3], m_n);
    for (std::int64_t k = 0; k < m_run; ++k) {
      const double j = (m_d[0][from.at + k * from.stride] + m_d[1][from.at + k * from.stride]) * v[k];
      m_f[0][to.at + k * to.stride] += j;
      m_f[1][to.at + k * to.stride] += j;
    }
    const matrix_row to_x = row_of(number, i[0], i[2], m_n), from_x = row_of(number, i[1], i[3], m_n);
    for (std::size_t spin = 0; spin < 2; ++spin)
      for (std::int64_t k = 0; k < m_run; ++k)
        m_f[spin][to_x.at + k * to_x.stride] -= m_d[spin][from_x.at + k * from_x.stride] * v[k];
  }

 private:
  const std::int64_t m_n;
  const std::array<const double*, 2> m_d;
  const std::array<double*, 2> m_f;
  const std::int64_t m_run;
};

/// wrruu: block, densities, Fock matrices of both spins.
void fock_batch(basis_access& basis, const fock_variant& variant, const instruction_call& c) {
  const sial_argument& block = c.arguments[0];
  const auto n = static_cast<std::int64_t>(basis.over().functions());
  for (const sial_argument& matrix : c.arguments.subspan(1)) {
    expect_functions(matrix, basis.over());
    if (matrix.rank != 2 || matrix.extents[0] != n || matrix.extents[1] != n)
      refuse(fmt::format("{} is {}, and {} x {} is expected", shown(matrix), extents_of(matrix), n, n));
  }
  basis.fill_repulsion(block);
  fock_update update(c, n);
  const std::vector<image> images = images_of(block, variant.images);
  const double* v = block.data;
  std::array<std::int64_t, 4> number{};
  number[0] = block.offsets[0];
  for (std::int64_t d = 0; d < block.extents[3]; ++d)
    for (std::int64_t x = 0; x < block.extents[2]; ++x)
      for (std::int64_t b = 0; b < block.extents[1]; ++b, v += block.extents[0]) {
        number[1] = block.offsets[1] + b;
        number[2] = block.offsets[2] + x;
        number[3] = block.offsets[3] + d;
        for (const image& i : images) update.add(v, number, i);
      }
}

}  // namespace

std::vector<instruction> repulsion_instructions(const std::shared_ptr<basis_access>& basis) {
  std::vector<instruction> all{
      {"compute_integral_batch",
       {"w"},
       {},
       [basis](const instruction_call& c) { basis->fill_repulsion(c.arguments[0]); }},
      {"forget_integrals", {""}, {}, [basis](const instruction_call&) { basis->forget_kept(); }}};
  for (const fock_variant& variant : fock_variants())
    all.push_back({variant.name, {"wrruu"}, {}, [basis, &variant](const instruction_call& c) {
                     fock_batch(*basis, variant, c);
                   }});
  return all;
}

}  // namespace tessera::sial
