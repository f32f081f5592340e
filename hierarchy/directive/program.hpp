#pragma once
// The state of a program with directives: its machine until it starts, then its runtime and its arrays.
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

#include "core/location/tree.hpp"
#include "tessera/directives.hpp"

namespace tessera::directives {

/// Throws tessera::error (usage).
[[noreturn]] void refuse(const std::string& message, const std::string& where, const std::string& hint);

/// Everything that starts and ends together.
struct running {
  std::thread::id thread = std::this_thread::get_id();
  std::unique_ptr<runtime> rt;
  std::unique_ptr<location_model> model;
  std::map<const void*, std::unique_ptr<detail::program_array>> arrays;  // by their addresses; they end first
};

/// The program: one for a process, as directives know no other. All functions from any thread.
class program {
 public:
  /// Never destroyed: when a process ends, plugins lose what they need before a runtime could end. `stop` ends it.
  static program& the();

  bool started();
  /// What is said of the machine before it starts, in TOML. Throws usage afterwards. @param directive  for messages
  void declare(const std::string& toml, const char* directive, const std::source_location& site);
  /// The same in a file, also of the older form.
  void config(std::string_view file, const std::source_location& site);
  /// Starts where it has not. Throws as the runtime, and usage in another thread than the one that started it.
  running& run();
  /// Behind everything that was submitted.
  void stop() noexcept;

 private:
  void start();
  /// Where in the program what an error complains of stands.
  std::string place_of(const error& e) const;

  std::mutex m_mutex;
  start_options m_start;
  std::string m_text, m_config_place;
  std::map<std::size_t, std::string> m_places;  // of directives, by the first lines of their texts
  std::unique_ptr<running> m_running;
};

/// A location of the tree as it is now. Throws usage for one that there is not, or that is detached.
location::node_id attached_location(const location::tree& tree, std::string_view name, const std::string& where);

}  // namespace tessera::directives
