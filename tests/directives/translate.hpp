#pragma once
// Runs tessera-translate on a text.
#include <sys/wait.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "tests/unit/plugin/folder.hpp"

namespace directive_test {

inline std::string contents(const std::filesystem::path& file) {
  std::stringstream text;
  text << std::ifstream(file).rdbuf();
  return text.str();
}

/// How a run ended.
struct outcome {
  int code = -1;
  std::string messages;  ///< standard output and error
};
inline outcome run(const std::string& arguments) {
  outcome made;
  const std::string command = "'" TESSERA_TRANSLATE "' " + arguments + " 2>&1";
  FILE* const pipe = ::popen(command.c_str(), "r");
  if (pipe == nullptr) return made;
  char piece[4096];
  while (std::fgets(piece, sizeof piece, pipe) != nullptr) made.messages += piece;
  const int status = ::pclose(pipe);
  made.code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return made;
}

/// A translated text, and what was said.
struct translated : outcome {
  std::string text, json;
};
inline translated translate(const std::string& source, const std::string& flags = {}) {
  const plugin_test::folder folder;
  const std::string in = (folder.path() / "t.cpp").string(), out = (folder.path() / "o.cpp").string(),
                    json = (folder.path() / "o.json").string();
  std::ofstream(in) << source;
  translated made;
  static_cast<outcome&>(made) = run("'" + in + "' -o '" + out + "' --json '" + json + "'" + flags);
  made.text = contents(out);
  made.json = contents(json);
  return made;
}

}  // namespace directive_test
