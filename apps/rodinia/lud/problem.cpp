#include "apps/rodinia/lud/problem.hpp"

#include "apps/common/text_input.hpp"

namespace tessera::apps::rodinia {
namespace {

constexpr double lud_decay = 0.001;  // rho = exp(-decay)

}  // namespace

lud_input read_lud_input(const std::filesystem::path& file) {
  text_input in(file);
  lud_input read;
  read.n = in.integer("the number of rows", 1, 32768);
  for (std::int64_t k = 0; k < read.n * read.n; ++k) read.a.push_back(in.number("an element of the matrix"));
  in.expect_end();
  return read;
}

double lud_element(std::int64_t i, std::int64_t j) {
  return 10 * std::exp(-lud_decay * static_cast<double>(std::abs(i - j)));
}

double lud_factor(std::int64_t i, std::int64_t j) {
  if (j < i) return std::exp(-lud_decay * static_cast<double>(i - j));
  return (i == 0 ? 1 : -std::expm1(-2 * lud_decay)) * lud_element(i, j);
}

}  // namespace tessera::apps::rodinia
