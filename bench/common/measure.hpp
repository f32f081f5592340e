#pragma once
// Clocks, arguments and result rows of the benchmark programs. Standard library only: the peers use it too.
//
// A result row is one line of tab-separated fields: suite, runtime, case, workers, metric, value. run.py collects them.
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

namespace bench {

/// Seconds of a clock that never steps.
inline double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// Processor seconds of all threads of this process.
inline double cpu_seconds() {
  rusage u{};
  getrusage(RUSAGE_SELF, &u);
  return double(u.ru_utime.tv_sec + u.ru_stime.tv_sec) + 1e-6 * double(u.ru_utime.tv_usec + u.ru_stime.tv_usec);
}

/// Bytes of this process that are in memory.
inline double resident_bytes() {
  long all = 0, resident = 0;
  if (std::FILE* const f = std::fopen("/proc/self/statm", "r")) {
    if (std::fscanf(f, "%ld %ld", &all, &resident) != 2) resident = 0;
    std::fclose(f);
  }
  return double(resident) * double(sysconf(_SC_PAGESIZE));
}

inline void row(const char* suite, const std::string& runtime, const std::string& kase, int workers, const char* metric,
                double value) {
  std::printf("%s\t%s\t%s\t%d\t%s\t%.6g\n", suite, runtime.c_str(), kase.c_str(), workers, metric, value);
  std::fflush(stdout);
}

/// The rows of one overhead measurement of n tasks; submit_s < 0: not known.
inline void overhead_rows(const std::string& runtime, const std::string& kase, int workers, long n, double submit_s,
                          double total_s, double cpu_s) {
  row("tasks", runtime, kase, workers, "ns_per_task", total_s / double(n) * 1e9);
  if (submit_s >= 0) row("tasks", runtime, kase, workers, "submit_ns_per_task", submit_s / double(n) * 1e9);
  row("tasks", runtime, kase, workers, "cpu_ns_per_task", cpu_s / double(n) * 1e9);
}

inline double median(std::vector<double> v) {
  std::sort(v.begin(), v.end());
  return v.empty() ? 0.0 : v[v.size() / 2];
}

[[noreturn]] inline void fail(const std::string& what) {
  std::fprintf(stderr, "FAILED: %s\n", what.c_str());
  std::exit(1);
}

/// `--key value` pairs. A word that is no such pair ends the program: a misspelt option must not measure something
/// else.
class arguments {
 public:
  arguments(int argc, char** argv, std::vector<std::string> known) : m_argc(argc), m_argv(argv) {
    for (int i = 1; i < argc; i += 2) {
      const bool key = std::strncmp(argv[i], "--", 2) == 0 &&
                       std::find(known.begin(), known.end(), std::string(argv[i] + 2)) != known.end();
      if (key && i + 1 < argc) continue;
      std::string list;
      for (const std::string& k : known) list += " --" + k;
      std::fprintf(stderr, "'%s': options are%s, each with a value\n", argv[i], list.c_str());
      std::exit(2);
    }
  }
  std::string text(const char* key, const char* fallback) const {
    for (int i = 1; i + 1 < m_argc; i += 2)
      if (std::strcmp(m_argv[i] + 2, key) == 0) return m_argv[i + 1];
    return fallback;
  }
  long number(const char* key, long fallback) const {
    const std::string s = text(key, "");
    if (s.empty()) return fallback;
    char* end = nullptr;
    const long value = std::strtol(s.c_str(), &end, 10);
    if (*end == '\0' && value >= 0) return value;
    std::fprintf(stderr, "--%s %s: not a number of 0 or more\n", key, s.c_str());
    std::exit(2);
  }

 private:
  int m_argc;
  char** m_argv;
};

}  // namespace bench
