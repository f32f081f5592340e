#include "hierarchy/directive/program.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <iterator>

#include "core/base/environment.hpp"

namespace tessera::directives {

void refuse(const std::string& message, const std::string& where, const std::string& hint) {
  throw error(error_kind::usage, message, where, hint);
}

program& program::the() {
  static auto& one = *std::make_unique<program>().release();
  return one;
}

bool program::started() {
  const std::scoped_lock lock(m_mutex);
  return m_running != nullptr;
}

void program::declare(const std::string& toml, const char* directive, const std::source_location& site) {
  const std::scoped_lock lock(m_mutex);
  if (m_running != nullptr)
    refuse(fmt::format("'{}' after the first array or region", directive), detail::place_of(directive, site),
           "types and locations are declared before the machine is used: put it in front of the first memory, region, "
           "draw or pause; 'hierarchy' and 'config' change the tree later");
  m_places.emplace(static_cast<std::size_t>(std::ranges::count(m_text, '\n')) + 1, detail::place_of(directive, site));
  m_text += toml;
}

void program::config(std::string_view file, const std::source_location& site) {
  const std::scoped_lock lock(m_mutex);
  m_config_place = detail::place_of("config", site);
  if (file.ends_with(".csv"))
    m_start.settings.push_back("topology.declarations=" + std::string(file));
  else
    m_start.file = file;
}

running& program::run() {
  const std::scoped_lock lock(m_mutex);
  if (m_running == nullptr) start();
  if (m_running->thread != std::this_thread::get_id())
    refuse("a directive in another thread than the first one", "directives",
           "all directives of a program belong to one thread; use <tessera/region.hpp> for more");
  return *m_running;
}

void program::start() {
  start_options options = m_start;
  options.text = m_text;
  // Declarations in the program add to the configuration of the machine; they do not replace it.
  if (const char* named = environment_variable("TESSERA_CONFIG");
      named != nullptr && options.file.empty() && !m_text.empty())
    options.file = named;
  auto made = std::make_unique<running>();
  try {
    made->rt = std::make_unique<runtime>(options);
  } catch (const error& e) {
    throw error(e.kind(), e.message(), place_of(e), e.hint());
  }
  made->model = std::make_unique<location_model>(*made->rt);
  m_running = std::move(made);
}

std::string program::place_of(const error& e) const {
  constexpr std::string_view text = "text:";  // how errors name start_options::text
  if (e.where().starts_with(text)) {
    const std::size_t line = std::strtoull(e.where().c_str() + text.size(), nullptr, 10);
    const auto behind = m_places.upper_bound(line);
    if (behind != m_places.begin()) return std::prev(behind)->second;
  }
  return e.where().empty() && !m_config_place.empty() ? m_config_place : e.where();
}

void program::stop() noexcept {
  const std::scoped_lock lock(m_mutex);
  m_start = {};
  m_text.clear();
  m_config_place.clear();
  m_places.clear();
  if (m_running == nullptr) return;
  for (const auto& [address, array] : m_running->arrays) array->take();
  m_running->arrays.clear();
  m_running->model.reset();
  m_running->rt.reset();
  m_running.reset();
}

location_model& model() { return *program::the().run().model; }

void stop() { program::the().stop(); }

}  // namespace tessera::directives
