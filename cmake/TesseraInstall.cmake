# Installation, the CMake package tessera::tessera, pkg-config, and CPack (TGZ; DEB where dpkg-shlibdeps is found).
#
# Layout below the prefix:
#   bin/tessera                      the program; finds the library by a path relative to itself
#   lib/libtessera.so                the runtime
#   lib/libtessera_sparse.so         programs on sparse matrices
#   lib/tessera/plugins/             the plugins
#   lib/tessera/transports/          what connects ranks
#   lib/cmake/tessera/, lib/pkgconfig/
#   include/tessera/plugin.h         the plugin ABI, usable alone (component plugin_abi)
#   include/tessera/transport.h      the ABI of transports, which includes plugin.h
#   include/tessera/*.hpp            the C++ interface: ten doors; detail/ and internal/ are what they lead to
#   share/tessera/                   ready configurations, small data
#   share/doc/tessera/               licence, guides
#   share/man/man1/tessera.1         the manual page
#   share/bash-completion/           what bash completes
include(CMakePackageConfigHelpers)
include(TesseraProduct)

set(_package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/tessera)
set(_data_dir ${CMAKE_INSTALL_DATADIR}/tessera)
set(TESSERA_PLUGIN_SUBDIR ${CMAKE_INSTALL_LIBDIR}/tessera/plugins)

# --- programs and libraries
install(TARGETS tessera tessera_sparse EXPORT tessera_targets
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT runtime NAMELINK_COMPONENT development)
if(TARGET tessera_integrals)
  install(TARGETS tessera_integrals LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/tessera COMPONENT runtime)
endif()
tessera_executables_below(${PROJECT_SOURCE_DIR}/apps _programs)
if(_programs)
  install(TARGETS ${_programs} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT runtime)
endif()

# --- headers
# Plugin authors link nothing: tessera::plugin_abi is the include directory of one header.
add_library(tessera_plugin_abi INTERFACE)
add_library(tessera::plugin_abi ALIAS tessera_plugin_abi)
set_target_properties(tessera_plugin_abi PROPERTIES EXPORT_NAME plugin_abi)
target_include_directories(tessera_plugin_abi INTERFACE
  $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/core/plugin/abi> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
install(TARGETS tessera_plugin_abi EXPORT tessera_targets)
install(FILES core/plugin/abi/tessera/plugin.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/tessera COMPONENT plugin_abi)
install(FILES cluster/transport/abi/tessera/transport.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/tessera COMPONENT development)
configure_file(cmake/install_headers.cmake.in ${PROJECT_BINARY_DIR}/install_headers.cmake @ONLY)
install(SCRIPT ${PROJECT_BINARY_DIR}/install_headers.cmake COMPONENT development)

# --- the CMake package and pkg-config
install(EXPORT tessera_targets NAMESPACE tessera:: DESTINATION ${_package_dir} COMPONENT development)
get_property(_has_translator GLOBAL PROPERTY TESSERA_HAS_TRANSLATOR)
if(_has_translator)
  install(EXPORT tessera_translator_targets NAMESPACE tessera:: DESTINATION ${_package_dir} COMPONENT development)
endif()
configure_package_config_file(cmake/tesseraConfig.cmake.in ${PROJECT_BINARY_DIR}/tesseraConfig.cmake
  INSTALL_DESTINATION ${_package_dir} PATH_VARS TESSERA_PLUGIN_SUBDIR CMAKE_INSTALL_BINDIR NO_CHECK_REQUIRED_COMPONENTS_MACRO)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/tesseraConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/tesseraConfig.cmake ${PROJECT_BINARY_DIR}/tesseraConfigVersion.cmake cmake/TesseraTranslate.cmake
  DESTINATION ${_package_dir} COMPONENT development)
# The prefix is found from the file's own place, so that an unpacked archive works anywhere.
file(RELATIVE_PATH _up_to_prefix /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
string(REGEX REPLACE "/$" "" _up_to_prefix "${_up_to_prefix}")
configure_file(cmake/tessera.pc.in ${PROJECT_BINARY_DIR}/tessera.pc @ONLY)
configure_file(cmake/tessera_sparse.pc.in ${PROJECT_BINARY_DIR}/tessera_sparse.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/tessera.pc ${PROJECT_BINARY_DIR}/tessera_sparse.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT development)

# --- data and documents
install(DIRECTORY configs DESTINATION ${_data_dir} COMPONENT runtime OPTIONAL FILES_MATCHING PATTERN "*.toml" PATTERN "*.csv")
install(DIRECTORY apps/cholesky/data/ DESTINATION ${_data_dir}/data COMPONENT runtime OPTIONAL
  FILES_MATCHING PATTERN "*.mtx" PATTERN "*.md")
install(DIRECTORY apps/chem/data/ DESTINATION ${_data_dir}/data COMPONENT runtime OPTIONAL FILES_MATCHING PATTERN "*.xyz")
install(DIRECTORY languages/sial/editors DESTINATION ${_data_dir} COMPONENT runtime OPTIONAL)
install(DIRECTORY examples/sial DESTINATION ${_data_dir}/examples COMPONENT runtime OPTIONAL)
install(FILES ${PROJECT_BINARY_DIR}/apps/cli/tessera.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT runtime OPTIONAL)
install(FILES ${PROJECT_BINARY_DIR}/apps/cli/tessera.bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME tessera
  COMPONENT runtime OPTIONAL)
install(FILES LICENSE README.md CHANGELOG.md DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT runtime)
install(DIRECTORY docs/ DESTINATION ${CMAKE_INSTALL_DOCDIR}/docs COMPONENT runtime
  FILES_MATCHING PATTERN "*.md" PATTERN "*.svg")
install(CODE "set(DOCUMENTS \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_DOCDIR}\")
set(SOURCES \"${PROJECT_SOURCE_DIR}\")
include(\"${PROJECT_SOURCE_DIR}/cmake/installed_documents.cmake\")" COMPONENT runtime)

# --- archives
set(CPACK_PACKAGE_NAME tessera)
set(CPACK_PACKAGE_VENDOR "The Tessera authors")
set(CPACK_PACKAGE_CONTACT "The Tessera authors <tessera@example.invalid>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "${PROJECT_DESCRIPTION}")
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
set(CPACK_RESOURCE_FILE_README ${PROJECT_SOURCE_DIR}/README.md)
set(CPACK_STRIP_FILES ON)
set(CPACK_GENERATOR TGZ)
if(CMAKE_SYSTEM_PROCESSOR STREQUAL "")
  set(CPACK_SYSTEM_NAME ${CMAKE_SYSTEM_NAME})
else()
  set(CPACK_SYSTEM_NAME ${CMAKE_SYSTEM_NAME}-${CMAKE_SYSTEM_PROCESSOR})
endif()
find_program(TESSERA_SHLIBDEPS dpkg-shlibdeps)
find_program(TESSERA_FILE file)  # CPack asks it which files are binaries
if(TESSERA_SHLIBDEPS AND TESSERA_FILE)
  list(APPEND CPACK_GENERATOR DEB)
  set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
  set(CPACK_DEBIAN_PACKAGE_SECTION libs)
  set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
  set(CPACK_DEBIAN_PACKAGE_DEPENDS libopenblas0)  # loaded by plugins when they are opened, so no file tells of it
  set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${PROJECT_BINARY_DIR}/lib)
  tessera_part("DEB package" TRUE "cpack -G DEB")
else()
  tessera_part("DEB package" FALSE "only TGZ (apt: dpkg-dev file)")
endif()
include(CPack)
