#include "integration/limits/limited.hpp"

#include <sys/wait.h>

#include <array>
#include <cstdio>
#include <stdexcept>

namespace limits_test {

outcome run_behind(const std::string& before, const std::string& arguments) {
  // The limit of processor time would not end a program that hangs asleep; `timeout` does.
  const std::string line = "timeout -s KILL 120 sh -c '" + before + "; exec " TESSERA_BINARY_DIR "/bin/tessera " +
                           arguments + "' 2>&1 < /dev/null; echo \" rc=$?\"";
  std::FILE* const pipe = ::popen(line.c_str(), "r");
  if (pipe == nullptr) throw std::runtime_error("no shell can be started");
  outcome ended;
  std::array<char, 4096> part;
  while (const std::size_t bytes = std::fread(part.data(), 1, part.size(), pipe)) ended.text.append(part.data(), bytes);
  ::pclose(pipe);
  const auto at = ended.text.rfind(" rc=");
  if (at == ended.text.npos) throw std::runtime_error("the shell did not say how it ended: " + ended.text);
  ended.code = std::stoi(ended.text.substr(at + 4));
  if (ended.code > 128) ended.code += 1000 - 128;  // as shells tell signals
  ended.text.erase(at);
  return ended;
}

}  // namespace limits_test
