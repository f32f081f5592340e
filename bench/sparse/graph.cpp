#include <malloc.h>

#include <atomic>
#include <cstdlib>
#include <new>

#include "bench/common/measure.hpp"
#include "bench/sparse/cases.hpp"
#include "libraries/sparse/matrix/generate.hpp"
#include "libraries/sparse/solver/lobpcg.hpp"
#include "tessera/tessera.hpp"

namespace {

std::atomic<long> live_bytes;

void* counted(void* memory) {
  if (memory == nullptr) throw std::bad_alloc();
  live_bytes.fetch_add(static_cast<long>(malloc_usable_size(memory)), std::memory_order_relaxed);
  return memory;
}
void uncounted(void* memory) {
  if (memory == nullptr) return;
  live_bytes.fetch_sub(static_cast<long>(malloc_usable_size(memory)), std::memory_order_relaxed);
  std::free(memory);
}

}  // namespace

// All objects of the process; the numbers of vectors have other memory.
void* operator new(std::size_t bytes) { return counted(std::malloc(bytes)); }
void* operator new(std::size_t bytes, std::align_val_t to) {
  const auto unit = static_cast<std::size_t>(to);
  return counted(std::aligned_alloc(unit, (bytes + unit - 1) / unit * unit));
}
void operator delete(void* memory) noexcept { uncounted(memory); }
void operator delete(void* memory, std::size_t) noexcept { uncounted(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { uncounted(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { uncounted(memory); }

namespace bench {

using namespace tessera;
using namespace tessera::sparse;

namespace {

/// Of an iteration whose tasks have hardly anything to do, on one worker.
double microseconds_per_task() {
  const csr_matrix a = generate("lap3d:16");
  runtime rt({.workers = 1});
  eigen_options o{.pairs = 1, .block = 1, .tolerance = 0, .max_iterations = 40, .precondition = preconditioning::none};
  o.program.panel_rows = 16;
  double last = 0, best = 1e99;
  o.report = [&](const eigen_progress& now) {
    if (now.iteration > 2) best = std::min(best, bench::now() - last);
    last = bench::now();
  };
  const eigenpairs found = lobpcg(rt, a, o);
  return best / static_cast<double>(found.loop.tasks) * 1e6;
}

}  // namespace

void measure_graph(const csr_matrix& a, const sparse_case& c) {
  runtime rt({.workers = static_cast<std::uint32_t>(c.workers)});
  eigen_options o{.pairs = c.block,
                  .block = c.block,
                  .tolerance = 0,
                  .max_iterations = static_cast<int>(c.iterations),
                  .precondition = preconditioning::none};
  o.program.panel_rows = c.panel;
  const long before = live_bytes;
  long during = 0;
  o.report = [&](const eigen_progress& now) {
    if (now.iteration == 1) during = live_bytes;
  };
  const eigenpairs found = lobpcg(rt, a, o);
  const double matrix_bytes = 12.0 * static_cast<double>(a.nonzeros()) + 8.0 * static_cast<double>(a.rows + 1);
  const double iteration = found.loop.seconds / found.loop.iterations;
  const auto told = [&](const char* metric, double value) {
    row("sparse", "Tessera", c.name(), c.workers, metric, value);
  };
  told("build_milliseconds", found.loop.build_seconds * 1e3);
  told("build_percent_of_ten_iterations", found.loop.build_seconds / (10 * iteration) * 100);
  told("tasks", static_cast<double>(found.loop.tasks));
  told("graph_bytes", static_cast<double>(during - before));
  told("graph_percent_of_matrix", static_cast<double>(during - before) / matrix_bytes * 100);
  row("sparse", "Tessera", "small_tasks", 1, "us_per_task", microseconds_per_task());
}

}  // namespace bench
