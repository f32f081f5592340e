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

workload lud_workload(std::int64_t n, std::size_t element) {
  const std::int64_t blocks = (n + lud_block - 1) / lud_block, width = blocks * lud_block;
  const auto size = static_cast<double>(element), side = static_cast<double>(lud_block);
  region_work row{.region = "row"}, below{.region = "below"};
  for (std::int64_t k = 0; k < blocks; ++k) {
    const auto right = static_cast<double>(width - k * lud_block), under = static_cast<double>(blocks - k - 1);
    row.bytes += 2 * side * right * size;
    below.bytes += (under + 1) * 2 * side * right * size;
    for (std::int64_t s = k * lud_block; s < (k + 1) * lud_block; ++s) {
      const double of_row = 1 + 2 * static_cast<double>(width - 1 - s);
      row.flops += static_cast<double>((k + 1) * lud_block - 1 - s) * of_row;
      below.flops += under * side * of_row;
    }
  }
  return {static_cast<double>(width) * static_cast<double>(width) * size, {row, below}};
}

}  // namespace tessera::apps::rodinia
