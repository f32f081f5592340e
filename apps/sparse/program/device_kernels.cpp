#include "apps/sparse/program/device_kernels.hpp"

#include <fmt/format.h>

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

/// A launch goes over the pieces in the order of their rows; entries of a row ascend. What earlier launches have added
/// is in y.
std::string multiply_text() {
  return R"(
KERNEL void sparse_multiply(GLOBAL const int* starts, GLOBAL const int* columns, GLOBAL const double* values, long rows,
                            long entries, long width, long is_first)" +
         repeated(most_pieces, ", GLOBAL const double* x%k, long begin%k, long end%k") + R"(, GLOBAL double* y) {
  long at = INDEX_X;
  if (at >= rows * width) return;
  long row = at / width, j = at - row * width;
  long e = starts[row], last = row + 1 < rows ? starts[row + 1] : entries;
  double sum = 0;
  if (!is_first) {
    long high = last;
    while (e < high) {
      long middle = (e + high) / 2;
      if (columns[middle] < begin0)
        e = middle + 1;
      else
        high = middle;
    }
    sum = y[at];
  }
)" +
         repeated(
             most_pieces,
             R"(  for (; e < last && columns[e] < end%k; e++) sum += values[e] * x%k[(columns[e] - begin%k) * width + j];
)") + R"(  y[at] = sum;
}
)";
}

/// Factors beyond those that there are have no columns.
std::string combine_text() {
  return R"(
KERNEL void sparse_combine(GLOBAL const double* c, long from, long stride, long first_row, long rows, long width,
                           long is_first)" +
         repeated(most_factors, ", GLOBAL const double* x%k, long width%k") +
         R"(, GLOBAL double* y, long first_row_of_y) {
  if (INDEX_X >= rows * width) return;
  long row = first_row + INDEX_X / width, f = from + INDEX_X % width, at = first_row_of_y * width + INDEX_X;
  double sum = is_first ? 0 : y[at];
)" + repeated(most_factors, R"(  for (long i = 0; i < width%k; i++, f += stride) sum += x%k[row * width%k + i] * c[f];
)") + R"(  y[at] = sum;
}
)";
}

constexpr const char* reductions_text = R"(
KERNEL void sparse_gram(GLOBAL const double* x, long p, GLOBAL const double* y, long q, long rows, long slice_rows,
                        long slices, GLOBAL double* sums, long begin, long stride) {
  long at = INDEX_X, size = p * q;
  if (at >= size * slices) return;
  long slice = at / size, k = at - slice * size, i = k / q, j = k - i * q;
  long last = (slice + 1) * slice_rows < rows ? (slice + 1) * slice_rows : rows;
  double sum = 0;
  for (long r = slice * slice_rows; r < last; r++) sum += x[r * p + i] * y[r * q + j];
  sums[slice * stride + begin + k] = sum;
}
KERNEL void sparse_dots(GLOBAL const double* x, GLOBAL const double* y, long width, long rows, long slice_rows,
                        long slices, GLOBAL double* sums, long begin, long stride) {
  long at = INDEX_X;
  if (at >= width * slices) return;
  long slice = at / width, j = at - slice * width;
  long last = (slice + 1) * slice_rows < rows ? (slice + 1) * slice_rows : rows;
  double sum = 0;
  for (long r = slice * slice_rows; r < last; r++) sum += x[r * width + j] * y[r * width + j];
  sums[slice * stride + begin + j] = sum;
}
KERNEL void sparse_sum_slices(GLOBAL const double* from, long size, long slices, GLOBAL double* to) {
  long at = INDEX_X;
  if (at >= size) return;
  double sum = 0;
  for (long slice = 0; slice < slices; slice++) sum += from[slice * size + at];
  to[at] = sum;
}
)";

constexpr const char* elements_text = R"(
KERNEL void sparse_add_scaled(GLOBAL const double* alpha, GLOBAL const double* x, GLOBAL double* y, long width,
                              long count) {
  if (INDEX_X < count) y[INDEX_X] += alpha[INDEX_X % width] * x[INDEX_X];
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
  if (INDEX_X < count) y[INDEX_X] = alpha[INDEX_X % width] * x[INDEX_X];
}
KERNEL void sparse_scale_rows(GLOBAL const double* d, GLOBAL const double* x, GLOBAL double* y, long width, long count) {
  if (INDEX_X < count) y[INDEX_X] = d[INDEX_X / width] * x[INDEX_X];
}
KERNEL void sparse_copy(GLOBAL const double* x, GLOBAL double* y, long begin, long count) {
  if (INDEX_X < count) y[begin + INDEX_X] = x[INDEX_X];
}
)";

std::string summing_text() {
  const std::string parameters = repeated(most_summed, ", GLOBAL const double* part%k");
  const auto sum_at = [](const std::string& place) {
    std::string text = "  double sum = part0[" + place + "];\n";
    for (std::size_t k = 1; k < most_summed; ++k)
      text += fmt::format("  if (parts > {}) sum += part{}[{}];\n", k, k, place);
    return text;
  };
  return R"(
KERNEL void sparse_add_parts(GLOBAL double* to, long size, long parts)" +
         parameters + R"() {
  if (INDEX_X >= size) return;
)" + sum_at("INDEX_X") +
         R"(  to[INDEX_X] = sum;
}
KERNEL void sparse_finish(GLOBAL double* to, long rows, long columns, long begin, long mirror, long root, long parts)" +
         parameters + R"() {
  if (INDEX_X >= rows * columns) return;
  long i = INDEX_X / columns, j = INDEX_X - i * columns;
  long k = begin + (mirror && j < i ? j * columns + i : INDEX_X);
)" + sum_at("k") +
         R"(  to[INDEX_X] = root ? sqrt(sum) : sum;
}
)";
}

}  // namespace

const std::vector<std::string>& step_kernel_names() {
  static const std::vector<std::string> names{
      "sparse_multiply",          "sparse_gram",       "sparse_dots",         "sparse_sum_slices",
      "sparse_combine",           "sparse_add_scaled", "sparse_add_multiple", "sparse_add_to_multiple",
      "sparse_multiply_elements", "sparse_scale",      "sparse_scale_rows",   "sparse_copy"};
  return names;
}

op::kernel_text steps_text() {
  return {.source = multiply_text() + combine_text() + reductions_text + elements_text,
          .file = "kernels of sparse panels"};
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
