#include "libraries/sparse/product/form_choice.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <limits>
#include <memory>

#include "libraries/sparse/product/panel_product.hpp"

namespace tessera::sparse {
namespace {

constexpr std::int64_t min_entries = 20000;  // matrices below are multiplied faster than they are measured
constexpr std::int64_t sampled_places = 4;   // of the matrix that are measured
constexpr int rounds = 3;

struct row_range {
  std::int64_t begin, end;
};

/// A hundredth of the rows, in pieces from all over the matrix.
std::vector<row_range> sample_of(const csr_matrix& a) {
  const std::int64_t rows =
      std::clamp<std::int64_t>(a.rows / (100 * sampled_places) / 64 * 64, 64, a.rows / sampled_places);
  std::vector<row_range> pieces;
  for (std::int64_t k = 0; k < sampled_places; ++k) {
    const std::int64_t middle = a.rows / (2 * sampled_places) * (2 * k + 1);
    pieces.push_back({middle - rows / 2, middle - rows / 2 + rows});
  }
  return pieces;
}

bool larger_than_caches(const csr_matrix& a) {
#if defined(_SC_LEVEL3_CACHE_SIZE)
  const long known = ::sysconf(_SC_LEVEL3_CACHE_SIZE);
#else
  const long known = 0;
#endif
  const std::int64_t cache = known > 0 ? known : std::int64_t{32} << 20;
  return a.nonzeros() * std::int64_t{sizeof(double) + sizeof(std::int32_t)} > cache;
}

/// A form that is measured.
struct candidate {
  matrix_form form;
  std::vector<std::unique_ptr<panel_product>> pieces = {};
  double seconds = std::numeric_limits<double>::infinity();
  std::int64_t bytes() const {
    std::int64_t sum = 0;
    for (const auto& p : pieces) sum += p->bytes();
    return sum;
  }
};

/// Whether most of the pieces have the form. Makes them.
bool fits(candidate& c, const csr_matrix& a, const std::vector<row_range>& sample, panel_memory& memory) {
  const row_panels whole{{a.columns}};
  for (const row_range& r : sample) c.pieces.push_back(make_panel_product(a, r.begin, r.end, c.form, whole, memory));
  return 2 * std::ranges::count(c.pieces, c.form, &panel_product::form) > std::ssize(c.pieces);
}

}  // namespace

form_choice choose_form(const csr_matrix& a, std::int64_t width) {
  if (a.nonzeros() < min_entries || a.rows < sampled_places * 64) return {};
  const std::vector<row_range> sample = sample_of(a);
  panel_memory memory;
  std::vector<candidate> candidates;
  for (const matrix_form form : matrix_forms) {
    if (form == matrix_form::sell && width > 1) continue;
    if (candidate made{.form = form}; fits(made, a, sample, memory)) candidates.push_back(std::move(made));
  }
  if (candidates.size() < 2) return {};

  // Zeros; memory is only used where the sample reads it.
  const auto size = static_cast<std::size_t>(a.columns * width);
  const std::unique_ptr<double, decltype(&std::free)> x(static_cast<double*>(std::calloc(size, sizeof(double))),
                                                        &std::free);
  if (x == nullptr) return {};
  std::vector<double> y(static_cast<std::size_t>((sample[0].end - sample[0].begin) * width));
  const bool from_memory = larger_than_caches(a);
  for (int round = 0; round < rounds; ++round)
    for (candidate& c : candidates) {
      if (from_memory)
        for (const auto& piece : c.pieces) piece->forget();
      const auto began = std::chrono::steady_clock::now();
      for (std::size_t k = 0; k < sample.size(); ++k)
        c.pieces[k]->multiply(sample[k].begin, sample[k].end, width, x.get(), y.data());
      c.seconds = std::min(c.seconds, std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count());
    }

  form_choice made;
  double best = 0.95 * candidates[0].seconds;
  for (const candidate& c : candidates) {
    made.measured.push_back({c.form, c.seconds, c.bytes()});
    if (c.form == matrix_form::csr || c.seconds >= best) continue;
    made.chosen = c.form;
    best = c.seconds;
  }
  return made;
}

std::string form_choice::text() const {
  std::string made(name_of(chosen));
  if (measured.empty()) return made;
  made += " (";
  for (const measured_form& m : measured)
    made +=
        fmt::format("{}{} {:.2f}", &m == measured.data() ? "" : ", ", name_of(m.form), m.seconds / measured[0].seconds);
  return made + " of the time)";
}

}  // namespace tessera::sparse
