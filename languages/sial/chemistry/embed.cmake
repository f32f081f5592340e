# Writes OUTPUT, a source that holds the programs TEXTS: cmake -DOUTPUT=... "-DTEXTS=a.sialx;b.sialx" -P embed.cmake
set(names "")
set(cases "")
foreach(text IN LISTS TEXTS)
  get_filename_component(name ${text} NAME)
  file(READ ${text} content)
  string(APPEND names "\"${name}\", ")
  string(APPEND cases "  if (name == \"${name}\")\n    return R\"sial(${content})sial\";\n")
endforeach()
file(WRITE ${OUTPUT} "// Made by languages/sial/chemistry/embed.cmake.
#include \"languages/sial/chemistry/programs.hpp\"

namespace tessera::sial {

std::span<const std::string_view> chemistry_programs() noexcept {
  static constexpr std::string_view names[] = {${names}};
  return names;
}

std::string_view chemistry_program(std::string_view name) noexcept {
${cases}  return {};
}

}  // namespace tessera::sial
")
