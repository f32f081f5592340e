#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <optional>
#include <utility>

#include "core/base/call_site.hpp"
#include "core/base/error.hpp"
#include "core/base/leak_on_purpose.hpp"
#include "core/runtime/program_side.hpp"
#include "libraries/sparse/program/lagging_loop.hpp"
#include "libraries/sparse/program/link_meter.hpp"
#include "libraries/sparse/program/row_operator.hpp"
#include "libraries/sparse/program/state.hpp"
#include "tessera/machine.hpp"

namespace tessera::sparse {
namespace {

/// Zeros, in large pages where there are enough of them.
std::shared_ptr<double> make_home(const std::string& name, std::int64_t rows, std::int64_t columns) {
  constexpr std::size_t large_page = std::size_t{2} << 20, line = 256;
  constexpr std::int64_t most = std::int64_t{1} << 45;  // elements; a block of the runtime has 2^48 bytes at most
  if (columns > most / rows)
    throw error(error_kind::memory, fmt::format("{} x {} numbers do not fit into any memory", rows, columns), name,
                "use a smaller block");
  const std::int64_t elements = rows * columns;
  const std::size_t bytes = static_cast<std::size_t>(elements) * sizeof(double);
  const std::size_t unit = bytes >= large_page ? large_page : line;
  void* const memory = std::aligned_alloc(unit, (bytes + unit - 1) / unit * unit);
  if (memory == nullptr)
    throw error(error_kind::memory, fmt::format("there are no {} bytes of memory", bytes), name, "use a smaller block");
  if (unit == large_page) ::madvise(memory, bytes, MADV_HUGEPAGE);
  std::memset(memory, 0, bytes);
  return {static_cast<double*>(memory), [](double* p) { std::free(p); }};
}

std::unique_ptr<tiled_memory> adopted(runtime& rt, const std::string& name, const std::shared_ptr<double>& home,
                                      std::int64_t rows, std::int64_t columns) {
  return std::make_unique<tiled_memory>(rt, name, element_type_of<double>(), home.get(), home, rows, columns,
                                        std::source_location::current());
}

double seconds_since(std::chrono::steady_clock::time_point then) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - then).count();
}

/// Adds up how long it exists.
class stopwatch {
 public:
  explicit stopwatch(double& sum) noexcept : m_sum(sum) {}
  ~stopwatch() { m_sum += seconds_since(m_began); }
  stopwatch(const stopwatch&) = delete;
  stopwatch& operator=(const stopwatch&) = delete;

 private:
  double& m_sum;
  std::chrono::steady_clock::time_point m_began = std::chrono::steady_clock::now();
};

/// While it exists, values can be asked for without a fence.
class between_iterations {
 public:
  explicit between_iterations(program_state& of) noexcept : m_of(of) { m_of.between_iterations = true; }
  ~between_iterations() { m_of.between_iterations = false; }
  between_iterations(const between_iterations&) = delete;
  between_iterations& operator=(const between_iterations&) = delete;

 private:
  program_state& m_of;
};

/// A row of block vectors weighs about as much as so many nonzeros.
constexpr std::int64_t weight_of_row = 8;

/// What a program's rows are made for, by which they are cut.
struct row_load {
  std::int64_t rows = 0, entries = 0;
  std::int64_t nonzeros() const noexcept { return entries; }
};

/// Rows of a panel: few enough that a task is short beside an iteration, many enough that it is long beside its
/// submission, and by the matrix and the vectors alone, so that the bits of a result do not depend on the machine.
std::int64_t chosen_panel_rows(const row_load& a, std::int64_t columns) {
  constexpr std::int64_t panels = 48, least = 256, most = 8192, usual_columns = 4;
  constexpr std::int64_t long_enough = 65536;  // numbers: some ten microseconds
  const std::int64_t width = columns > 0 ? std::min(columns, long_enough) : usual_columns;
  const std::int64_t of_row = (weight_of_row + a.nonzeros() / std::max<std::int64_t>(a.rows, 1)) * width;
  return std::clamp((a.rows + panels - 1) / panels, std::clamp(long_enough / of_row, least, most), most);
}

/// Devices that have the rows to themselves.
struct lone_devices {
  std::int64_t count = 0;
  double memory = 0;  ///< of all
};

/// Those at a location; none where it has a host's workers too.
lone_devices devices_at(const runtime& rt, std::uint32_t at) {
  const location::tree& tree = rt.tree();
  lone_devices found;
  for (location::node_id id = 0; id < tree.known(); ++id) {
    const location::properties& p = tree.at(id).properties;
    if (p.kind != location::kind::worker || !tree.attached(id) || !tree.is_ancestor(at, id)) continue;
    if (!p.cpus.empty()) return {};
    ++found.count;
    found.memory += static_cast<double>(p.memory_bytes);
  }
  return found;
}

/// Where they have room for all rows: a launch takes as long whether many rows are its or few, so a panel has as many
/// as fill a device. 0: they have not.
std::int64_t panel_rows_in_memory(const lone_devices& on, const row_load& a) {
  constexpr std::int64_t filling = std::int64_t{1} << 20, max_each = 8, max_entries = std::int64_t{1} << 30,
                         columns_likely = 128;
  const double bytes_of_row = static_cast<double>(columns_likely * sizeof(double)),
               bytes = 12 * static_cast<double>(a.nonzeros()) + bytes_of_row * static_cast<double>(a.rows);
  if (on.count == 0 || on.memory < 2 * bytes) return 0;
  const std::int64_t each = std::clamp<std::int64_t>(a.rows / on.count / filling, 1, max_each),
                     panels = std::max(each * on.count, 1 + a.nonzeros() / max_entries);
  return std::max<std::int64_t>((a.rows + panels - 1) / panels, 1);
}

/// The most rows where they have less memory than the vectors of an iteration and the matrix: what tasks under way hold
/// is no cache for the others, so a panel of all of these is a small part of the memory. The size
/// of a vector's blocks is a power of two, which the pieces of a full memory divide without a rest.
std::int64_t max_panel_rows(const lone_devices& on, const row_load& a, std::int64_t columns) {
  constexpr std::int64_t least = 32, usual_columns = 4;
  constexpr double vectors = 6, parts = 32;
  const auto rows = static_cast<double>(std::max<std::int64_t>(a.rows, 1));
  const double memory = on.memory / static_cast<double>(std::max<std::int64_t>(on.count, 1));
  const double of_vector = static_cast<double>(columns > 0 ? columns : usual_columns) * sizeof(double),
               of_row = 12 * static_cast<double>(a.nonzeros()) / rows + vectors * of_vector;
  if (on.count == 0 || on.memory >= of_row * rows) return std::numeric_limits<std::int64_t>::max();
  const auto fit = static_cast<std::uint64_t>(memory / parts / of_row * of_vector);  // of the memory: no overflow
  return std::max(least, static_cast<std::int64_t>(static_cast<double>(std::bit_floor(fit)) / of_vector));
}

/// By the options, else by the devices at the location that is asked for, else by the matrix.
std::int64_t panel_rows_for(const runtime& rt, const row_load& a, std::uint32_t at, const program_options& how) {
  if (how.panel_rows > 0) return how.panel_rows;
  const lone_devices on = at == anywhere ? lone_devices{} : devices_at(rt, at);
  if (const std::int64_t rows = panel_rows_in_memory(on, a); rows > 0) return rows;
  return std::min(chosen_panel_rows(a, how.columns), max_panel_rows(on, a, how.columns));
}

/// New numbers for all tiles, wherever they are.
void overwrite(runtime& rt, const tiled_memory& to, std::span<const double> numbers) {
  if (std::ssize(numbers) != to.rows() * to.row_elements())
    throw error(
        error_kind::usage,
        fmt::format("{} numbers are given, and {} has {}", numbers.size(), to.name(), to.rows() * to.row_elements()),
        to.name(), "rows times columns, row by row");
  for (const tiled_memory::tile& tile : to.tiles()) {
    detail::held_block held(rt, *tile.record, intent::write, std::source_location::current());
    std::copy_n(numbers.data() + tile.begin * to.row_elements(), (tile.end - tile.begin) * to.row_elements(),
                static_cast<double*>(held.data()));
  }
}

/// The numbers of all tiles, wherever they are. Throws tessera::error for those that a failed task should have written.
void fetch(runtime& rt, const tiled_memory& from, std::span<double> numbers) {
  for (const tiled_memory::tile& tile : from.tiles()) {
    const detail::held_block held(rt, *tile.record, intent::read, std::source_location::current());
    std::copy_n(static_cast<const double*>(held.data()), (tile.end - tile.begin) * from.row_elements(),
                numbers.data() + tile.begin * from.row_elements());
  }
}

std::vector<double> numbers_of(runtime& rt, const tiled_memory& from) {
  std::vector<double> numbers(static_cast<std::size_t>(from.rows() * from.row_elements()));
  fetch(rt, from, numbers);
  return numbers;
}

}  // namespace

void read_numbers(const vector_data& from, std::span<double> to) { fetch(from.owner->rt, *from.tiles, to); }
void write_numbers(const vector_data& to, std::span<const double> numbers) {
  overwrite(to.owner->rt, *to.tiles, numbers);
}

program_state::program_state(runtime& on, const linear_operator& a, const program_options& how)
    : rt(on), of(a), row_count(a.rows()), options(how) {
  if (rt.in_task())
    throw error(error_kind::usage, "a sparse program inside a task", a.name(),
                "its end would wait for the task that it is in: make it in a thread of the program");
  if (how.panel_rows < 0 || how.strip_rows < 0)
    throw error(error_kind::usage, fmt::format("{} rows of a panel, {} of a strip", how.panel_rows, how.strip_rows),
                a.name(), "1 or more; 0: chosen");
  if (how.columns < 0)
    throw error(error_kind::usage, fmt::format("{} columns of block vectors", how.columns), a.name(),
                "1 or more; 0: unknown");
  const csr_matrix* const matrix = a.heaviest_matrix();
  if (matrix != nullptr) check_once(*matrix);
  if (a.rows() != a.columns())
    throw error(error_kind::input, fmt::format("the matrix is {} x {}, not square", a.rows(), a.columns()), a.name(),
                "the vectors of a program have as many rows as its matrix");
  if (!how.at.empty()) location = rt.at(how.at);
  const row_load load{row_count, matrix != nullptr ? matrix->nonzeros() : 0};
  const std::int64_t panel_rows = panel_rows_for(rt, load, location, how);
  const bool by_entries = matrix != nullptr && matrix->rows == row_count;
  panels = by_entries ? balanced_panels(*matrix, panel_rows, weight_of_row) : equal_panels(row_count, panel_rows);
  if (rt.has_devices()) on_devices.emplace(rt, panels);
}

std::shared_ptr<vector_data> program_state::make_vector(std::string name, std::int64_t columns) {
  if (columns < 1)
    throw error(error_kind::usage, fmt::format("{} columns are no block of vectors", columns), name, "at least one");
  auto home = make_home(name, row_count, columns);
  auto tiles = adopted(rt, name, home, row_count, columns);
  tiles->cut({0, panels.ends}, std::source_location::current());
  auto made = std::make_shared<vector_data>();
  made->owner = this, made->name = std::move(name);
  made->rows = row_count, made->columns = columns;
  made->home = std::move(home), made->tiles = std::move(tiles);
  return made;
}

std::shared_ptr<small_data> program_state::make_small(std::string name, std::int64_t rows, std::int64_t columns) {
  if (rows < 1 || columns < 1)
    throw error(error_kind::usage, fmt::format("{} x {} is no matrix", rows, columns), name, "at least 1 x 1");
  auto home = make_home(name, rows, columns);
  auto block = adopted(rt, name, home, 1, rows * columns);
  auto made = std::make_shared<small_data>();
  made->owner = this, made->name = std::move(name);
  made->rows = rows, made->columns = columns;
  made->home = std::move(home), made->block = std::move(block);
  return made;
}

namespace {

block_vector scratch(program_state& of, int number, std::int64_t columns) {
  const std::pair key(number, columns);
  const auto known = of.scratch_blocks.find(key);
  if (known != of.scratch_blocks.end()) return known->second;
  block_vector made(of.make_vector(fmt::format("scratch {}", number), columns));
  return of.scratch_blocks.emplace(key, std::move(made)).first->second;
}

}  // namespace

scratch_block::scratch_block(program_state& of, std::int64_t columns)
    : m_program(of), m_block(scratch(of, of.scratch_in_use, columns)) {
  ++of.scratch_in_use;
}

void program_state::check_once(const csr_matrix& a) {
  if (std::ranges::find(checked, &a) != checked.end()) return;
  require_well_formed(a);
  checked.push_back(&a);
}

namespace {

/// The program whose loop's body this thread is recording.
thread_local const program_state* recording_body = nullptr;

/// While the body of a loop records. What it has recorded is dropped when it fails.
class body_of {
 public:
  explicit body_of(program_state& program) : m_program(program), m_outer(recording_body) { recording_body = &program; }
  ~body_of() {
    m_program.recorded.clear();
    recording_body = m_outer;
  }
  body_of(const body_of&) = delete;
  body_of& operator=(const body_of&) = delete;

 private:
  program_state& m_program;
  const program_state* m_outer;
};

}  // namespace

void program_state::record(operation o) {
  if (recording_body != nullptr && recording_body != this)
    throw error(error_kind::usage, "the body of a loop records operations of its own program alone", o.name,
                "another program's operations would run while the body is recorded, and not in each iteration");
  if (rt.in_task())
    throw error(error_kind::usage, "an operation of a sparse program inside a task", o.name,
                "the thread that has the program records meanwhile: call it there");
  if (o.matrix != nullptr) check_once(*o.matrix);
  if (options.how == execution::at_once) {
    run_at_once(o);
    done += counted_work::of(std::span(&o, 1));
  } else {
    recorded.push_back(std::move(o));
  }
}

const csr_matrix& program_state::transposed_of(const csr_matrix& a) {
  check_once(a);
  const auto known = transposes.find(&a);
  return known != transposes.end() ? known->second : transposes.emplace(&a, transposed(a)).first->second;
}

const form_choice& program_state::form_of(const csr_matrix& a, std::int64_t columns) {
  const std::pair key(&a, columns);
  const auto known = forms.find(key);
  if (known != forms.end()) return known->second;
  const stopwatch here(looked_seconds);
  return forms.emplace(key, options.form ? form_choice{*options.form, {}} : choose_form(a, columns)).first->second;
}

const matrix_product& program_state::product_of(const csr_matrix& a, std::int64_t columns) {
  const matrix_form form = form_of(a, columns).chosen;
  return products.try_emplace({&a, form}, a, panels, form).first->second;
}

void program_state::look_at_matrices(std::span<const operation> operations) {
  const stopwatch here(looked_seconds);
  for (const operation& o : operations)
    if (o.matrix != nullptr && std::ranges::find(matrices, o.matrix, &matrix_panels::matrix) == matrices.end())
      matrices.push_back({o.matrix, nullptr, touched_panels(*o.matrix, panels)});
  for (const operation& o : operations)
    if (o.rows != nullptr && std::ranges::find(matrices, o.rows, &matrix_panels::rows) == matrices.end())
      matrices.push_back({nullptr, o.rows, read_panels(*o.rows, panels)});
}

std::unique_ptr<task_graph> program_state::make_graph(std::vector<operation> operations) {
  for (operation& o : operations)
    if (o.matrix != nullptr) o.product = &product_of(*o.matrix, o.from[0]->columns);
  look_at_matrices(operations);
  return std::make_unique<task_graph>(graph_shape{.rt = rt,
                                                  .panels = panels,
                                                  .strip_rows = options.strip_rows,
                                                  .matrices = matrices,
                                                  .on_devices = on_devices ? &*on_devices : nullptr,
                                                  .location = location},
                                      std::move(operations));
}

namespace {

/// Throws usage while the calling thread holds views: what waits for all tasks would wait for them.
void require_no_views(runtime& rt, const std::string& what) {
  if (const std::uint32_t views = views_held_here(rt); views != 0)
    throw error(error_kind::usage, while_holding_views(what, views), "sparse program",
                "it waits for all tasks, and they for the views: let them go first");
}

}  // namespace

void program_state::run(const std::string& what) {
  if (options.how == execution::at_once) return;
  require_no_views(rt, what);
  if (seen != nullptr)
    throw error(error_kind::usage, "with a lag, later iterations are under way when this is asked for", what,
                "list small matrices in loop_options::watched; block vectors have no earlier values");
  if (recording_body == this)
    throw error(error_kind::usage, "the body of a loop records an iteration, and cannot wait for it", what,
                "read values in the condition or in loop_options::after_each");
  if (!recorded.empty()) {
    under_way.push_back(std::make_unique<operation_sequence>(*this, taken()));
    done += under_way.back()->work();
    try {
      under_way.back()->submit();
    } catch (...) {
      rt.fence({.reports = false});
      throw;
    }
  }
  // Whoever wants a value waits for that. A fence would bring all vectors home from devices.
  if (between_iterations && under_way.size() < max_under_way) return;
  if (between_iterations)
    rt.fence({.reports = false});
  else
    rt.fence();
  under_way.clear();
}

program::program(runtime& rt, const linear_operator& a, const program_options& options)
    : m_state((require_no_views(rt, "a sparse program begins"), std::make_unique<program_state>(rt, a, options))) {}

program::~program() {
  runtime& rt = m_state->rt;
  const bool views = views_held_here(rt) != 0;
  if (views || rt.in_task()) {  // it would wait for that task, and tasks of others may need what would end here
    fail_next_fence(
        rt, {.text = fmt::format("the sparse program of {} was ended {}: it stays until the process ends",
                                 m_state->of.name(), views ? "while its thread held host views" : "inside a task"),
             .where = {},
             .kind = error_kind::usage});
    leak_on_purpose(std::move(m_state));
    return;
  }
  rt.fence({.reports = false});
  m_state.reset();
  rt.fence({.reports = false});  // the matrix, which devices had a part of, is the caller's again
}

block_vector program::vector(std::string name, std::int64_t columns) {
  return block_vector(m_state->make_vector(std::move(name), columns));
}

small_matrix program::small(std::string name, std::int64_t rows, std::int64_t columns) {
  return small_matrix(m_state->make_small(std::move(name), rows, columns));
}

void program::run() { m_state->run("run"); }

product_form program::form_of(const csr_matrix& a, std::int64_t columns) {
  m_state->check_once(a);
  if (const std::int64_t rows = m_state->row_count; a.rows != rows || a.columns != rows)
    throw error(error_kind::usage,
                fmt::format("{} is {} x {}, and the program has {} rows", a.name, a.rows, a.columns, rows), "form_of",
                "a matrix that the program multiplies by");
  if (columns < 1)
    throw error(error_kind::usage, fmt::format("products with {} columns", columns), "form_of", "at least 1");
  const form_choice& choice = m_state->form_of(a, columns);
  return {.form = choice.chosen, .text = choice.text(), .bytes = m_state->product_of(a, columns).bytes()};
}

std::int64_t program::panels() const noexcept { return m_state->panels.count(); }
work_count program::work() const { return m_state->done.total(); }

loop_outcome program::while_not(const std::function<bool()>& converged, const std::function<void()>& body,
                                const loop_options& options) {
  require_lag(*m_state, options);
  if (converged == nullptr || body == nullptr)
    throw error(error_kind::usage, fmt::format("there is no {}", body == nullptr ? "body" : "condition"), "while_not",
                "a loop has a function that records an iteration, and one that says when it ends");
  using clock = std::chrono::steady_clock;
  m_state->run("while_not");
  loop_outcome done;
  const double looked_before = std::exchange(m_state->looked_seconds, 0);
  const auto began = clock::now();
  std::unique_ptr<operation_sequence> iteration;
  if (m_state->options.how == execution::fused) {
    const auto capture = [&] {
      const body_of here(*m_state);
      body();
      return m_state->taken();
    };
    std::vector<operation> first = capture();
    if (const std::vector<operation> second = capture(); second != first) {
      std::size_t k = 0;
      while (k < first.size() && k < second.size() && first[k] == second[k]) ++k;
      throw error(
          error_kind::usage,
          fmt::format("the body of the loop recorded something else the second time, from operation {} on ({})", k + 1,
                      k < second.size() ? second[k].name : "there is none"),
          "while_not",
          "an iteration is recorded once and replayed: it must not depend on values, and operators of functions "
          "and own matrices are made before the loop");
    }
    for (const operation& o : first)
      if (o.matrix != nullptr && done.form.empty()) done.form = m_state->form_of(*o.matrix, o.from[0]->columns).text();
    iteration = std::make_unique<operation_sequence>(*m_state, std::move(first));
    if (iteration->has_calls() && options.lag > 0)
      throw error(error_kind::usage, fmt::format("a lag of {}, and an operator of a call in the body", options.lag),
                  "while_not", "the program's thread waits for the call: leave out the lag, or use of_tasks");
    iteration->record();
    done.passes = iteration->passes();
    done.tasks = iteration->tasks();
  }
  done.build_seconds = looked_before + seconds_since(began);
  m_state->looked_seconds = 0;  // they are in it
  const counted_work before = m_state->done;
  const auto started = clock::now();
  const link_meter links(m_state->rt);
  try {
    const between_iterations here(*m_state);
    const bool lags = iteration && options.lag > 0;
    if (lags) lagging_loop(*m_state, iteration->whole(), options).run(converged, done);
    for (int k = 0; lags && k < done.iterations; ++k) m_state->done += iteration->work();
    while (!lags && !(done.converged = converged()) && done.iterations < options.max_iterations) {
      if (!m_state->recorded.empty()) m_state->run("while_not");  // by the condition, or behind the last iteration
      if (iteration) {
        iteration->replay();
        m_state->done += iteration->work();
      } else {
        body();
      }
      ++done.iterations;
      if (options.after_each) options.after_each(done.iterations);
    }
  } catch (...) {
    m_state->recorded.clear();  // what the condition had recorded, as that of a body which fails
    m_state->rt.fence();        // which says why values are missing, if that is it
    throw;
  }
  done.moved = links.moved();
  m_state->run("while_not");
  done.seconds = seconds_since(started);
  done.work = m_state->done.since(before).total();
  return done;
}

void add_moved(std::vector<link_bytes>& to, const std::vector<link_bytes>& more) {
  for (const link_bytes& link : more) {
    const auto known = std::ranges::find_if(
        to, [&](const link_bytes& other) { return other.from == link.from && other.to == link.to; });
    if (known != to.end())
      known->bytes += link.bytes;
    else
      to.push_back(link);
  }
}

std::int64_t block_vector::rows() const noexcept { return m_data->rows; }
std::int64_t block_vector::columns() const noexcept { return m_data->columns; }
const std::string& block_vector::name() const noexcept { return m_data->name; }
std::vector<double> block_vector::values() const {
  m_data->owner->run(m_data->name);
  return numbers_of(m_data->owner->rt, *m_data->tiles);
}
void block_vector::set(std::span<const double> row_major) {
  m_data->owner->run(m_data->name);
  overwrite(m_data->owner->rt, *m_data->tiles, row_major);
}

std::int64_t small_matrix::rows() const noexcept { return m_data->rows; }
std::int64_t small_matrix::columns() const noexcept { return m_data->columns; }
const std::string& small_matrix::name() const noexcept { return m_data->name; }
std::vector<double> small_matrix::values() const {
  const program_state& owner = *m_data->owner;
  if (const small_data* const kept = owner.seen != nullptr ? owner.seen->of(*m_data) : nullptr)
    return numbers_of(owner.rt, *kept->block);
  m_data->owner->run(m_data->name);
  return numbers_of(m_data->owner->rt, *m_data->block);
}
void small_matrix::set(std::span<const double> row_major) {
  m_data->owner->run(m_data->name);
  overwrite(m_data->owner->rt, *m_data->block, row_major);
}

}  // namespace tessera::sparse
