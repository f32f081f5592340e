#include "apps/sparse/command.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>

#include "apps/common/machine_rates.hpp"
#include "apps/common/retry_on_loss.hpp"
#include "apps/common/session.hpp"
#include "apps/common/value_options.hpp"
#include "apps/sparse/files.hpp"
#include "apps/sparse/history.hpp"
#include "apps/sparse/moved_bytes.hpp"
#include "apps/sparse/place_of_rows.hpp"
#include "apps/sparse/printed_value.hpp"
#include "apps/sparse/report.hpp"
#include "core/base/units.hpp"
#include "libraries/matrix_market/write.hpp"
#include "libraries/sparse/matrix/generate.hpp"
#include "libraries/sparse/matrix/reorder.hpp"
#include "libraries/sparse/matrix/single_precision.hpp"
#include "libraries/sparse/solver/copies.hpp"
#include "libraries/sparse/solver/hermitian.hpp"
#include "libraries/sparse/solver/hint.hpp"
#include "libraries/sparse/solver/preconditioning.hpp"
#include "libraries/sparse/solver/solvers.hpp"

namespace tessera::apps {
namespace {

using namespace sparse;

/// A word of `--precond`.
struct named_preconditioning {
  const char* name;
  preconditioning is;
};
constexpr named_preconditioning preconditioners[] = {{"auto", preconditioning::automatic},
                                                     {"none", preconditioning::none},
                                                     {"jacobi", preconditioning::jacobi},
                                                     {"block-jacobi", preconditioning::block_jacobi},
                                                     {"chebyshev", preconditioning::chebyshev}};

std::string_view name_of(preconditioning p) {
  return std::ranges::find(preconditioners, p, &named_preconditioning::is)->name;
}

std::vector<std::string> preconditioner_names() {
  std::vector<std::string> names;
  for (const named_preconditioning& p : preconditioners) names.emplace_back(p.name);
  return names;
}

struct eigs_options : command_options {
  std::string matrix, family, mass, guess, deflate, out;
  eigen_options solver;
  std::string method{eigensolvers().front().name}, which = "smallest", compare = "relative", precondition = "auto",
                                                   reorthogonalize = "full", form = "auto", reorder = "none",
                                                   storage = "double";
  bool stream = false;
};

problem_matrix matrix_for(const eigs_options& o) {
  return o.family.empty() ? read_problem(o.matrix, !o.mass.empty()) : problem_matrix{.matrix = generate(o.family)};
}

/// The order in which the rows are computed; none: theirs. Vectors are read and written in that of the files.
std::optional<row_order> order_for(const eigs_options& o, const problem_matrix& of) {
  if (o.reorder == "none") return std::nullopt;
  if (of.is_complex)
    throw error(error_kind::usage, "a complex matrix keeps its order", o.matrix, "leave out --reorder");
  require_symmetric(of.matrix);
  return reverse_cuthill_mckee(of.matrix);
}

/// Rounds the values where that is asked for, and returns by how much eigenvalues may move.
double store_values(const eigs_options& o, csr_matrix& a) {
  if (o.storage == "double") return 0;
  if (!o.mass.empty())
    throw error(error_kind::usage, "how far rounding moves eigenvalues is not known with a second matrix",
                "--storage float", "leave out --storage or --mass");
  require_symmetric(a);
  single_matrix rounded = rounded_to_single(std::move(a));
  a = std::move(rounded.matrix);
  return rounded.change;
}

/// The solver's options, from the words of the command line.
eigen_options solver_options(const eigs_options& o) {
  eigen_options how = o.solver;
  how.which = o.which == "largest"    ? spectrum_end::largest
              : o.which == "smallest" ? spectrum_end::smallest
                                      : spectrum_end::both;
  how.compare = o.compare == "relative" ? criterion::relative
                : o.compare == "norm"   ? criterion::norm
                                        : criterion::absolute;
  how.seed = o.seed;
  how.program.form = form_named(o.form);
  how.precondition = std::ranges::find(preconditioners, o.precondition, &named_preconditioning::name)->is;
  how.orthogonal = o.reorthogonalize == "full" ? reorthogonalization::full : reorthogonalization::selective;
  return how;
}

/// What a formula says of the first pairs; none of those that are orthogonal to given vectors.
std::vector<double> known_values(const eigs_options& o, std::size_t count) {
  if (o.family.empty() || !o.mass.empty() || !o.deflate.empty() || o.which != "smallest") return {};
  return known_lowest(o.family, count);
}

/// "residual <= 1e-08 |lambda|"; with a second matrix what the solver compares instead of the residual.
std::string criterion_of(const eigs_options& o, const eigensolver& by) {
  const bool by_least_mass = !o.mass.empty() && by.preconditioned;  // the others divide by a diagonal B
  const char* const compared = o.mass.empty()  ? "residual"
                               : by_least_mass ? "residual / sqrt(mu)"
                                               : "||B^-1/2 (A x - lambda B x)||";
  const char* const scale = o.compare == "relative" ? " |lambda|"
                            : o.compare != "norm"   ? ""
                            : o.mass.empty()        ? " ||A||"
                            : by_least_mass         ? " ||A|| / mu"
                                                    : " ||B^-1/2 A B^-1/2||";
  return fmt::format("{} <= {:g}{}{}", compared, o.solver.tolerance, scale,
                     by_least_mass ? ", mu the smallest eigenvalue of B" : "");
}

/// What a solver would ignore, or refuse where the option is not known any more.
void require_options_that_fit(const eigs_options& o, const eigensolver& by) {
  if (o.which == "both" && by.name == "lobpcg")
    throw error(error_kind::usage, "LOBPCG goes to one end of the spectrum", "--which both",
                "--solver lanczos and --solver chebyshev find both");
  if (o.solver.degree != 0 && by.name != "chebyshev" && o.precondition != "chebyshev")
    throw error(error_kind::usage, fmt::format("{} makes no polynomial", by.title), "--degree",
                by.preconditioned ? "leave it out; --solver chebyshev and --precond chebyshev take a degree"
                                  : "leave it out; --solver chebyshev takes a degree");
}

/// Throws tessera::error (usage) for a location that this machine has not.
void require_location(const session& s, const std::string& at) {
  if (at.empty()) return;
  try {
    (void)s.rt().at(at);
  } catch (const error& e) {
    throw error(e.kind(), std::string(e.message()), "--at", std::string(e.hint()));
  }
}

void describe(report& r, const eigs_options& o, const eigensolver& by, const eigen_options& how, const solver_run& run,
              bool hermitian) {
  const csr_matrix& a = run.matrix;
  const eigenpairs& found = run.found;
  r.add("matrix", "matrix", a.name);
  if (!o.mass.empty()) r.add("mass", "mass matrix", o.mass);
  const std::int64_t order = hermitian ? a.rows / 2 : a.rows;
  r.add("n", "n", fmt::format("{}, {} nonzeros, norm {:.6g}", order, a.nonzeros(), found.norm), order);
  if (hermitian)
    r.add("complex", "complex",
          fmt::format("Hermitian; solved as a real matrix of {} rows, whose nonzeros these are", a.rows), true);
  r.note("nonzeros", a.nonzeros());
  r.note("norm", found.norm);
  r.add("criterion", "criterion", criterion_of(o, by), o.compare);
  r.note("tolerance", o.solver.tolerance);
  r.add("solver", "solver",
        found.dense ? fmt::format("dense (n is too small for blocks of {})", found.block)
                    : fmt::format("{}, block {}, {} panels, {} passes of {} tasks together", by.title, found.block,
                                  found.panels, found.loop.passes, found.loop.tasks),
        found.dense ? "dense" : by.name);
  r.note("block", found.block);
  if (by.preconditioned && !found.dense)
    r.add("preconditioner", "preconditioner",
          fmt::format("{}{}", name_of(how.precondition), o.precondition == "auto" ? ", by the diagonal" : ""),
          name_of(how.precondition));
  if (found.degree > 0) r.add_integer("degree", "degree of the filter", found.degree);
  if (by.block_limits_levels && !found.dense)
    r.add("multiplicities", "multiplicities",
          found.block == 1 ? std::string("not seen: one vector finds one of several equal eigenvalues; use --block")
                           : fmt::format("seen up to {}, the block", found.block),
          found.block);
  r.note("panels", found.panels);
  r.note("passes", found.loop.passes);
  if (!found.loop.form.empty()) r.add("form", "form", found.loop.form);
  r.add("reorder", "order", o.reorder);
  r.note("tasks_per_iteration", found.loop.tasks);
  r.add_integer("iterations", std::string(by.iteration), found.loop.iterations);
  if (found.searched > 0)
    r.add("search_iterations", "search",
          fmt::format("{} {} more, for pairs that were passed over", found.searched, by.iteration), found.searched);
  r.note("seconds", found.loop.seconds);
  if (found.loop.iterations > 0) {
    const double each = found.loop.seconds / found.loop.iterations;
    r.add("seconds_per_iteration", "per " + run.step, format_seconds(each), each);
  }
  add_speed(r, run);
  describe_moved(r, found.loop);
  auto rows = nlohmann::ordered_json::array();
  for (std::size_t k = 0; k < found.values.size(); ++k) {
    const eigenvalue& e = found.values[k];
    const printed_value text(e.value, e.error_bound);
    const std::string_view doubt = doubt_of(e);
    r.add("", fmt::format("lambda {}", k + 1),
          fmt::format("{}  +- {}  residual {:.1e}{}{}", text.value, text.bound, e.residual,
                      !e.converged    ? "  NOT CONVERGED"
                      : e.at_rounding ? "  (to rounding; the criterion asks for more)"
                                      : "",
                      doubt.empty() ? std::string() : fmt::format("  ({})", doubt)),
          nullptr);
    nlohmann::ordered_json row{{"value", e.value},         {"error_bound", e.error_bound}, {"residual", e.residual},
                               {"converged", e.converged}, {"at_rounding", e.at_rounding}, {"clustered", e.clustered},
                               {"unsettled", e.unsettled}};
    if (k < run.known.size()) row["known"] = run.known[k];
    rows.push_back(std::move(row));
  }
  r.note("eigenvalues", rows);
  r.add("orthogonality", "orthogonality", fmt::format("{:.1e}  (largest |X'X - I|)", found.orthogonality),
        found.orthogonality);
  r.note("converged", found.converged());
  note_convergence(r, run);
}

int run(const eigs_options& o) {
  if (o.out == "-")
    throw error(error_kind::usage, "vectors go to a file, not to standard output", "--out", "name a FILE");
  if (!o.out.empty()) require_writable(o.out);
  const eigensolver& by = eigensolver_named(o.method);
  require_options_that_fit(o, by);
  problem_matrix problem = matrix_for(o);
  const bool hermitian = problem.is_complex;
  const std::optional<row_order> order = order_for(o, problem);
  csr_matrix& a = problem.matrix;
  if (order) a = order->reordered(a);
  const double change = store_values(o, a);
  session s(o);
  require_location(s, o.solver.program.at);
  eigen_options how = solver_options(o);
  if (!o.guess.empty()) how.guess = read_vectors(o.guess, a.rows, hermitian);
  if (!o.deflate.empty()) how.deflate = read_vectors(o.deflate, a.rows, hermitian);
  std::optional<csr_matrix> mass;
  if (!o.mass.empty()) how.mass = &mass.emplace(read_matrix(o.mass));
  if (order) {
    how.guess = order->reordered(how.guess);
    how.deflate = order->reordered(how.deflate);
    if (mass && mass->rows == a.rows && mass->columns == a.columns) mass = order->reordered(*mass);
  }
  if (by.preconditioned) how.precondition = chosen_preconditioning(a, how);
  s.require_memory(by.min_memory(a, hermitian ? real_options(a, how) : how),
                   memory_of_copies(a, how) > 0 ? "the vectors, and a copy of a matrix," : "the vectors",
                   o.solver.block > 0 ? "choose a smaller --block, or fewer --pairs" : "choose fewer --pairs");
  solver_history history;
  how.report = [&](const eigen_progress& now) {
    if (!now.searching) history.note(now);
    s.check_interrupt();
  };
  eigenpairs found;
  {
    const progress line([&](double seconds) { return history.line(seconds); },
                        {.where = o.quiet ? progress_where::nowhere : progress_where::everywhere});
    try {
      retry_on_loss(s.rt(), [&] {
        history.begin();
        found = hermitian ? hermitian_pairs(s.rt(), by.solve, a, how) : by.solve(s.rt(), a, how);
      });
    } catch (const error& e) {  // of a task, which has lost its hint
      if (e.kind() != error_kind::numerical || !e.hint().empty()) throw;
      throw error(e.kind(), std::string(e.message()), std::string(e.where()),
                  "another --seed, another --block, or another --solver");
    }
  }
  if (order) found.vectors = order->restored(found.vectors);
  for (eigenvalue& e : found.values) e.error_bound += change;
  solver_run told{a,
                  found,
                  history.moments(),
                  known_values(o, found.values.size()),
                  {},
                  std::string(by.iteration.substr(0, by.iteration.size() - 1))};
  if (o.stream) told.triad = triad_bandwidth(s.rt().workers());
  report r;
  s.describe(r);
  describe(r, o, by, how, told, hermitian);
  describe_place(r, s.rt(), o.solver.program.at);
  if (o.storage == "float")
    r.add("storage", "values of A",
          fmt::format("float: eigenvalues move by {:.1e} at most, which the bounds contain", change), "float");
  else
    r.note("storage", "double");
  r.note("storage_change", change);
  s.add_to_page(page_sections(told));
  if (!o.out.empty()) {
    if (hermitian)
      matrix_market::write_dense_complex(o.out, a.rows / 2, std::ssize(found.values), found.vectors);
    else
      matrix_market::write_dense(o.out, a.rows, std::ssize(found.values), found.vectors);
    r.add("vectors", "vectors", o.out);
  }
  s.finish(r);
  if (const std::string wrong = contradiction(found.values, told.known); !wrong.empty()) {
    fmt::print(stderr, "error: {}\n  at: {}\n  hint: pairs were passed over: {}a larger --block, or another --seed\n",
               wrong, a.name, o.guess.empty() ? "" : "no --guess, ");
    return 1;
  }
  if (found.converged()) return 0;
  const std::string hint = hint_for({by, how, found, hermitian ? a.rows / 2 : a.rows, history.left(),
                                     o.precondition != "auto" && o.precondition != "none"});
  fmt::print(stderr, "error: {} of {} pairs converged in {} {}\n  at: {}\n  hint: {}\n",
             std::ranges::count_if(found.values, &eigenvalue::converged), found.values.size(), found.loop.iterations,
             by.iteration, a.name, hint);
  return 1;
}

}  // namespace

void add_eigs(command_table& to) {
  auto options = std::make_shared<eigs_options>();
  eigen_options& solver = options->solver;
  command_table& sub = to.add_command("eigs", "Compute a few eigenpairs of a symmetric sparse matrix");
  sub.add({{"matrix", &options->matrix, "FILE",
            "Matrix Market file: real, integer or pattern, symmetric; or complex hermitian"},
           {"--generate",
            &options->family,
            "FAMILY:N",
            "instead: lap2d:M, lap3d:M, xxz:L, xx:L, hs:L, kkt3d:N, rmat:S[:F], nrmat:S[:F]",
            {.excludes = {"matrix"}}},
           {"--pairs",
            &solver.pairs,
            "K",
            "eigenvalues, with their vectors",
            {.range = between(1, std::int64_t{1} << 16), .shows_default = true}},
           {"--solver",
            &options->method,
            "",
            "lobpcg; lanczos: by blocks, with thick restarts; chebyshev: filtered subspaces",
            {.choices = eigensolver_names(), .shows_default = true}},
           {"--which",
            &options->which,
            "",
            "smallest, largest, or both (lanczos, chebyshev)",
            {.choices = {"smallest", "largest", "both"}, .shows_default = true}},
           number_option("--tol", solver.tolerance, "TOL", "how small a residual must be", 0.0, 1.0),
           {"--criterion",
            &options->compare,
            "",
            "what --tol is a part of: relative (|lambda|), norm (||A||) or absolute (nothing)",
            {.choices = {"relative", "norm", "absolute"}, .shows_default = true}},
           {"--block",
            &solver.block,
            "B",
            "vectors that are iterated: at least K, by default a few more; of lanczos 4",
            {.range = between(1, std::int64_t{1} << 16)}},
           {"--iterations",
            &solver.max_iterations,
            "N",
            "give up after N iterations, of lanczos restarts",
            {.range = between(0, 1000000000), .shows_default = true}},
           {"--precond",
            &options->precondition,
            "",
            "none, jacobi, block-jacobi or chebyshev (lobpcg); auto: jacobi where the diagonal varies",
            {.choices = preconditioner_names(), .shows_default = true}},
           {"--mass", &options->mass, "FILE",
            "Matrix Market file of B: solve A x = lambda B x, B positive definite; diagonal but for lobpcg"},
           {"--guess", &options->guess, "FILE", "Matrix Market file of vectors to start with, as --out writes"},
           {"--deflate", &options->deflate, "FILE", "Matrix Market file of vectors: find pairs orthogonal to them"},
           {"--degree",
            &solver.degree,
            "N",
            "of the polynomials of chebyshev, as solver (10, and more where that is slow) and as --precond (8)",
            {.range = between(1, 2560)}}  // as far as the solver goes by itself
           ,
           {"--lag",
            &solver.lag,
            "N",
            "iterations that begin before the test of an earlier one (lobpcg, chebyshev)",
            {.range = between(0, 100), .shows_default = true}},
           {"--reorthogonalize",
            &options->reorthogonalize,
            "",
            "full, or selective: to less of the basis (lanczos)",
            {.choices = {"full", "selective"}, .shows_default = true}},
           {"--panel",
            &solver.program.panel_rows,
            "ROWS",
            "rows of a task; by default chosen by the matrix",
            {.range = between(1, std::int64_t{1} << 30)}},
           {"--form",
            &options->form,
            "",
            "how the matrix lies in memory: auto (measures first), csr, sell, bcsr",
            {.choices = {"auto", "csr", "sell", "bcsr"}, .shows_default = true}},
           {"--reorder",
            &options->reorder,
            "",
            "none, or rcm: reverse Cuthill-McKee; vectors keep the file's order",
            {.choices = {"none", "rcm"}, .shows_default = true}},
           {"--storage",
            &options->storage,
            "",
            "double, or float: the matrix's values are rounded to single precision; the bounds contain that",
            {.choices = {"double", "float"}, .shows_default = true}},
           {"--at", &solver.program.at, "LOCATION",
            "location where the rows are worked on, such as a device; by default where the runtime places it"},
           {"--stream", &options->stream, "",
            "measure STREAM's triad after the run, and compare the solver's bandwidth with it"},
           {"--out", &options->out, "FILE", "write the vectors as a Matrix Market array"}});
  options->add_run_options(sub);
  sub.footer =
      "Example:\n  tessera eigs --generate lap3d:30 --pairs 4 --tol 1e-6\n"
      "Ends with 1 when a pair did not converge, or is not what a formula says of the family.";
  sub.check = [options] {
    if (options->matrix.empty() && options->family.empty())
      throw error(error_kind::usage, "eigs needs a matrix", "the command line", "give FILE.mtx or --generate FAMILY:N");
  };
  sub.run = [options] { return run(*options); };
}

}  // namespace tessera::apps
