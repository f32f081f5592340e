#include "languages/sial/interpreter/program_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <thread>

#include "core/base/error.hpp"
#include "core/base/exception_text.hpp"
#include "languages/sial/exchange/thread_exchange.hpp"
#include "languages/sial/interpreter/worker.hpp"
#include "tessera/front_end.hpp"

namespace tessera::sial {

run_counters& run_counters::operator+=(const run_counters& more) noexcept {
  iterations += more.iterations;
  for (std::size_t k = 0; k < exchanges.size(); ++k) {
    exchanges[k].number += more.exchanges[k].number;
    exchanges[k].bytes += more.exchanges[k].bytes;
    exchanges[k].saved += more.exchanges[k].saved;
    exchanges[k].waited += more.exchanges[k].waited;
  }
  contractions += more.contractions;
  flops += more.flops;
  blocks_taken += more.blocks_taken;
  blocks_reused += more.blocks_reused;
  barrier_seconds += more.barrier_seconds;
  first_reads += more.first_reads;
  ready_reads += more.ready_reads;
  asked_early += more.asked_early;
  on_devices += more.on_devices;
  in_place += more.in_place;
  return *this;
}

void statement_profile::add(std::uint64_t ns, std::uint64_t wait) noexcept {
  ++times;
  nanoseconds += ns;
  least = std::min(least, ns);
  most = std::max(most, ns);
  squares += static_cast<double>(ns) * static_cast<double>(ns);
  waited += wait;
}

statement_profile& statement_profile::operator+=(const statement_profile& more) noexcept {
  times += more.times;
  nanoseconds += more.nanoseconds;
  least = std::min(least, more.least);
  most = std::max(most, more.most);
  squares += more.squares;
  waited += more.waited;
  on_devices += more.on_devices;
  bytes += more.bytes;
  flops += more.flops;
  return *this;
}

std::vector<kept_dimension> dimensions_of(const array_geometry& a) {
  std::vector<kept_dimension> dims;
  for (std::size_t d = 0; d < a.rank; ++d) dims.push_back({a.dims[d].kind, a.dims[d].low, a.dims[d].high});
  return dims;
}

std::vector<std::int64_t> counts_of(const array_geometry& a) {
  std::vector<std::int64_t> counts;
  for (std::size_t d = 0; d < a.rank; ++d) counts.push_back(a.dims[d].segments());
  return counts;
}

namespace {

/// Throws tessera::error (input) where the initialization data have something else for a predefined static array: a
/// list of all elements, or an array of its extents, is what it takes.
void check_contents(const array_declaration& declared, const array_geometry& a, const init_data& data) {
  const auto found = data.float_arrays.find(a.name);
  if (found == data.float_arrays.end()) {
    if (const auto ints = data.int_arrays.find(a.name); ints != data.int_arrays.end())
      throw error(error_kind::input,
                  fmt::format("'{}' is an int array here, and static arrays have floating-point numbers", a.name),
                  ints->second.where, "put it among the float arrays");
    return;
  }
  const init_array<double>& array = found->second;
  if (static_cast<std::int64_t>(array.values.size()) != a.elements())
    throw error(error_kind::input,
                fmt::format("array '{}' has {} elements here, and static array {} has {}", a.name, array.values.size(),
                            declared.name, a.elements()),
                array.where);
  bool same = array.dims.size() <= 1;
  if (!same && array.dims.size() == a.rank) {
    same = true;
    for (std::size_t d = 0; d < a.rank; ++d) same = same && array.dims[d] == a.dims[d].elements();
  }
  if (!same) {
    std::vector<std::int64_t> extents;
    for (std::size_t d = 0; d < a.rank; ++d) extents.push_back(a.dims[d].elements());
    throw error(error_kind::input,
                fmt::format("array '{}' has the dims [{}] here, and static array {} has [{}]", a.name,
                            fmt::join(array.dims, ", "), declared.name, fmt::join(extents, ", ")),
                array.where);
  }
}

}  // namespace

program_run::program_run(runtime& on, const code& what, const init_data& with, const instruction_registry& known,
                         const run_settings& how, kept_items& kept_so_far, std::atomic<std::uint64_t>& sections,
                         exchange* with_others)
    : rt(on),
      program(what),
      data(with),
      instructions(known),
      settings(how),
      sizes(what, with),
      own_exchange(with_others != nullptr ? nullptr
                                          : std::make_unique<thread_exchange>(on, how.workers, how.deterministic)),
      workers(with_others != nullptr ? *with_others : *own_exchange),
      items(kept_so_far),
      section(sections) {
  for (std::uint32_t k = 0; k < sizes.arrays(); ++k) {
    const array_declaration& a = program.arrays[k];
    if (!a.predefined || a.kind != array_kind::fixed) continue;
    check_contents(a, sizes.array(k), data);
    if (!data.float_arrays.contains(a.name))
      notes.push_back(
          fmt::format("{}: the initialization data have no array '{}': it begins with zeros", program.program, a.name));
  }
  blocks_stay = front.blocks_stay();
  const std::vector<named_space_statistics> spaces = rt.statistics().spaces;
  for (std::uint16_t k = 0; k < spaces.size(); ++k) {
    if (!spaces[k].name.starts_with("host:")) {
      has_other_memories = true;
      continue;
    }
    host_spaces.add(k);
    if (spaces[k].statistics.limit_bytes == ~std::uint64_t{0}) continue;
    // All workers together hold a quarter of the host's memory at most, so that there is room for what they make.
    settings.held_bytes = std::min(settings.held_bytes, spaces[k].statistics.limit_bytes / 4 / settings.workers);
  }
  if (settings.devices != device_use::never && rt.has_devices()) {
    device_spaces = front.device_spaces();
    for (std::uint32_t k = 0; k <= program.sites.size(); ++k)
      sources.push_back(std::make_unique<task::source>(where_of(program, k)));
    instruction_forms = instruction_operations(rt, program, instructions);
  }
  for (std::uint32_t k = 0; k < sizes.arrays(); ++k) {
    const array_geometry& a = sizes.array(k);
    const bool shared = a.kind == array_kind::distributed || a.kind == array_kind::served;
    first_generations.push_back(shared ? workers.make_array(a.name, counts_of(a), nullptr) : nullptr);
  }
}

namespace {

bool names_a_line(const std::string& where, const program_run& run) {
  return std::ranges::any_of(run.program.sources.files,
                             [&](const source_file& f) { return where.starts_with(f.path + ":"); });
}

/// Turns what a worker threw into what the user reads.
std::exception_ptr told(const worker* who, const program_run& run) {
  const std::string where = who != nullptr ? who->where() : run.program.program;
  try {
    throw;
  } catch (const run_error& e) {
    return std::make_exception_ptr(error(error_kind::task, e.what(), where, e.hint));
  } catch (const error& e) {
    if (names_a_line(e.where(), run)) return std::current_exception();  // a task of an earlier statement
    if (e.kind() == error_kind::memory && who != nullptr)
      return std::make_exception_ptr(error(e.kind(), e.message(), who->place(), e.hint()));
    return std::make_exception_ptr(
        error(e.kind(), e.message(), e.where().empty() ? where : fmt::format("{}, {}", where, e.where()), e.hint()));
  } catch (const std::bad_alloc&) {
    return std::make_exception_ptr(error(error_kind::memory, "out of memory", who != nullptr ? who->place() : where));
  } catch (const std::exception& e) {
    return std::make_exception_ptr(error(error_kind::task, text_of(e), where));
  }
}

void work(program_run& run, unsigned number) {
  std::unique_ptr<worker> me;
  try {
    me = std::make_unique<worker>(run, number);
    if (++run.begun == run.workers.here())
      run.first_generations.clear();  // what is deleted goes when the last worker lets go of it
    me->run();
  } catch (const given_up&) {
  } catch (...) {
    run.workers.fail(told(me.get(), run));
  }
  if (me) {
    const std::lock_guard guard(run.totals_lock);
    run.totals += me->counters();
    if (!me->profile().empty()) run.profiles.push_back(me->profile());
  }
  run.workers.leave();
}

}  // namespace

void run_program(program_run& run) {
  {
    order_point begin, end;  // for validation
    std::vector<std::jthread> others;
    const unsigned first = run.workers.first_here();
    run.rt.order_before(begin);
    for (unsigned w = 1; w < run.workers.here(); ++w)
      others.emplace_back([&run, &begin, &end, number = first + w] {
        run.rt.order_after(begin);
        work(run, number);
        run.rt.order_before(end);
      });
    work(run, first);
    {
      const runtime::waiting_elsewhere joining(run.rt);
      others.clear();
    }
    run.rt.order_after(end);
  }
  if (const std::exception_ptr why = run.workers.failure()) {
    try {
      std::rethrow_exception(why);
    } catch (const run_error& e) {
      throw error(error_kind::task, e.what(), run.program.program, e.hint);
    }
  }
}

}  // namespace tessera::sial
