#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "apps/common/session.hpp"
#include "apps/sparse/command.hpp"
#include "apps/stream/kernels.hpp"
#include "core/base/units.hpp"
#include "libraries/sparse/matrix/generate.hpp"
#include "libraries/sparse/matrix/reorder.hpp"
#include "libraries/sparse/product/compressed_rows.hpp"
#include "tessera/sparse.hpp"

namespace tessera::apps {
namespace {

using namespace sparse;

struct spmv_options : command_options {
  std::string matrix, family, reorder = "none";
  std::vector<std::int64_t> columns{1, 8};
  std::vector<std::string> forms{"auto"};
  int repeats = 10;
  std::int64_t panel_rows = 0;
  std::int64_t stream_size = std::int64_t{1} << 23;
};

/// Products of one matrix with so many vectors in one form.
struct measured_products {
  std::int64_t columns;
  product_form how;
  double best = std::numeric_limits<double>::infinity(), mean = 0;  ///< seconds of a product
  double error = 0;  ///< largest difference from the plain product, in units of what rounding may make
  std::int64_t nonzeros, rows;

  double gflops() const { return 2e-9 * static_cast<double>(nonzeros * columns) / best; }
  /// The matrix and X are read once, and the lines of Y, which are read before they are written.
  double bytes() const {
    return static_cast<double>(how.bytes) + 3.0 * static_cast<double>(rows * columns) * sizeof(double);
  }
  double bandwidth() const { return bytes() / best; }
  /// The same if the matrix were read as compressed rows.
  double bandwidth_of_csr() const {
    const auto matrix = static_cast<double>(bytes_of_compressed_rows(rows, nonzeros));
    return (bytes() - static_cast<double>(how.bytes) + matrix) / best;
  }
};

/// Bytes per second of a = b + s c over arrays of so many elements, on all workers: the best of some times. a's lines
/// are read before they are written, which counts.
double measure_triad(session& s, std::int64_t elements) {
  location_model model(s.rt());
  stream_kernels<double> stream(model, elements, {});
  stream.start();
  double best = std::numeric_limits<double>::infinity();
  for (int round = 0; round < 6; ++round) {  // the first one does not count
    s.check_interrupt();
    const auto began = std::chrono::steady_clock::now();
    stream.triad();
    model.fence();
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
    if (round > 0) best = std::min(best, seconds);
  }
  return 4.0 * static_cast<double>(elements) * sizeof(double) / best;
}

std::vector<double> numbers(std::uint64_t seed, std::int64_t rows, std::int64_t columns) {
  std::vector<double> made(static_cast<std::size_t>(rows * columns));
  for (std::int64_t i = 0; i < rows; ++i)
    for (std::int64_t j = 0; j < columns; ++j)
      made[static_cast<std::size_t>(i * columns + j)] =
          noise(seed, static_cast<std::uint64_t>(i), static_cast<std::uint64_t>(j));
  return made;
}

/// Largest difference of y from A x by plain loops, in units of what rounding may make of a row's sum.
double error_of(const csr_matrix& a, const std::vector<double>& x, const std::vector<double>& y, std::int64_t columns) {
  constexpr double epsilon = std::numeric_limits<double>::epsilon();
  double worst = 0;
  for (std::int64_t i = 0; i < a.rows; ++i) {
    const auto begin = static_cast<std::size_t>(a.row_starts[static_cast<std::size_t>(i)]),
               end = static_cast<std::size_t>(a.row_starts[static_cast<std::size_t>(i) + 1]);
    for (std::int64_t j = 0; j < columns; ++j) {
      double sum = 0, size = 0;
      for (std::size_t k = begin; k < end; ++k) {
        const double term = a.values[k] * x[static_cast<std::size_t>(a.entry_columns[k] * columns + j)];
        sum += term;
        size += std::abs(term);
      }
      const double difference = std::abs(y[static_cast<std::size_t>(i * columns + j)] - sum);
      const double bound = static_cast<double>(end - begin + 1) * epsilon * size;
      const double ratio = difference == 0 ? 0 : difference / bound;
      worst = std::isnan(ratio) ? std::numeric_limits<double>::infinity() : std::max(worst, ratio);
    }
  }
  return worst;
}

measured_products measure(session& s, const csr_matrix& a, std::int64_t columns, std::optional<matrix_form> form,
                          const spmv_options& o) {
  program p(s.rt(), a, {.panel_rows = o.panel_rows, .form = form});
  block_vector x = p.vector("X", columns), y = p.vector("Y", columns);
  const std::vector<double> from = numbers(o.seed, a.rows, columns);
  x.set(from);
  measured_products made{.columns = columns, .how = {}, .nonzeros = a.nonzeros(), .rows = a.rows};
  made.how = p.form_of(a, columns);
  constexpr int together = 4;  // products of a loop, so that its start and its end count little
  for (int k = 0; k <= o.repeats; ++k) {
    s.check_interrupt();
    const loop_outcome loop =
        p.while_not([] { return false; }, [&] { apply(a, x, y); }, {.max_iterations = k == 0 ? 1 : together});
    if (k == 0) continue;
    made.best = std::min(made.best, loop.seconds / together);
    made.mean += loop.seconds / together / o.repeats;
  }
  made.error = error_of(a, from, y.values(), columns);
  return made;
}

csr_matrix matrix_for(const spmv_options& o) {
  csr_matrix a = o.family.empty() ? read_matrix(o.matrix) : generate(o.family);
  if (o.reorder == "none") return a;
  require_symmetric(a, "reverse Cuthill-McKee reorders symmetric matrices; leave out --reorder");
  return reverse_cuthill_mckee(a).reordered(a);
}

void describe(report& r, const measured_products& m, double triad, nlohmann::ordered_json& rows) {
  r.add("", fmt::format("{} x {}", m.columns, name_of(m.how.form)),
        fmt::format("{:7.2f} GFLOP/s  {:7.2f} GB/s  {:.2f} of the bound  {:.2f} of that of csr  ({}, mean {})",
                    m.gflops(), m.bandwidth() * 1e-9, m.bandwidth() / triad, m.bandwidth_of_csr() / triad,
                    format_seconds(m.best), format_seconds(m.mean)),
        nullptr);
  if (m.how.text != name_of(m.how.form)) r.add("", "", "form: " + m.how.text, nullptr);
  rows.push_back({{"columns", m.columns},
                  {"form", name_of(m.how.form)},
                  {"choice", m.how.text},
                  {"seconds", m.best},
                  {"mean_seconds", m.mean},
                  {"gflops", m.gflops()},
                  {"matrix_bytes", m.how.bytes},
                  {"bytes", m.bytes()},
                  {"gigabytes_per_second", m.bandwidth() * 1e-9},
                  {"of_bound", m.bandwidth() / triad},
                  {"of_csr_bound", m.bandwidth_of_csr() / triad},
                  {"error", m.error}});
}

int run(const spmv_options& o) {
  const csr_matrix a = matrix_for(o);
  session s(o);
  const std::int64_t widest = std::ranges::max(o.columns);
  s.require_memory(static_cast<double>(std::max(3 * o.stream_size, 2 * a.rows * widest)) * sizeof(double),
                   "the vectors, or the arrays of STREAM");
  double triad = 0;
  std::vector<measured_products> all;
  {
    const progress shown(s.rt(), "spmv", 0, o.quiet);
    triad = measure_triad(s, o.stream_size);
    for (const std::int64_t columns : o.columns)
      for (const std::string& form : o.forms) all.push_back(measure(s, a, columns, form_named(form), o));
    triad = std::max(triad, measure_triad(s, o.stream_size));  // the machine may have been busy at one time
  }
  report r;
  s.describe(r);
  r.add("matrix", "matrix", a.name);
  r.add("n", "n", fmt::format("{}, {} nonzeros, bandwidth {}", a.rows, a.nonzeros(), bandwidth(a)), a.rows);
  r.note("nonzeros", a.nonzeros());
  r.note("bandwidth", bandwidth(a));
  r.add("reorder", "order", o.reorder);
  r.add("triad_gigabytes_per_second", "STREAM triad",
        fmt::format("{:.2f} GB/s, counting four arrays: what is written is read first", triad * 1e-9), triad * 1e-9);
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  for (const measured_products& m : all) describe(r, m, triad, rows);
  r.note("products", rows);
  const double worst = std::ranges::max(all, {}, &measured_products::error).error;
  r.add("error", "error", fmt::format("{:.2g}  (of what rounding may make; right up to 1)", worst), worst);
  s.finish(r);
  if (worst <= 1) return 0;
  fmt::print(stderr, "error: a product differs from that of plain loops\n  at: {}\n", a.name);
  return 1;
}

}  // namespace

void add_spmv(command_table& to) {
  auto options = std::make_shared<spmv_options>();
  command_table& sub = to.add_command("spmv", "Measure products of a sparse matrix with blocks of vectors");
  sub.add({{"matrix", &options->matrix, "FILE", "Matrix Market file: real, integer or pattern; square"},
           {"--generate",
            &options->family,
            "FAMILY:N",
            "instead: lap2d:M, lap3d:M, xxz:L, xx:L, hs:L, kkt3d:N, rmat:S[:F], nrmat:S[:F]",
            {.excludes = {"matrix"}}},
           {"--columns",
            &options->columns,
            "B,...",
            "vectors that are multiplied together: one number or several",
            {.range = between(1, std::int64_t{1} << 16), .shows_default = true, .by_commas = true}},
           {"--form",
            &options->forms,
            "FORM,...",
            "how the matrix lies in memory, one or several: auto (measures first), csr, sell, bcsr",
            {.choices = {"auto", "csr", "sell", "bcsr"}, .shows_default = true, .by_commas = true}},
           {"--repeats",
            &options->repeats,
            "N",
            "how often four products are timed",
            {.range = between(1, 100000), .shows_default = true}},
           {"--reorder",
            &options->reorder,
            "",
            "none, or rcm: reverse Cuthill-McKee, for symmetric matrices",
            {.choices = {"none", "rcm"}, .shows_default = true}},
           {"--panel",
            &options->panel_rows,
            "ROWS",
            "rows of a task; by default chosen by the matrix",
            {.range = between(1, std::int64_t{1} << 30)}},
           {"--stream-size",
            &options->stream_size,
            "N",
            "elements of each array of the STREAM triad",
            {.range = between(1, std::int64_t{1} << 40), .shows_default = true}}});
  options->add_run_options(sub);
  sub.footer =
      "Example:\n  tessera spmv --generate lap3d:60 --columns 1,8 --form csr,auto\n"
      "Ends with 1 when a product differs from that of plain loops.";
  sub.check = [options] {
    if (options->matrix.empty() && options->family.empty())
      throw error(error_kind::usage, "spmv needs a matrix", "the command line", "give FILE.mtx or --generate FAMILY:N");
  };
  sub.run = [options] { return run(*options); };
}

}  // namespace tessera::apps
