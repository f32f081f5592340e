# tessera_translate(TARGET): the sources of a target that hold directives (#pragma gecko, #pragma pointerchain) are translated when it
# is built, and their translations are compiled instead of them. Call it behind the target's sources, in the same folder. Compilers
# report the lines of the sources. docs/directives.md
function(tessera_translate target)
  if(NOT TARGET tessera::translator)
    message(FATAL_ERROR "tessera_translate(${target}): this Tessera has no tessera-translate. It is installed where all was built, "
      "and built with Clang's development files (on Debian 12: apt-get install llvm-22-dev libclang-22-dev; 19 and 16 will do).")
  endif()
  get_target_property(sources ${target} SOURCES)
  set(all "")
  foreach(source IN LISTS sources)
    get_filename_component(input "${source}" ABSOLUTE)
    set(found "")
    if(input MATCHES "\\.(c|cc|cpp|cxx|C)$" AND EXISTS "${input}")
      file(STRINGS "${input}" found REGEX "^[ \t]*#[ \t]*pragma[ \t]+(gecko|pointerchain)[ \t]" LIMIT_COUNT 1)
      set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${input}")
    endif()
    if(found STREQUAL "")
      list(APPEND all "${source}")
      continue()
    endif()
    get_filename_component(folder "${input}" DIRECTORY)
    string(MD5 place "${folder}")
    string(SUBSTRING "${place}" 0 8 place)
    get_filename_component(name "${input}" NAME)
    set(output "${CMAKE_CURRENT_BINARY_DIR}/${target}.translated/${place}_${name}.cpp")
    set(includes "$<TARGET_PROPERTY:${target},INCLUDE_DIRECTORIES>")
    set(definitions "$<TARGET_PROPERTY:${target},COMPILE_DEFINITIONS>")
    add_custom_command(OUTPUT "${output}"
      COMMAND ${CMAKE_COMMAND} -E make_directory "${CMAKE_CURRENT_BINARY_DIR}/${target}.translated"
      COMMAND tessera::translator "${input}" -o "${output}" --depfile "${output}.d" --no-remarks --
        "$<$<BOOL:${includes}>:-I$<JOIN:${includes},;-I>>" "$<$<BOOL:${definitions}>:-D$<JOIN:${definitions},;-D>>"
      DEPENDS "${input}" tessera::translator DEPFILE "${output}.d" COMMAND_EXPAND_LISTS VERBATIM
      COMMENT "Translating the directives of ${name}")
    target_include_directories(${target} PRIVATE "${folder}")  # what it includes in quotes
    list(APPEND all "${output}")
  endforeach()
  set_target_properties(${target} PROPERTIES SOURCES "${all}")
endfunction()
