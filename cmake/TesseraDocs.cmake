# The target `docs`: API pages of the public interface, with Doxygen. Not part of `all`. Mistakes in the comments and public
# declarations without documentation fail it; a test does the same (two seconds).
if(NOT DOXYGEN_FOUND)
  return()
endif()
set(DOXYGEN_HAVE_DOT NO)
if(TARGET Doxygen::dot)
  set(DOXYGEN_HAVE_DOT YES)
endif()
# What tessera/tessera.hpp gives to programs, and tessera/plugin.h to plugins.
set(_input include hierarchy/machine/assemble.hpp core/runtime/machine.hpp
  core/runtime/learnt_times.hpp core/runtime/user_library.hpp core/config/document.hpp
  core/config/runtime_settings.hpp core/config/settings.hpp core/block/element_type.hpp core/block/intent.hpp core/block/combination.hpp
  core/block/shape.hpp core/location/tree.hpp core/operation core/placement/policy.hpp
  core/base/error.hpp core/base/units.hpp core/plugin/abi/tessera/plugin.h docs README.md CONTRIBUTING.md
  CHANGELOG.md tests/layering/README.md)
list(TRANSFORM _input PREPEND ${PROJECT_SOURCE_DIR}/)
list(JOIN _input " " TESSERA_DOC_INPUT)
configure_file(docs/Doxyfile.in ${PROJECT_BINARY_DIR}/docs/Doxyfile @ONLY)
set(_command ${CMAKE_COMMAND} -D DOXYGEN=${DOXYGEN_EXECUTABLE} -D FOLDER=${PROJECT_BINARY_DIR}/docs -D STRICT=ON
  -P ${PROJECT_SOURCE_DIR}/cmake/run_doxygen.cmake)
add_custom_target(docs COMMAND ${_command} WORKING_DIRECTORY ${PROJECT_SOURCE_DIR} VERBATIM
  COMMENT "API pages: ${PROJECT_BINARY_DIR}/docs/html/index.html")
if(TESSERA_BUILD_TESTS AND NOT TESSERA_SANITIZE)
  add_test(NAME api_pages COMMAND ${_command} WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
  set_tests_properties(api_pages PROPERTIES TIMEOUT 120 LABELS docs)
endif()
