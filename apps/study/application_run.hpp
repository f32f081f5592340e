#pragma once
// An application as a process of its own.
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace tessera::apps::study {

/// What a run says of itself in its JSON.
struct application_figures {
  double seconds = 0;               ///< of its main part
  std::vector<std::string> leaves;  ///< those that got iterations, of the loop that has the most
};

/// What the JSON of an application holds. Throws tessera::error (usage) when it has no `seconds`: no application whose
/// loops can be studied.
application_figures figures_of(const nlohmann::json& written);

/// Runs commands of a program, one after the other. Each is a process of its own, so that no run finds what another has
/// left in memory.
class application_runner {
 public:
  /// @param program  the file; made for tests, and for /proc/self/exe
  explicit application_runner(std::filesystem::path program);
  ~application_runner();
  application_runner(const application_runner&) = delete;
  application_runner& operator=(const application_runner&) = delete;

  /// Runs `program arguments... --quiet --json FILE` and waits. Throws tessera::error: usage or task with what the
  /// program said on standard error, when it ended with another code than 0; interrupted after Ctrl-C.
  application_figures run(const std::vector<std::string>& arguments) const;

 private:
  std::filesystem::path m_program, m_folder;
};

}  // namespace tessera::apps::study
