#include "libraries/sparse/program/device_kernels.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <mutex>

namespace tessera::sparse {
namespace {

/// `one` for each k, with %k in it replaced by k.
std::string repeated(std::size_t times, const std::string& one) {
  std::string all;
  for (std::size_t k = 0; k < times; ++k) {
    std::string text = one;
    for (std::size_t at = text.find("%k"); at != text.npos; at = text.find("%k", at))
      text.replace(at, 2, std::to_string(k));
    all += text;
  }
  return all;
}

/// Most block vectors are as wide as the widest one: WIDTH columns, by which the compiler divides.
constexpr const char* width_text = R"(
FUNCTION long row_of(long at, long width) { return width == WIDTH ? at / WIDTH : at / width; }
FUNCTION long column_of(long at, long width) { return width == WIDTH ? at % WIDTH : at % width; }
)";

/// A launch goes over the pieces in the order of their rows; entries of a row ascend. What earlier launches have added
/// is in y.
std::string multiply_text() {
  return R"(
KERNEL void sparse_multiply(GLOBAL const int* starts, GLOBAL const int* columns, GLOBAL const double* values, long rows,
                            long entries, long width, long is_first, double alpha, double beta)" +
         repeated(max_pieces, ", GLOBAL const double* x%k, long begin%k, long end%k") + R"(, GLOBAL double* y) {
  long at = INDEX_X;
  if (at >= rows * width) return;
  long row = row_of(at, width), j = at - row * width;
  long e = starts[row], last = row + 1 < rows ? starts[row + 1] : entries;
  double kept = is_first ? beta != 0 ? beta * y[at] : 0 : y[at];
  if (!is_first) {
    long high = last;
    while (e < high) {
      long middle = (e + high) / 2;
      if (columns[middle] < begin0)
        e = middle + 1;
      else
        high = middle;
    }
  }
  double sum = alpha == 1 ? kept : 0;
)" +
         repeated(
             max_pieces,
             R"(  for (; e < last && columns[e] < end%k; e++) sum += values[e] * x%k[(columns[e] - begin%k) * width + j];
)") + R"(  y[at] = alpha == 1 ? sum : kept + alpha * sum;
}
)";
}

/// A thread makes a row of all destinations, and has read it before it writes. Sources and destinations have WIDTH
/// columns.
std::string combine_rows_text(std::int64_t width, std::size_t destinations) {
  std::string sums, products, ends, choice;
  for (std::size_t d = 0; d < destinations; ++d)
    for (std::int64_t j = 0; j < width; ++j) {
      sums += fmt::format("  double s{}_{} = 0;\n", d, j);
      products += fmt::format("      s{0}_{1} += v * f[from{0} + {1}];\n", d, j);
      ends += fmt::format("  y{0}[at + {1}] = factor != 0 ? s{0}_{1} + factor * y{0}[at + {1}] : s{0}_{1};\n", d, j);
    }
  for (std::size_t k = 1; k < max_factors; ++k) choice += fmt::format("    if (k == {0}) x = x{0};\n", k);
  return fmt::format("KERNEL void sparse_combine_rows{}(", destinations) +
         "GLOBAL const double* c, long stride, long rows, double factor, long sources" +
         repeated(max_factors, ", GLOBAL const double* x%k") +
         repeated(destinations, ", GLOBAL double* y%k, long from%k") + R"() {
  if (INDEX_X >= rows) return;
  long at = INDEX_X * WIDTH;
)" + sums +
         R"(  for (int k = 0; k < sources; k++) {
    GLOBAL const double* x = x0;
)" + choice +
         R"(    for (int i = 0; i < WIDTH; i++) {
      double v = x[at + i];
      GLOBAL const double* f = c + (k * WIDTH + i) * stride;
)" + products +
         "    }\n  }\n" + ends + "}\n";
}

/// Factors beyond those that there are have no columns.
std::string combine_text() {
  return R"(
KERNEL void sparse_combine(GLOBAL const double* c, long from, long stride, long first_row, long rows, long width,
                           long is_first)" +
         repeated(max_factors, ", GLOBAL const double* x%k, long width%k") +
         R"(, GLOBAL double* y, long first_row_of_y) {
  if (INDEX_X >= rows * width) return;
  long row = first_row + row_of(INDEX_X, width), f = from + column_of(INDEX_X, width);
  long at = first_row_of_y * width + INDEX_X;
  double sum = is_first ? 0 : y[at];
)" + repeated(max_factors, R"(  for (long i = 0; i < width%k; i++, f += stride) sum += x%k[row * width%k + i] * c[f];
)") + R"(  y[at] = sum;
}
)";
}

/// Of each product an element is one thread's; its place among all of them says whose it is. Of products of columns q
/// is 0.
std::string products_text() {
  std::string choice;
  for (std::size_t k = 1; k < max_products; ++k)
    choice += fmt::format("  if (at >= end{}) x = x{}, y = y{}, p = p{}, q = q{}, k = at - end{};\n", k - 1, k, k, k, k,
                          k - 1);
  return R"(
KERNEL void sparse_products(long rows, long slice_rows, long slices, long size)" +
         repeated(max_products,
                  ", GLOBAL const double* x%k, long p%k, GLOBAL const double* y%k, long q%k, long end%k") +
         R"(, GLOBAL double* sums, long begin, long stride) {
  if (INDEX_X >= size * slices) return;
  long slice = INDEX_X / size, at = INDEX_X - slice * size, p = p0, q = q0, k = at;
  GLOBAL const double* x = x0;
  GLOBAL const double* y = y0;
)" + choice +
         R"(  long i = q > 0 ? k / q : k, j = q > 0 ? k - i * q : k, next = q > 0 ? q : p;
  long first = slice * slice_rows, last = first + slice_rows < rows ? first + slice_rows : rows;
  double sum = 0;
  x += first * p + i;
  y += first * next + j;
  if (p == WIDTH && next == WIDTH)
    for (long r = first; r < last; r++, x += WIDTH, y += WIDTH) sum += *x * *y;
  else
    for (long r = first; r < last; r++, x += p, y += next) sum += *x * *y;
  sums[slice * stride + begin + at] = sum;
}
KERNEL void sparse_sum_slices(GLOBAL const double* from, long size, long slices, long together, GLOBAL double* to) {
  long some = INDEX_X / size, at = INDEX_X - some * size;
  long first = some * together, last = first + together < slices ? first + together : slices;
  if (first >= slices) return;
  double sum = 0;
  for (long slice = first; slice < last; slice++) sum += from[slice * size + at];
  to[INDEX_X] = sum;
}
)";
}

constexpr const char* elements_text = R"(
KERNEL void sparse_add_scaled(GLOBAL const double* alpha, GLOBAL const double* x, GLOBAL double* y, long width,
                              long count) {
  if (INDEX_X < count) y[INDEX_X] += alpha[column_of(INDEX_X, width)] * x[INDEX_X];
}
KERNEL void sparse_add_multiple(double factor, GLOBAL const double* x, GLOBAL double* y, long count) {
  if (INDEX_X < count) y[INDEX_X] += factor * x[INDEX_X];
}
KERNEL void sparse_add_to_multiple(GLOBAL const double* x, double factor, GLOBAL double* y, long begin, long count) {
  if (INDEX_X < count) y[begin + INDEX_X] = x[INDEX_X] + factor * y[begin + INDEX_X];
}
KERNEL void sparse_multiply_elements(GLOBAL const double* x, GLOBAL const double* y, GLOBAL double* z, long count) {
  if (INDEX_X < count) z[INDEX_X] = x[INDEX_X] * y[INDEX_X];
}
KERNEL void sparse_scale(GLOBAL const double* alpha, GLOBAL const double* x, GLOBAL double* y, long width, long count) {
  if (INDEX_X < count) y[INDEX_X] = alpha[column_of(INDEX_X, width)] * x[INDEX_X];
}
KERNEL void sparse_scale_rows(GLOBAL const double* d, GLOBAL const double* x, GLOBAL double* y, long width,
                              double alpha, double beta, long count) {
  if (INDEX_X >= count) return;
  double made = alpha * (d[row_of(INDEX_X, width)] * x[INDEX_X]);
  y[INDEX_X] = beta != 0 ? made + beta * y[INDEX_X] : made;
}
KERNEL void sparse_axpby(double alpha, GLOBAL const double* x, double beta, GLOBAL double* y, long count) {
  if (INDEX_X < count) y[INDEX_X] = beta != 0 ? alpha * x[INDEX_X] + beta * y[INDEX_X] : alpha * x[INDEX_X];
}
KERNEL void sparse_copy(GLOBAL const double* x, GLOBAL double* y, long begin, long count) {
  if (INDEX_X < count) y[begin + INDEX_X] = x[INDEX_X];
}
)";

/// Elements of several small matrices, each one thread's.
std::string summing_text() {
  const std::string parameters = repeated(max_summed, ", GLOBAL const double* part%k");
  const auto sum_at = [](const std::string& place) {
    std::string text = "  double sum = part0[" + place + "];\n";
    for (std::size_t k = 1; k < max_summed; ++k)
      text += fmt::format("  if (parts > {}) sum += part{}[{}];\n", k, k, place);
    return text;
  };
  std::string choice;
  for (std::size_t k = 1; k < max_finished; ++k)
    choice += fmt::format(
        "  if (at >= end{}) to = to{}, columns = columns{}, mirror = mirror{}, root = root{}, k = at - end{};\n", k - 1,
        k, k, k, k, k - 1);
  return R"(
KERNEL void sparse_add_parts(GLOBAL double* to, long size, long parts)" +
         parameters + R"() {
  if (INDEX_X >= size) return;
)" + sum_at("INDEX_X") +
         R"(  to[INDEX_X] = sum;
}
KERNEL void sparse_finish(long size, long begin, long parts)" +
         repeated(max_finished, ", GLOBAL double* to%k, long columns%k, long mirror%k, long root%k, long end%k") +
         parameters + R"() {
  long at = INDEX_X, columns = columns0, mirror = mirror0, root = root0, k = at;
  GLOBAL double* to = to0;
  if (at >= size) return;
)" + choice +
         R"(  long i = k / columns, j = k - i * columns;
  long from = begin + at - k + (mirror && j < i ? j * columns + i : k);
)" + sum_at("from") +
         R"(  to[k] = root ? sqrt(sum) : sum;
}
)";
}

}  // namespace

std::size_t max_destinations(std::int64_t width) noexcept {
  constexpr std::int64_t registers = 32;  // for sums
  return static_cast<std::size_t>(std::min<std::int64_t>(registers / width, 4));
}

std::vector<std::string> step_kernel_names(std::int64_t width) {
  std::vector<std::string> names{"sparse_multiply",
                                 "sparse_products",
                                 "sparse_sum_slices",
                                 "sparse_combine",
                                 "sparse_add_scaled",
                                 "sparse_add_multiple",
                                 "sparse_add_to_multiple",
                                 "sparse_multiply_elements",
                                 "sparse_scale",
                                 "sparse_scale_rows",
                                 "sparse_copy",
                                 "sparse_axpby"};
  for (std::size_t d = 1; d <= max_destinations(width); ++d) names.push_back(fmt::format("sparse_combine_rows{}", d));
  return names;
}

op::kernel_text steps_text(std::int64_t width) {
  std::string text = fmt::format("#define WIDTH {}\n", width) + width_text + multiply_text() + combine_text() +
                     products_text() + elements_text;
  for (std::size_t d = 1; d <= max_destinations(width); ++d) text += combine_rows_text(width, d);
  return {.source = std::move(text), .file = "kernels of sparse panels"};
}

op::kernel_text sums_text() { return {.source = summing_text(), .file = "kernels of sparse sums"}; }

const op::definition& found_or_defined(runtime& rt, const std::string& name,
                                       const std::function<void(op::definition&)>& fill) {
  static std::mutex one_at_a_time;  // programs of a runtime may be made by several threads
  const std::lock_guard guard(one_at_a_time);
  if (const op::definition* const known = rt.operations().find(name)) return *known;
  op::definition what{.name = name};
  what.available = [](const plugin::device& device, element_type) { return device.has(TSR_DEVICE_HAS_FP64); };
  fill(what);
  return rt.define(std::move(what));
}

}  // namespace tessera::sparse
