#include "languages/sial/chemistry/instructions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <mutex>

#include "languages/sial/instructions/builtin/arguments.hpp"
#include "languages/sial/instructions/instruction_job.hpp"

namespace tessera::sial {
namespace {

constexpr double least_integral = 1e-13;  // hartree; smaller ones are zero in blocks

/// Engines for as many threads as compute at once.
class engine_pool {
 public:
  explicit engine_pool(const chemistry::integrals& over) : m_over(over), m_bounds(schwarz_bounds(over)) {}

  const chemistry::integrals& over() const noexcept { return m_over; }
  const std::vector<double>& bounds() const noexcept { return m_bounds; }
  std::unique_ptr<chemistry::repulsion_engine> take() {
    {
      const std::lock_guard guard(m_lock);
      if (!m_idle.empty()) {
        std::unique_ptr<chemistry::repulsion_engine> one = std::move(m_idle.back());
        m_idle.pop_back();
        return one;
      }
    }
    return m_over.engine(0.0);
  }
  void give(std::unique_ptr<chemistry::repulsion_engine> one) {
    const std::lock_guard guard(m_lock);
    m_idle.push_back(std::move(one));
  }

 private:
  const chemistry::integrals& m_over;
  const std::vector<double> m_bounds;
  std::mutex m_lock;
  std::vector<std::unique_ptr<chemistry::repulsion_engine>> m_idle;
};

/// The shell that begins with a function.
std::size_t shell_at(const chemistry::integrals& over, std::int64_t function, const sial_argument& block) {
  std::size_t low = 0, high = over.shells();
  while (low < high) {
    const std::size_t middle = (low + high) / 2;
    if (over.offset(middle) < static_cast<std::size_t>(function))
      low = middle + 1;
    else
      high = middle;
  }
  if (over.offset(low) != static_cast<std::size_t>(function))
    refuse(fmt::format("{} cuts a shell: no shell begins with function {}", shown(block), function + 1));
  return low;
}

/// w: (mu nu|la si).
void integral_batch(engine_pool& engines, const instruction_call& c) {
  const sial_argument& block = c.arguments[0];
  expect_rank(block, 4, 4);
  const chemistry::integrals& over = engines.over();
  std::array<chemistry::shell_range, 4> ranges;
  for (std::size_t d = 0; d < 4; ++d) {
    if (block.kinds[d] != SIAL_AO) refuse(fmt::format("{} is not over basis functions alone", shown(block)));
    const std::int64_t end = block.offsets[d] + block.extents[d];
    if (end > static_cast<std::int64_t>(over.functions()))
      refuse(fmt::format("{} goes beyond the {} functions of the basis", shown(block), over.functions()));
    ranges[d] = {shell_at(over, block.offsets[d], block), shell_at(over, end, block)};
  }
  std::unique_ptr<chemistry::repulsion_engine> engine = engines.take();
  chemistry::fill_block(over, engines.bounds(), least_integral, *engine, ranges, elements(block));
  engines.give(std::move(engine));
}

/// ur: X / (e of the 2nd, 4th, 6th index - e of the 1st, 3rd, 5th).
void energy_denominator(const instruction_call& c) {
  const sial_argument &x = c.arguments[0], &fock = c.arguments[1];
  if (x.rank != 2 && x.rank != 4 && x.rank != 6)
    refuse(fmt::format("{} has {} dimensions, and 2, 4 or 6 are expected", shown(x), x.rank));
  const std::int64_t n = fock.extents[0];
  const bool vector = fock.rank == 1;
  if (!vector) (void)order_of_square(fock);
  // The energies of each dimension, with their signs.
  std::array<std::vector<double>, SIAL_MAX_RANK> e;
  for (int d = 0; d < x.rank; ++d)
    for (std::int64_t k = x.offsets[d]; k < x.offsets[d] + x.extents[d]; ++k) {
      if (k < 0 || k >= n)
        refuse(fmt::format("{} has orbital {} in dimension {}, and {} has {}", shown(x), k + 1, d + 1, shown(fock), n));
      const double energy = fock.data[vector ? k : k * (n + 1)];
      e[static_cast<std::size_t>(d)].push_back(d % 2 == 0 ? -energy : energy);
    }
  // The first index is fastest.
  std::int64_t number[SIAL_MAX_RANK] = {};
  const std::int64_t run = x.extents[0];
  for (std::int64_t begin = 0; begin < x.elements; begin += run) {
    double rest = 0;
    for (int d = 1; d < x.rank; ++d) rest += e[static_cast<std::size_t>(d)][static_cast<std::size_t>(number[d])];
    for (std::int64_t k = 0; k < run; ++k) x.data[begin + k] /= rest + e[0][static_cast<std::size_t>(k)];
    for (int d = 1; d < x.rank; ++d) {
      if (++number[d] < x.extents[d]) break;
      number[d] = 0;
    }
  }
}

/// ru: Y is the part of X that it covers.
void strip(const instruction_call& c) {
  const sial_argument &x = c.arguments[0], &y = c.arguments[1];
  if (x.rank != y.rank) refuse(fmt::format("{} and {} have different numbers of dimensions", shown(x), shown(y)));
  std::int64_t stride[SIAL_MAX_RANK], first = 0, so_far = 1;
  for (int d = 0; d < x.rank; ++d) {
    const std::int64_t begin = y.offsets[d] - x.offsets[d];
    if (begin < 0 || begin + y.extents[d] > x.extents[d])
      refuse(fmt::format("{} has no part {} in dimension {}", shown(x), shown(y), d + 1));
    first += begin * so_far;
    stride[d] = so_far;
    so_far *= x.extents[d];
  }
  std::int64_t number[SIAL_MAX_RANK] = {}, at = first;
  const std::int64_t run = y.extents[0];
  for (std::int64_t begin = 0; begin < y.elements; begin += run) {
    std::copy_n(x.data + at, run, y.data + begin);
    for (int d = 1; d < y.rank; ++d) {
      at += stride[d];
      if (++number[d] < y.extents[d]) break;
      at -= stride[d] * y.extents[d];
      number[d] = 0;
    }
  }
}

}  // namespace

std::vector<instruction> chemistry_instructions(const chemistry::integrals& over,
                                                std::function<void(const iteration_report&)> told) {
  const auto engines = std::make_shared<engine_pool>(over);
  return {{"compute_integral_batch", {"w"}, {}, [engines](const instruction_call& c) { integral_batch(*engines, c); }},
          {"compute_int_scratchmem", {"uuu"}, {}, [](const instruction_call&) {}},
          {"energy_denominator_rhf", {"ur"}, {}, energy_denominator},
          {"stripi", {"ru"}, {}, strip},
          {"report_iteration", {"rrr"}, {}, [told = std::move(told)](const instruction_call& c) {
             if (c.job.worker() == 0 && told)
               told({static_cast<int>(scalar(c.arguments[0])), scalar(c.arguments[1]), scalar(c.arguments[2])});
           }}};
}

}  // namespace tessera::sial
