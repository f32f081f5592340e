#include "jobs.hpp"

#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <functional>
#include <stdexcept>
#include <utility>

#include "languages/sial/exchange/socket_exchange.hpp"
#include "languages/sial/exchange/socket_hub.hpp"
#include "languages/sial/job/profile.hpp"
#include "tests/integration/runtime/machines.hpp"

namespace tessera::testing {

std::vector<std::string> sial_programs::printing_lines(std::uint32_t number) const {
  std::vector<std::string> lines;
  for (const sial::job_program& p : all)
    for (const sial::source_file& f : p.instructions.sources.files)
      if (number >= 1 && number <= f.lines.size()) lines.push_back(f.lines[number - 1]);
  return lines;
}

sial_programs programs_from_files(const std::vector<std::string>& paths) {
  sial_programs programs;
  for (const std::string& path : paths) {
    std::string told;
    try {
      programs.all.push_back(sial::compile_program(path, {}, [&](const std::string& text) { told += text; }));
    } catch (const error& e) {
      throw error(e.kind(), e.message() + "\n" + told, e.where());
    }
  }
  return programs;
}

sial_programs program_from_text(const std::string& text) {
  const sial::compiled c = sial::compile("test.sialx", [&](const std::string& path) -> std::optional<std::string> {
    return path == "test.sialx" ? std::optional(text) : std::nullopt;
  });
  if (!c.result)
    throw error(error_kind::input, "the program has errors:\n" + sial::to_text(c.messages, c.sources) + text);
  return {{{"test.sialx", sial::lower(*c.result), std::make_shared<const sial::program>(*c.result)}}};
}

namespace {

machine machine_for(const std::string& name) {
  const std::string keys = "placement = \"cost\"\nhistory = \"off\"\n";
  if (name == "host") return host_only(1);
  if (name == "two hosts") return machine_of("plugins = [\"host\"]\n" + keys + two_hosts, 4);
  if (name == "sim") return with_sims(1, "64 MiB", false, 1, keys);
  if (name == "two sims") return with_sims(2, "64 MiB", true, 1, keys);
  if (name == "cuda_emulated" || name == "opencl") return with_gpus(name, 1, "64 MiB", keys);
  return machine_of(keys + name, 1);
}

}  // namespace

namespace {

/// @param exchange_on  for a job whose workers are processes: this one's, on the runtime; else empty
sial_outcome run_with(const sial_programs& programs, const sial::init_data& data, const sial_job_settings& how,
                      const std::function<std::unique_ptr<sial::exchange>(runtime&)>& exchange_on) {
  runtime rt(machine_for(how.machine));
  const std::unique_ptr<sial::exchange> with_others = exchange_on ? exchange_on(rt) : nullptr;
  sial_outcome outcome;
  sial::run_settings settings;
  settings.workers = with_others != nullptr ? 1 : how.workers;
  settings.deterministic = how.deterministic;
  settings.devices = how.devices;
  settings.profile = how.machine != "host";
  sial::instruction_registry instructions;
  instructions.add(how.instructions);
  sial::job job(rt, data, instructions, settings, [&](const std::string& text) { outcome.printed += text; });
  job.after = [&](const sial::program_run& done, const sial::program_report& report) {
    outcome.counters += report.counters;
    for (const auto& statement : done.sources) {
      outcome.device_tasks += statement->device_tasks;
      outcome.device_nanoseconds += statement->device_nanoseconds;
    }
    outcome.profile += sial::profile_text(done);
  };
  job.with_others = with_others.get();
  for (const sial::job_program& p : programs.all) job.run(p);
  const auto used = rt.statistics();
  for (const named_space_statistics& space : used.spaces) outcome.peak_bytes += space.statistics.peak_bytes;
  outcome.items = job.items();
  std::erase_if(outcome.items, [](const auto& item) { return std::holds_alternative<sial::kept_blocks>(item.second); });
  return outcome;
}

}  // namespace

sial_outcome run_job(const sial_programs& programs, const sial::init_data& data, const sial_job_settings& how) {
  return run_with(programs, data, how, {});
}

sial_outcome run_job_by_processes(const sial_programs& programs, const sial::init_data& data,
                                  const sial_job_settings& how) {
  std::vector<int> of_hub, of_workers;
  for (unsigned w = 0; w < how.workers; ++w) {
    int pair[2];
    if (::socketpair(AF_UNIX, SOCK_STREAM, 0, pair) != 0) throw std::runtime_error("no sockets");
    of_hub.push_back(pair[0]);
    of_workers.push_back(pair[1]);
  }
  const auto exchange_of = [&](unsigned worker) {
    return [&, worker](runtime& rt) {
      return std::make_unique<sial::socket_exchange>(rt, of_workers[worker], worker, how.workers, how.deterministic);
    };
  };
  std::vector<pid_t> children;
  for (unsigned w = 1; w < how.workers; ++w) {
    const pid_t child = ::fork();
    if (child != 0) {
      children.push_back(child);
      continue;
    }
    for (const int s : of_hub) ::close(s);
    for (unsigned other = 0; other < how.workers; ++other)
      if (other != w) ::close(of_workers[other]);
    int code = 0;
    try {
      (void)run_with(programs, data, how, exchange_of(w));
    } catch (const std::exception& e) {
      std::fprintf(stderr, "worker %u: %s\n", w, e.what());
      code = 1;
    }
    ::_exit(code);
  }
  for (unsigned w = 1; w < how.workers; ++w) ::close(of_workers[w]);
  const auto end_children = [&children] {
    bool all_well = true;
    for (const pid_t child : std::exchange(children, {})) {
      int status = 0;
      ::waitpid(child, &status, 0);
      all_well = all_well && WIFEXITED(status) && WEXITSTATUS(status) == 0;
    }
    return all_well;
  };
  sial_outcome outcome;
  try {
    const sial::socket_hub hub(of_hub, how.deterministic);
    outcome = run_with(programs, data, how, exchange_of(0));
  } catch (...) {
    (void)end_children();
    throw;
  }
  if (!end_children()) throw std::runtime_error("another process has failed");
  return outcome;
}

sial_outcome run_text(const std::string& text, const sial::init_data& data, unsigned workers) {
  return run_text(text, data, {.workers = workers});
}

sial_outcome run_text(const std::string& text, const sial::init_data& data, const sial_job_settings& how) {
  return run_job(program_from_text(text), data, how);
}

const sial::init_data& common_data() {
  static const sial::init_data data =
      sial::read_init(std::string(TESSERA_SOURCE_DIR) + "/tests/integration/sial/programs/common.toml");
  return data;
}

}  // namespace tessera::testing
