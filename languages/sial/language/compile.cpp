#include "languages/sial/language/compile.hpp"

#include <filesystem>
#include <fstream>
#include <iterator>

#include "languages/sial/language/checker.hpp"

namespace tessera::sial {

compiled compile(const std::string& main_path, const reader& read, const std::vector<std::string>& folders) {
  compiled all;
  message_list messages;
  loaded_files files = load(main_path, read, folders, messages);
  all.sources = files.sources;
  if (!files.files.empty()) {
    program checked = check(files, messages);
    if (messages.errors() == 0) all.result = std::move(checked);
  }
  all.messages = messages.take();
  return all;
}

reader file_reader() {
  return [](const std::string& path) -> std::optional<std::string> {
    std::error_code ignored;
    if (!std::filesystem::is_regular_file(path, ignored)) return {};  // a folder, a device without an end
    std::ifstream stream(path, std::ios::binary);
    if (!stream) return {};
    return std::string(std::istreambuf_iterator<char>(stream), {});
  };
}

std::string to_text(const std::vector<message>& messages, const source_set& sources) {
  std::string text;
  for (const message& m : messages) text += to_text(m, sources);
  return text;
}

}  // namespace tessera::sial
