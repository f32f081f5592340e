#include "apps/common/session.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <nlohmann/json.hpp>

namespace tessera::apps {

session::session(const command_options& options) : m_options(options) {
  // The watch comes first: threads that the machine and the runtime start inherit the blocked signals.
  m_watch = std::make_unique<interrupt_watch>([this] {
    if (runtime* running = m_started.load()) running->cancel("stopped by Ctrl-C before it was done");
    else _exit(130);  // nothing has begun
  });
  machine m = hierarchy::assemble(options.load());
  if (!options.quiet)
    for (const std::string& note : m.notes) fmt::print(stderr, "note: {}\n", note);
  m_runtime = std::make_unique<runtime>(std::move(m));
  m_runtime->time_tasks(options.stats);
  m_started = m_runtime.get();
}

session::~session() { m_watch.reset(); }  // before the runtime goes: the watching thread may be calling it

void session::describe(report& to) const {
  to.add("topology", "machine", m_runtime->topology_line());
  to.add("plugins", "plugins", m_runtime->plugin_line());
  std::string kernels = "none";
  for (const auto& d : m_runtime->plugins().devices())
    if (d->blas() != nullptr && d->blas()->library != nullptr) {
      kernels = d->blas()->library;
      break;
    }
  to.add("blas", "BLAS", kernels);
  to.note("workers", m_runtime->workers());
  to.note("seed", m_options.seed);
}

void session::finish(report& r) {
  const statistics s = m_runtime->statistics();
  r.add_statistics(s);
  if (!m_options.quiet && m_options.json != "-") fmt::print("{}", r.to_text());
  if (m_options.stats) fmt::print(m_options.json == "-" ? stderr : stdout, "\n{}", to_text(s));
  if (!m_options.json.empty()) write_text(m_options.json, r.to_json());
}

}  // namespace tessera::apps
