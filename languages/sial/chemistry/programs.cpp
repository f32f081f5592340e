#include "languages/sial/chemistry/programs.hpp"

#include <filesystem>

#include "languages/sial/language/compile.hpp"

namespace tessera::sial {

reader chemistry_reader() {
  return [files = file_reader()](const std::string& path) -> std::optional<std::string> {
    if (std::optional<std::string> text = files(path)) return text;
    const std::string_view text = chemistry_program(std::filesystem::path(path).filename().string());
    return text.empty() ? std::nullopt : std::optional<std::string>(text);
  };
}

}  // namespace tessera::sial
