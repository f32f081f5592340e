#pragma once
// The built `tessera` as a user starts it: a process of its own, with its exit code and what it printed.
#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace cli_test {

/// How a process ended, and what it wrote until then.
struct outcome {
  int code = -1;  ///< exit code; 1000 + signal number when a signal ended it; -1: it had to be killed at the deadline
  std::string out, err;
};

/// What a program finds when it starts.
struct start {
  std::string out = {};          ///< where its standard output goes; "": to the test
  std::vector<int> closed = {};  ///< of its descriptors 0 to 2, those that are closed
  std::uint64_t file_limit = 0;  ///< no file of it becomes longer (RLIMIT_FSIZE); 0: no limit
  std::string file = {};         ///< another program; "": `tessera`
};

/// A started program. Its environment has nothing of Tessera's but what is given. Killed, with all it started, when it
/// goes.
class program {
 public:
  explicit program(std::vector<std::string> arguments, std::vector<std::string> environment = {},
                   const start& how = {});
  ~program();
  program(const program&) = delete;
  program& operator=(const program&) = delete;

  void signal(int number) const;
  /// Waits until it has used so much processor time, so that it is in the midst of its work. False when it ended
  /// before.
  bool work_for(std::chrono::milliseconds processor_time);
  /// Reads until its standard error has this in it. False when it ended or the deadline passed before.
  bool says(const std::string& text, std::chrono::seconds deadline = std::chrono::seconds(60));
  /// The same of its standard output.
  bool prints(const std::string& text, std::chrono::seconds deadline = std::chrono::seconds(60));
  /// Reads what it prints until it ends.
  outcome wait(std::chrono::seconds deadline = std::chrono::seconds(120));
  /// Whether any process of it is left.
  bool anything_left() const;

 private:
  pid_t m_process = -1;
  int m_out = -1, m_err = -1;
  outcome m_so_far;
  bool reads(const std::string& in, const std::string& text, std::chrono::seconds deadline);
  bool read_on(std::chrono::steady_clock::time_point until);  ///< false: there is nothing to come
  bool m_reaped = false;
};

/// Starts it and waits for its end.
outcome run(std::vector<std::string> arguments, std::vector<std::string> environment = {});

/// A file of the repository.
std::string source(const std::string& path);
/// What a file contains; "" when there is none.
std::string contents(const std::filesystem::path& file);
/// Fails the running test when it is no JSON.
nlohmann::json json_of(const std::string& text);

/// The cores that this process may use: what `tessera` counts.
unsigned cores();

}  // namespace cli_test
