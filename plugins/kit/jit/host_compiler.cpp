#include "plugins/kit/jit/host_compiler.hpp"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/auxv.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string_view>
#include <system_error>
#include <vector>

#include "plugins/kit/jit/kernel_text.hpp"
#include "plugins/kit/system/private_folder.hpp"

namespace tessera::kit {
namespace {

namespace fs = std::filesystem;

// -fno-math-errno: functions of mathematics become instructions, as they are on a GPU.
constexpr const char* own_options[] = {"-x",    "c",       "-std=gnu11", "-O3", "-march=native", "-fno-math-errno",
                                       "-fPIC", "-shared", "-w"};

constexpr const char* usual_path = "/usr/local/bin:/usr/bin:/bin";

std::string found_in_path(const std::string& name) {
  if (name.find('/') != name.npos)
    return ::access(name.c_str(), X_OK) == 0 ? fs::absolute(name).string() : std::string{};
  const char* const path = ::secure_getenv("PATH");
  std::istringstream folders(path != nullptr ? path : usual_path);
  for (std::string folder; std::getline(folders, folder, ':');) {
    const std::string file = folder + "/" + name;
    if (folder.starts_with('/') && ::access(file.c_str(), X_OK) == 0 && fs::is_regular_file(file)) return file;
  }
  return {};
}

std::string processor() {
  std::ifstream info("/proc/cpuinfo");
  std::string model, flags;
  for (std::string line; std::getline(info, line) && (model.empty() || flags.empty());) {
    if (model.empty() && line.starts_with("model name")) model = line;
    if (flags.empty() && (line.starts_with("flags") || line.starts_with("Features"))) flags = line;
  }
  return model + "; " + flags;
}

/// Options that change what is compiled, and nothing else.
bool is_taken(const std::string& option) {
  if (option.starts_with("-fplugin") || option.starts_with("-fuse-ld")) return false;
  return option.size() > 2 && option[0] == '-' && std::strchr("DUOfmg", option[1]) != nullptr;
}

/// What a child process writes to standard error, until it and its children have ended; false when that takes too long.
bool read_all(int fd, std::chrono::steady_clock::time_point until, std::string& out) {
  constexpr std::size_t most = 64 * 1024;
  for (;;) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(until - std::chrono::steady_clock::now()).count();
    if (left <= 0) return false;
    pollfd waiting{fd, POLLIN, 0};
    const int ready = ::poll(&waiting, 1, static_cast<int>(std::min<long long>(left, 60'000)));
    if (ready == 0 || (ready < 0 && errno == EINTR)) continue;
    char bytes[4096];
    const ::ssize_t count = ::read(fd, bytes, sizeof bytes);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return true;
    if (out.size() < most) out.append(bytes, static_cast<std::size_t>(count));
  }
}

struct finished {
  int spawn_error = 0;
  bool in_time = true;
  bool well = false;
  std::string said;
};

finished run(const std::vector<std::string>& words, const std::string& folder, std::uint64_t limit_ns) {
  std::vector<char*> arguments;
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  // Messages in English, temporary files in our folder.
  std::vector<std::string> set;
  // In a program with more rights than its user's (setuid) the user does not choose where the compiler finds its parts.
  const bool not_ours = ::getauxval(AT_SECURE) != 0;
  if (not_ours) set.push_back(std::string("PATH=") + usual_path);
  for (char** one = environ; !not_ours && *one != nullptr; ++one)
    if (!std::string_view(*one).starts_with("LC_ALL=") && !std::string_view(*one).starts_with("TMPDIR="))
      set.emplace_back(*one);
  set.insert(set.end(), {"LC_ALL=C", "TMPDIR=" + folder});
  std::vector<char*> environment;
  for (std::string& one : set) environment.push_back(one.data());
  environment.push_back(nullptr);

  finished done;
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return {errno, true, false, {}};
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_adddup2(&actions, ends[1], 1);
  ::posix_spawn_file_actions_adddup2(&actions, ends[1], 2);
  posix_spawnattr_t attributes;
  ::posix_spawnattr_init(&attributes);
  // A group of its own, to end all of it at once; signals as a fresh program has them.
  sigset_t none, all;
  ::sigemptyset(&none);
  ::sigfillset(&all);
  ::posix_spawnattr_setpgroup(&attributes, 0);
  ::posix_spawnattr_setsigmask(&attributes, &none);
  ::posix_spawnattr_setsigdefault(&attributes, &all);
  ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  ::pid_t child = 0;
  done.spawn_error = ::posix_spawn(&child, arguments[0], &actions, &attributes, arguments.data(), environment.data());
  ::posix_spawnattr_destroy(&attributes);
  ::posix_spawn_file_actions_destroy(&actions);
  ::close(ends[1]);
  if (done.spawn_error == 0) {
    done.in_time = read_all(ends[0], std::chrono::steady_clock::now() + std::chrono::nanoseconds(limit_ns), done.said);
    if (!done.in_time) ::kill(-child, SIGKILL);
    int status = 0;
    ::pid_t waited = 0;
    while ((waited = ::waitpid(child, &status, 0)) < 0 && errno == EINTR) continue;
    // A program that ignores SIGCHLD has no children to wait for: then what was written tells.
    done.well = waited == child ? WIFEXITED(status) && WEXITSTATUS(status) == 0 : true;
  }
  ::close(ends[0]);
  return done;
}

/// From the first line on that speaks of an error, not too much of it.
std::string essence(const std::string& said) {
  constexpr std::size_t most = 4000;
  const auto error = said.find("error");
  const auto line = error == said.npos ? said.npos : said.rfind('\n', error);
  std::string text = line == said.npos ? said : said.substr(line + 1);
  if (text.size() > most) text = text.substr(0, most) + " ...";
  text.resize(text.find_last_not_of(" \n") + 1);
  return text;
}

}  // namespace

host_compiler::host_compiler(const std::string& command, std::uint64_t limit_ns)
    : m_asked(command), m_limit_ns(limit_ns) {
  if (!command.empty()) m_path = found_in_path(command);
  if (command.empty())
    for (const char* name : {"cc", "gcc", "clang", "c++"})
      if (m_path.empty()) m_path = found_in_path(name);
  if (m_path.empty()) return;
  // The program behind the name: its size and age stand for its version, which only running it would tell.
  std::error_code failed;
  const fs::path real = fs::canonical(m_path, failed);
  m_identity = real.string() + " " + std::to_string(fs::file_size(real, failed)) + " " +
               std::to_string(fs::last_write_time(real, failed).time_since_epoch().count());
  for (const char* option : own_options) m_identity += std::string(" ") + option;
  m_identity += "; " + processor();
}

tsr_status host_compiler::compile(const reporter& report, const std::string& source, const char* options,
                                  std::string& image) const {
  if (m_path.empty())
    return report.fail(TSR_UNAVAILABLE, "no C compiler: %s%s; set the plugin's option \"compiler\"",
                       m_asked.empty() ? "there is none of cc, gcc, clang, c++ in PATH" : m_asked.c_str(),
                       m_asked.empty() ? "" : " is no program that can be run");
  const private_folder folder;
  if (!folder)
    return report.fail(TSR_RESOURCE_EXHAUSTED, "no folder for temporary files: %s", folder.complaint().c_str());
  const std::string input = folder.path() + "/kernels.c", output = folder.path() + "/kernels.so";
  std::vector<std::string> words{m_path};
  words.insert(words.end(), std::begin(own_options), std::end(own_options));
  for (const std::string& option : split_options(options)) {
    if (!is_taken(option))
      return report.fail(TSR_INVALID_ARGUMENT, "the option '%s' is not taken; -D, -U, -O, -f, -m and -g are",
                         option.c_str());
    words.push_back(option);
  }
  if (forbids_contraction(source)) words.emplace_back("-ffp-contract=off");  // GCC does not know the pragma
  words.insert(words.end(), {"-o", output, input, "-lm"});
  if (std::ofstream stream(input); !(stream << source).flush())
    return report.fail(TSR_RESOURCE_EXHAUSTED, "%s cannot be written", input.c_str());

  const finished done = run(words, folder.path(), m_limit_ns);
  if (done.spawn_error != 0)
    return report.fail(TSR_UNAVAILABLE, "%s cannot be run: %s", m_path.c_str(), std::strerror(done.spawn_error));
  if (!done.in_time)
    return report.fail(TSR_DEADLINE_EXCEEDED, "%s was ended after %.1f s", m_path.c_str(),
                       static_cast<double>(m_limit_ns) * 1e-9);
  std::ifstream stream(output, std::ios::binary);
  std::string made{std::istreambuf_iterator<char>(stream), {}};
  if (!done.well || made.empty()) {
    const std::string text = done.said.empty() ? m_path + " says nothing and gives nothing" : essence(done.said);
    return report.fail_with(TSR_INVALID_ARGUMENT, text);
  }
  image = std::move(made);
  return TSR_OK;
}

}  // namespace tessera::kit
