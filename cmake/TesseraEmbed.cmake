# tessera_embed(TARGET FUNCTION space::text HEADER part/of/it.hpp FOLDER folder [NAMES names] [WITHOUT_EXTENSION] FILES file...)
# makes files of a folder a part of a target: FUNCTION, as its HEADER declares it, returns the text of one by its path
# in the folder, or that without its extension, and "" for another one; NAMES, of the same namespace, returns all paths.
function(tessera_embed target)
  cmake_parse_arguments(PARSE_ARGV 1 _it "WITHOUT_EXTENSION" "FUNCTION;HEADER;FOLDER;NAMES" "FILES")
  foreach(_needed FUNCTION HEADER FOLDER FILES)
    if(NOT _it_${_needed})
      message(FATAL_ERROR "tessera_embed(${target} ...) needs ${_needed}")
    endif()
  endforeach()
  get_filename_component(_folder ${_it_FOLDER} ABSOLUTE)
  string(REGEX REPLACE ".*::" "" _name ${_it_FUNCTION})
  set(_made ${CMAKE_CURRENT_BINARY_DIR}/${_name}.cpp)
  list(TRANSFORM _it_FILES PREPEND ${_folder}/ OUTPUT_VARIABLE _paths)
  set(_script ${CMAKE_CURRENT_FUNCTION_LIST_FILE})
  add_custom_command(OUTPUT ${_made} VERBATIM DEPENDS ${_paths} ${_script} COMMENT "Embedding ${_name}"
    COMMAND ${CMAKE_COMMAND} -DOUTPUT=${_made} -DFUNCTION=${_it_FUNCTION} -DHEADER=${_it_HEADER} -DNAMES=${_it_NAMES}
      -DFOLDER=${_folder} -DWITHOUT_EXTENSION=${_it_WITHOUT_EXTENSION} "-DFILES=${_it_FILES}" -P ${_script})
  target_sources(${target} PRIVATE ${_made})
endfunction()

# As a script: writes the source.
if(CMAKE_SCRIPT_MODE_FILE STREQUAL CMAKE_CURRENT_LIST_FILE)
  string(REGEX MATCH "^(.*)::([^:]*)$" _ ${FUNCTION})
  set(_space ${CMAKE_MATCH_1})
  set(_function ${CMAKE_MATCH_2})
  set(_keys "")
  set(_cases "")
  foreach(_file IN LISTS FILES)
    set(_key ${_file})
    if(WITHOUT_EXTENSION)
      string(REGEX REPLACE "\\.[^./]*$" "" _key ${_key})
    endif()
    file(READ ${FOLDER}/${_file} _content)
    string(APPEND _keys "\"${_key}\", ")
    string(APPEND _cases "  if (file == \"${_key}\") return R\"embedded(${_content})embedded\";\n")
  endforeach()
  set(_names "")
  if(NAMES)
    set(_names "std::span<const std::string_view> ${NAMES}() noexcept {
  static constexpr std::string_view all[] = {${_keys}};
  return all;
}\n\n")
  endif()
  file(WRITE ${OUTPUT} "// Made by cmake/TesseraEmbed.cmake.
#include \"${HEADER}\"

namespace ${_space} {

${_names}std::string_view ${_function}(std::string_view file) noexcept {
${_cases}  return {};
}

}  // namespace ${_space}
")
endif()
