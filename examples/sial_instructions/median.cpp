// A super instruction in C++: `special my_median rw`, the median of a block into a scalar. Failures are exceptions
// inside, and what the interface asks for outside.
#include <tessera/sial.h>

#include <algorithm>
#include <exception>
#include <span>
#include <stdexcept>

namespace {

using arguments = std::span<const sial_argument>;

/// Makes a C function of one that throws.
template <void (*body)(const sial_job&, arguments)>
std::int32_t guarded(const sial_job* job, std::int32_t count, const sial_argument* first) {
  try {
    body(*job, {first, static_cast<std::size_t>(count)});
    return 0;
  } catch (const std::exception& failure) {
    job->fail(job, failure.what());
    return 1;
  }
}

void my_median(const sial_job& job, arguments given) {
  const sial_argument &x = given[0], &to = given[1];
  if (to.rank != 0) throw std::invalid_argument("the second argument is to be a scalar");
  double* const sorted = job.scratch(&job, x.elements);  // x is to be read only; this goes by itself
  if (sorted == nullptr) throw std::runtime_error("there is no scratch memory");
  std::copy_n(x.data, x.elements, sorted);
  std::sort(sorted, sorted + x.elements);
  *to.data = (sorted[(x.elements - 1) / 2] + sorted[x.elements / 2]) / 2;
}

constexpr sial_instruction all[] = {
    {sizeof(sial_instruction), SIAL_THREAD_SAFE, "my_median", "rw|ru", guarded<my_median>, nullptr}};
constexpr sial_table table{sizeof(sial_table), SIAL_INTERFACE_VERSION, 1, all, "median 1.0"};

}  // namespace

const sial_table* tessera_sial_instructions(std::uint32_t version) {
  return version == SIAL_INTERFACE_VERSION ? &table : nullptr;
}
