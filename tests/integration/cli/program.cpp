#include "tests/integration/cli/program.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <sstream>
#include <stdexcept>

extern char** environ;

namespace cli_test {
namespace {

using clock = std::chrono::steady_clock;

std::vector<std::string> inherited_environment() {
  std::vector<std::string> kept;
  for (char** one = environ; *one != nullptr; ++one)
    if (std::strncmp(*one, "TESSERA_", 8) != 0 && std::strncmp(*one, "GECKO_", 6) != 0) kept.emplace_back(*one);
  return kept;
}

std::vector<char*> pointers_to(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

void append_from(const pollfd& from, int& file, std::string& to) {
  if (from.fd < 0 || (from.revents & (POLLIN | POLLHUP | POLLERR)) == 0) return;
  char buffer[65536];
  const ssize_t got = read(from.fd, buffer, sizeof buffer);
  if (got > 0) {
    to.append(buffer, static_cast<std::size_t>(got));
  } else if (got == 0 || errno != EINTR) {
    close(file);
    file = -1;
  }
}

}  // namespace

program::program(std::vector<std::string> arguments, std::vector<std::string> environment, const start& how) {
  arguments.insert(arguments.begin(), how.file.empty() ? TESSERA_BINARY_DIR "/bin/tessera" : how.file);
  for (std::string& one : inherited_environment()) environment.push_back(std::move(one));
  const std::vector<char*> argv = pointers_to(arguments), envp = pointers_to(environment);
  int out[2], err[2];
  if (pipe2(out, O_CLOEXEC) != 0 || pipe2(err, O_CLOEXEC) != 0) throw std::runtime_error("no pipes");
  m_process = fork();
  if (m_process < 0) throw std::runtime_error("fork failed");
  if (m_process == 0) {
    setpgid(0, 0);
    dup2(out[1], STDOUT_FILENO);
    dup2(err[1], STDERR_FILENO);
    if (!how.out.empty()) dup2(open(how.out.c_str(), O_WRONLY | O_CLOEXEC), STDOUT_FILENO);
    for (const int descriptor : how.closed) close(descriptor);
    if (const rlimit limit{how.file_limit, how.file_limit}; how.file_limit != 0) setrlimit(RLIMIT_FSIZE, &limit);
    execve(argv[0], argv.data(), envp.data());
    _exit(127);
  }
  setpgid(m_process, m_process);  // in both: whoever comes first
  close(out[1]);
  close(err[1]);
  m_out = out[0];
  m_err = err[0];
}

program::~program() {
  if (!m_reaped) {
    kill(-m_process, SIGKILL);
    waitpid(m_process, nullptr, 0);
  }
  if (m_out >= 0) close(m_out);
  if (m_err >= 0) close(m_err);
}

bool program::read_on(clock::time_point until) {
  if ((m_out < 0 && m_err < 0) || clock::now() >= until) return false;
  pollfd files[2] = {{m_out, POLLIN, 0}, {m_err, POLLIN, 0}};
  if (poll(files, 2, 100) <= 0) return true;
  append_from(files[0], m_out, m_so_far.out);
  append_from(files[1], m_err, m_so_far.err);
  return true;
}

bool program::reads(const std::string& in, const std::string& text, std::chrono::seconds deadline) {
  const auto end = clock::now() + deadline;
  while (in.find(text) == std::string::npos)
    if (!read_on(end)) return false;
  return true;
}

bool program::says(const std::string& text, std::chrono::seconds deadline) {
  return reads(m_so_far.err, text, deadline);
}

bool program::prints(const std::string& text, std::chrono::seconds deadline) {
  return reads(m_so_far.out, text, deadline);
}

void program::signal(int number) const { kill(m_process, number); }

bool program::work_for(std::chrono::milliseconds processor_time) {
  const auto deadline = clock::now() + std::chrono::seconds(60);
  while (clock::now() < deadline) {
    // /proc/PID/stat: state is field 3, user and system time are fields 14 and 15, in clock ticks.
    const std::string stat = contents("/proc/" + std::to_string(m_process) + "/stat");
    std::istringstream fields(stat.substr(std::min(stat.rfind(')') + 1, stat.size())));
    std::string state, skipped;
    long user = 0, system = 0;
    fields >> state;
    for (int k = 4; k < 14; ++k) fields >> skipped;
    fields >> user >> system;
    if (!fields || state == "Z") return false;
    if ((user + system) * 1000 / sysconf(_SC_CLK_TCK) >= processor_time.count()) return true;
    poll(nullptr, 0, 5);
  }
  return false;
}

outcome program::wait(std::chrono::seconds deadline) {
  const auto end = clock::now() + deadline;
  while (read_on(end)) {
  }
  outcome& done = m_so_far;
  int status = 0;
  while (waitpid(m_process, &status, WNOHANG) == 0) {
    if (clock::now() >= end) {
      ADD_FAILURE() << "still running after " << deadline.count() << " s; standard error:\n" << done.err;
      return done;  // killed by the destructor
    }
    poll(nullptr, 0, 5);
  }
  m_reaped = true;
  done.code = WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
  return done;
}

bool program::anything_left() const { return kill(-m_process, 0) == 0; }

outcome run(std::vector<std::string> arguments, std::vector<std::string> environment) {
  return program(std::move(arguments), std::move(environment)).wait();
}

std::string source(const std::string& path) { return TESSERA_SOURCE_DIR "/" + path; }

std::string contents(const std::filesystem::path& file) {
  std::ifstream stream(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

nlohmann::json json_of(const std::string& text) {
  nlohmann::json made = nlohmann::json::parse(text, nullptr, false);
  EXPECT_FALSE(made.is_discarded()) << "not JSON:\n" << text;
  return made;
}

unsigned cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  sched_getaffinity(0, sizeof set, &set);
  return static_cast<unsigned>(CPU_COUNT(&set));
}

}  // namespace cli_test
