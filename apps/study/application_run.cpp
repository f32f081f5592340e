#include "apps/study/application_run.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <spawn.h>
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <utility>

#include "core/base/error.hpp"

extern char** environ;

namespace tessera::apps::study {
namespace {

std::string contents(const std::filesystem::path& file) {
  std::ifstream in(file);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// While a child runs, Ctrl-C is for the child; its exit code tells of it.
class interruptions_left_to_child {
 public:
  interruptions_left_to_child() {
    struct sigaction ignore {};
    ignore.sa_handler = SIG_IGN;
    ::sigaction(SIGINT, &ignore, &m_before[0]);
    ::sigaction(SIGQUIT, &ignore, &m_before[1]);
  }
  ~interruptions_left_to_child() {
    ::sigaction(SIGINT, &m_before[0], nullptr);
    ::sigaction(SIGQUIT, &m_before[1], nullptr);
  }
  interruptions_left_to_child(const interruptions_left_to_child&) = delete;
  interruptions_left_to_child& operator=(const interruptions_left_to_child&) = delete;

 private:
  std::array<struct sigaction, 2> m_before{};
};

/// Starts a program with standard output given up and standard error in a file, and waits. Returns what waitpid says.
int run_to_end(const std::filesystem::path& program, const std::vector<std::string>& arguments,
               const std::filesystem::path& errors) {
  std::vector<char*> words{const_cast<char*>(program.c_str())};
  for (const std::string& a : arguments) words.push_back(const_cast<char*>(a.c_str()));
  words.push_back(nullptr);
  posix_spawn_file_actions_t files;
  ::posix_spawn_file_actions_init(&files);
  ::posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  ::posix_spawn_file_actions_addopen(&files, STDERR_FILENO, errors.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  posix_spawnattr_t attributes;
  ::posix_spawnattr_init(&attributes);
  sigset_t heard;
  ::sigemptyset(&heard);
  ::sigaddset(&heard, SIGINT);
  ::sigaddset(&heard, SIGQUIT);
  ::posix_spawnattr_setsigdefault(&attributes, &heard);
  ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
  const interruptions_left_to_child guard;
  pid_t child = 0;
  const int refused = ::posix_spawn(&child, program.c_str(), &files, &attributes, words.data(), environ);
  ::posix_spawn_file_actions_destroy(&files);
  ::posix_spawnattr_destroy(&attributes);
  if (refused != 0)
    throw error(error_kind::internal, fmt::format("cannot start: {}", std::strerror(refused)), program.string());
  int status = 0;
  while (::waitpid(child, &status, 0) < 0)
    if (errno != EINTR) throw error(error_kind::internal, std::strerror(errno), "waiting for " + program.string());
  return status;
}

/// The kind of mistake that an application's exit code tells of.
error_kind kind_of(int exit_code) {
  using enum error_kind;
  for (const error_kind kind :
       {usage, configuration, input, plugin, numerical, memory, device, validation, output, internal})
    if (exit_code_of(kind) == exit_code) return kind;
  return task;
}

}  // namespace

application_figures figures_of(const nlohmann::json& written) {
  application_figures figures;
  if (!written.is_object() || !written.contains("seconds") || !written["seconds"].is_number())
    throw error(error_kind::usage, "the application reports no time of its main part", "study",
                "`tessera apps` lists the applications; choose one whose loops take --policy");
  figures.seconds = written["seconds"];
  if (written.contains("regions"))
    for (const auto& region : written["regions"]) {
      std::vector<std::string> leaves;
      for (const auto& share : region["shares"])
        if (const std::string leaf = share["location"]; std::ranges::find(leaves, leaf) == leaves.end())
          leaves.push_back(leaf);
      if (leaves.size() > figures.leaves.size()) figures.leaves = std::move(leaves);
    }
  return figures;
}

application_runner::application_runner(std::filesystem::path program) : m_program(std::move(program)) {
  std::string name = (std::filesystem::temp_directory_path() / "tessera-study-XXXXXX").string();
  if (::mkdtemp(name.data()) == nullptr)
    throw error(error_kind::output, fmt::format("cannot make a folder: {}", std::strerror(errno)), name,
                "set TMPDIR to a folder that can be written");
  m_folder = name;
}

application_runner::~application_runner() {
  std::error_code ignored;
  std::filesystem::remove_all(m_folder, ignored);
}

application_figures application_runner::run(const std::vector<std::string>& arguments) const {
  const std::filesystem::path json = m_folder / "run.json", errors = m_folder / "errors.txt";
  std::vector<std::string> all = arguments;
  all.insert(all.end(), {"--quiet", "--json", json.string()});
  const int status = run_to_end(m_program, all, errors);
  if ((WIFSIGNALED(status) && WTERMSIG(status) == SIGINT) || (WIFEXITED(status) && WEXITSTATUS(status) == 130))
    throw error(error_kind::interrupted, "interrupted", "study");
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
    const std::string how = WIFEXITED(status) ? fmt::format("ended with {}", WEXITSTATUS(status))
                                              : fmt::format("was ended by signal {}", WTERMSIG(status));
    std::string said = contents(errors);
    said.erase(said.find_last_not_of(" \n") + 1);
    throw error(WIFEXITED(status) ? kind_of(WEXITSTATUS(status)) : error_kind::task,
                fmt::format("the application {}{}{}", how, said.empty() ? "" : ":\n", said),
                fmt::format("tessera {}", fmt::join(arguments, " ")));
  }
  return figures_of(nlohmann::json::parse(contents(json)));
}

}  // namespace tessera::apps::study
