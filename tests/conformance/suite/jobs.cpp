// Whole jobs on the plugin's devices, checked against plain loops: what each call does right alone must also be right
// among many, on several streams that only tickets order. They are driven through the plugin's tables as a runtime does
// it, not by the runtime: what fails here is the plugin's, and what the runtime happens not to use is used too.
#include <cmath>

#include "tests/conformance/suite/crew.hpp"
#include "tests/conformance/suite/numbers.hpp"

namespace tessera::conformance {
namespace {

// --- a tiled Cholesky factorization: the lower triangle of A = L L^T, of tiles x tiles tiles, each order x order and
// column-major ---

constexpr std::size_t tiles = 4, order = 16, rows = tiles * order, tile_elements = order * order;

using matrix = std::vector<double>;  // column-major, rows x rows

matrix positive_definite(random_source& random) {
  const auto m = random_numbers<double>(random, rows * rows);
  matrix a(rows * rows);
  for (std::size_t j = 0; j < rows; ++j)
    for (std::size_t i = 0; i < rows; ++i) {
      double sum = i == j ? static_cast<double>(rows) : 0;
      for (std::size_t k = 0; k < rows; ++k) sum += m[i + k * rows] * m[j + k * rows];
      a[i + j * rows] = sum;
    }
  return a;
}

/// The factor of an n x n matrix with leading dimension n, in place; the upper triangle stays.
void factorize(double* a, std::size_t n) {
  for (std::size_t j = 0; j < n; ++j) {
    for (std::size_t k = 0; k < j; ++k)
      for (std::size_t i = j; i < n; ++i) a[i + j * n] -= a[i + k * n] * a[j + k * n];
    const double root = std::sqrt(a[j + j * n]);
    for (std::size_t i = j; i < n; ++i) a[i + j * n] /= root;
  }
}

/// B = B L^-T
void solve(double* b, const double* l) {
  for (std::size_t j = 0; j < order; ++j) {
    for (std::size_t k = 0; k < j; ++k)
      for (std::size_t i = 0; i < order; ++i) b[i + j * order] -= b[i + k * order] * l[j + k * order];
    for (std::size_t i = 0; i < order; ++i) b[i + j * order] /= l[j + j * order];
  }
}

/// C -= A B^T
void subtract_product(double* c, const double* a, const double* b) {
  for (std::size_t j = 0; j < order; ++j)
    for (std::size_t k = 0; k < order; ++k)
      for (std::size_t i = 0; i < order; ++i) c[i + j * order] -= a[i + k * order] * b[j + k * order];
}

double* numbers_of(void* contents) { return static_cast<double*>(contents); }

/// The steps of the factorization on one device: by its BLAS or by the host's loops, as chance has it where there are
/// both.
class steps {
 public:
  steps(const device& on, crew& with, random_source& random) : m_on(on), m_with(with), m_random(random) {}

  void potrf(cell& a) {
    if (!use(TSR_BLAS_POTRF))
      return m_with.compute(a, {}, flops / 3, [](void* const* at) { factorize(numbers_of(at[0]), order); });
    tsr_potrf p{};
    p.struct_size = sizeof p;
    p.type = TSR_F64;
    p.triangle = TSR_LOWER;
    p.n = p.lda = order;
    p.a = a.memory.at(0);
    p.info = m_with.scratch(m_on, sizeof(std::int32_t)).at(0);
    ask(TSR_BLAS_POTRF, p);
    m_with.enqueue(a, {}, [&](const queue& stream) {
      expect_ok(m_on.blas()->potrf(m_on.handle(), stream.handle(), &p), "potrf");
    });
  }

  void trsm(cell& b, cell& l) {
    if (!use(TSR_BLAS_TRSM))
      return m_with.compute(b, {&l}, flops, [](void* const* at) { solve(numbers_of(at[0]), numbers_of(at[1])); });
    tsr_trsm t{};
    t.struct_size = sizeof t;
    t.type = TSR_F64;
    t.side = TSR_RIGHT, t.triangle = TSR_LOWER, t.transpose = TSR_TRANSPOSE;
    t.m = t.n = t.lda = t.ldb = order;
    t.alpha = &one;
    t.a = l.memory.at(0), t.b = b.memory.at(0);
    ask(TSR_BLAS_TRSM, t);
    m_with.enqueue(b, {&l}, [&](const queue& stream) {
      expect_ok(m_on.blas()->trsm(m_on.handle(), stream.handle(), &t), "trsm");
    });
  }

  void syrk(cell& c, cell& a) {
    if (!use(TSR_BLAS_SYRK))
      return m_with.compute(c, {&a}, flops, [](void* const* at) {
        subtract_product(numbers_of(at[0]), numbers_of(at[1]), numbers_of(at[1]));
      });
    tsr_syrk s{};
    s.struct_size = sizeof s;
    s.type = TSR_F64;
    s.triangle = TSR_LOWER;
    s.n = s.k = s.lda = s.ldc = order;
    s.alpha = &minus_one, s.beta = &one;
    s.a = a.memory.at(0), s.c = c.memory.at(0);
    ask(TSR_BLAS_SYRK, s);
    m_with.enqueue(c, {&a}, [&](const queue& stream) {
      expect_ok(m_on.blas()->syrk(m_on.handle(), stream.handle(), &s), "syrk");
    });
  }

  void gemm(cell& c, cell& a, cell& b) {
    if (!use(TSR_BLAS_GEMM))
      return m_with.compute(c, {&a, &b}, 2 * flops, [](void* const* at) {
        subtract_product(numbers_of(at[0]), numbers_of(at[1]), numbers_of(at[2]));
      });
    tsr_gemm g{};
    g.struct_size = sizeof g;
    g.type = TSR_F64;
    g.transpose_b = TSR_TRANSPOSE;
    g.m = g.n = g.k = g.lda = g.ldb = g.ldc = order;
    g.batch = 1;
    g.alpha = &minus_one, g.beta = &one;
    g.a = a.memory.at(0), g.b = b.memory.at(0), g.c = c.memory.at(0);
    ask(TSR_BLAS_GEMM, g);
    m_with.enqueue(c, {&a, &b}, [&](const queue& stream) {
      expect_ok(m_on.blas()->gemm(m_on.handle(), stream.handle(), &g), "gemm");
    });
  }

 private:
  static constexpr double one = 1, minus_one = -1, flops = 1.0 * order * order * order;

  bool use(tsr_blas_operation operation) {
    return m_on.blas() != nullptr && m_on.blas()->supports(m_on.handle(), operation, TSR_F64) && m_random() % 4 != 0;
  }
  template <class Arguments>
  void ask(tsr_blas_operation operation, Arguments& arguments) {
    std::uint64_t bytes = 0;
    if (m_on.blas()->workspace != nullptr)
      expect_ok(m_on.blas()->workspace(m_on.handle(), operation, &arguments, &bytes), "workspace");
    if (bytes != 0) arguments.workspace = {m_with.scratch(m_on, bytes).at(0), bytes};
  }

  const device& m_on;
  crew& m_with;
  random_source& m_random;
};

std::vector<unsigned char> tile_of(const matrix& from, std::size_t i, std::size_t j) {
  std::vector<unsigned char> bytes(tile_elements * sizeof(double));
  for (std::size_t column = 0; column < order; ++column)
    std::memcpy(bytes.data() + column * order * sizeof(double), from.data() + i * order + (j * order + column) * rows,
                order * sizeof(double));
  return bytes;
}

void one_cholesky(const opened& all, const device& on, random_source& random) {
  matrix a = positive_definite(random);
  std::deque<cell> cells;
  const auto at = [&](std::size_t i, std::size_t j) -> cell& { return cells[i * (i + 1) / 2 + j]; };
  for (std::size_t i = 0; i < tiles * (tiles + 1) / 2; ++i) cells.emplace_back(on, tile_elements * sizeof(double));
  crew with(all, random);
  steps step(on, with, random);
  for (std::size_t i = 0; i < tiles; ++i)
    for (std::size_t j = 0; j <= i; ++j) with.upload(at(i, j), 0, tile_of(a, i, j));
  for (std::size_t k = 0; k < tiles; ++k) {
    step.potrf(at(k, k));
    for (std::size_t i = k + 1; i < tiles; ++i) step.trsm(at(i, k), at(k, k));
    for (std::size_t i = k + 1; i < tiles; ++i) {
      step.syrk(at(i, i), at(i, k));
      for (std::size_t j = k + 1; j < i; ++j) step.gemm(at(i, j), at(i, k), at(j, k));
    }
  }
  std::vector<const std::vector<unsigned char>*> results;
  for (cell& one : cells) results.push_back(&with.download(one, tile_elements * sizeof(double)));
  with.finish();
  factorize(a.data(), rows);
  for (std::size_t i = 0, number = 0; i < tiles; ++i)
    for (std::size_t j = 0; j <= i; ++j, ++number) {
      std::vector<double> got(tile_elements);
      std::memcpy(got.data(), results[number]->data(), results[number]->size());
      for (std::size_t column = 0; column < order; ++column)
        for (std::size_t row = i == j ? column : 0; row < order; ++row) {
          const double wanted = a[i * order + row + (j * order + column) * rows];
          expect(near(got[row + column * order], wanted, 1e-10),
                 "Cholesky of {0} x {0} in tiles of {1}: element ({2}, {3}) of tile ({4}, {5}) is {6}, expected {7}",
                 rows, order, row, column, i, j, got[row + column * order], wanted);
        }
    }
}

void cholesky(const subject& what) {
  const opened all(what);
  auto random = what.generator();
  for (int round = 0; round < rounds_of(6); ++round)
    for_each_device(all, [&](const device& on) { one_cholesky(all, on, random); });
}

// --- random graphs: cells on all devices, what is done to them a sequence whose order only tickets keep ---

using words = std::vector<std::uint32_t>;

constexpr std::uint64_t cell_words = 256;
constexpr std::size_t cell_bytes = cell_words * sizeof(std::uint32_t);

/// A part of a cell, in words.
struct part {
  std::uint64_t from, count;
  explicit part(random_source& random) : from(random() % cell_words), count(1 + random() % (cell_words - from)) {}
};

std::vector<unsigned char> bytes_of(const words& values) {
  std::vector<unsigned char> bytes(values.size() * sizeof(std::uint32_t));
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

/// What a host task of the graph does to the cell that it writes.
void mix(std::uint32_t* to, const std::uint32_t* from) {
  for (std::size_t i = 0; i < cell_words; ++i) to[i] = to[i] * 3 + from[(i * 7) % cell_words] + 1;
}

class random_graph {
 public:
  random_graph(const opened& all, random_source& random) : m_random(random) {
    for (std::size_t i = 0; i < 12; ++i)
      m_cells.emplace_back(*all.devices[i % all.devices.size()], cell_bytes), m_model.emplace_back(cell_words);
    m_with.emplace(all, random);
    for (std::size_t i = 0; i < m_cells.size(); ++i) upload(i, 0, cell_words);
  }

  void step() {
    const std::size_t to = m_random() % m_cells.size();
    std::size_t from = m_random() % (m_cells.size() - 1);
    from += from >= to ? 1 : 0;
    const part piece(m_random);
    switch (m_random() % 12) {
      case 0:
        return upload(to, piece.from, piece.count);
      case 1:
        return fill(to, piece);
      case 2:
      case 3:
      case 4:
        return copy(to, from);
      case 5:
      case 6:
      case 7:
      case 8:
        return snapshot(to);  // many readers, for which the next writer waits
      default:
        m_with->compute(m_cells[to], {&m_cells[from]}, cell_words, [](void* const* at) {
          mix(static_cast<std::uint32_t*>(at[0]), static_cast<const std::uint32_t*>(at[1]));
        });
        mix(m_model[to].data(), m_model[from].data());
    }
  }

  void look() {
    for (std::size_t i = 0; i < m_cells.size(); ++i) snapshot(i);
    m_with->finish();
    for (const auto& [cell, got, wanted] : m_snapshots) {
      words here(cell_words);
      std::memcpy(here.data(), got->data(), got->size());
      for (std::size_t i = 0; i < cell_words; ++i)
        expect(here[i] == wanted[i],
               "in a random graph of copies, fills and host work, ordered by tickets, word {} of cell {} is {:#x}, "
               "expected {:#x}",
               i, cell, here[i], wanted[i]);
    }
  }

 private:
  void upload(std::size_t to, std::uint64_t from, std::uint64_t count) {
    words fresh(count);
    for (std::uint32_t& word : fresh) word = static_cast<std::uint32_t>(m_random());
    std::copy(fresh.begin(), fresh.end(), m_model[to].begin() + static_cast<std::ptrdiff_t>(from));
    m_with->upload(m_cells[to], from * sizeof(std::uint32_t), bytes_of(fresh));
  }
  void fill(std::size_t to, const part& piece) {
    const auto word = static_cast<std::uint32_t>(m_random());
    if (!m_with->fill(m_cells[to], piece.from * sizeof word, bytes_of({word}), piece.count))
      return upload(to, piece.from, piece.count);
    for (std::uint64_t i = 0; i < piece.count; ++i) m_model[to][piece.from + i] = word;
  }
  void copy(std::size_t to, std::size_t from) {
    const part source(m_random);
    const std::uint64_t begin = m_random() % (cell_words - source.count + 1);
    m_with->copy(m_cells[to], begin * sizeof(std::uint32_t), m_cells[from], source.from * sizeof(std::uint32_t),
                 source.count * sizeof(std::uint32_t));
    for (std::uint64_t i = 0; i < source.count; ++i) m_model[to][begin + i] = m_model[from][source.from + i];
  }
  void snapshot(std::size_t of) {
    m_snapshots.push_back({of, &m_with->download(m_cells[of], cell_bytes), m_model[of]});
  }

  struct taken {
    std::size_t cell;
    const std::vector<unsigned char>* got;
    words wanted;
  };
  random_source& m_random;
  std::deque<cell> m_cells;
  std::vector<words> m_model;
  std::vector<taken> m_snapshots;
  std::optional<crew> m_with;  // ends first
};

void random_graphs(const subject& what) {
  const opened all(what);
  auto random = what.generator();
  for (int round = 0; round < rounds_of(6); ++round) {
    random_graph graph(all, random);
    for (int step = 0; step < 250; ++step) graph.step();
    graph.look();
  }
}

}  // namespace

std::vector<check> job_checks() { return {{"jobs.cholesky", cholesky}, {"jobs.random_graphs", random_graphs}}; }

}  // namespace tessera::conformance
