# Helpers that each folder's CMakeLists.txt uses.

# tessera_room(NAME core/base SOURCES ... DEPENDS ...): one room of the library, an object library that becomes part of
# libtessera. The object target is called room_core_base.
function(tessera_room)
  cmake_parse_arguments(R "" "NAME" "SOURCES;DEPENDS" ${ARGN})
  string(REPLACE "/" "_" target "room_${R_NAME}")
  add_library(${target} OBJECT ${R_SOURCES})
  target_include_directories(${target} PUBLIC ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/core/plugin/abi
    ${PROJECT_SOURCE_DIR}/include)
  target_link_libraries(${target} PRIVATE tessera_flags PUBLIC fmt::fmt Threads::Threads ${R_DEPENDS})
  # Nobody replaces a function of the library by one of the same name (see TesseraLibrary.cmake): so they may be inlined.
  target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-fno-semantic-interposition>)
  set_property(GLOBAL APPEND PROPERTY TESSERA_ROOMS ${target})
endfunction()

# tessera_plugin_sanitizer(target): what the headers of plugins say of the sanitizer that they are built for.
function(tessera_plugin_sanitizer target)
  if(TESSERA_SANITIZE STREQUAL "address")
    target_compile_definitions(${target} PRIVATE TSR_BUILD_SANITIZER=1)
  elseif(TESSERA_SANITIZE STREQUAL "thread")
    target_compile_definitions(${target} PRIVATE TSR_BUILD_SANITIZER=2)
  endif()
endfunction()

# tessera_plugin(NAME host SOURCES ... DEPENDS ...): a shared library lib/tessera/plugins/tessera_<name>.so that sees the
# ABI header alone.
function(tessera_plugin)
  cmake_parse_arguments(P "" "NAME" "SOURCES;DEPENDS" ${ARGN})
  set(target plugin_${P_NAME})
  add_library(${target} MODULE ${P_SOURCES})
  target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR}/core/plugin/abi ${PROJECT_SOURCE_DIR}/plugins)
  target_link_libraries(${target} PRIVATE tessera_flags Threads::Threads ${P_DEPENDS})
  set_target_properties(${target} PROPERTIES PREFIX "" OUTPUT_NAME tessera_${P_NAME}
    LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib/tessera/plugins INSTALL_RPATH ""
    C_VISIBILITY_PRESET hidden CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
  if(NOT TESSERA_SANITIZE)
    target_link_options(${target} PRIVATE -Wl,-z,defs)
  endif()
  tessera_plugin_sanitizer(${target})
  install(TARGETS ${target} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/tessera/plugins COMPONENT runtime)
endfunction()

# tessera_transport(NAME inprocess SOURCES ... DEPENDS ...): likewise lib/tessera/transports/tessera_<name>.so, which sees
# tessera/transport.h too. Not beside the plugins: who looks for devices does not load a network.
function(tessera_transport)
  cmake_parse_arguments(P "" "NAME" "SOURCES;DEPENDS" ${ARGN})
  set(target transport_${P_NAME})
  add_library(${target} MODULE ${P_SOURCES})
  target_link_libraries(${target} PRIVATE tessera_flags Threads::Threads transport_common ${P_DEPENDS})
  set_target_properties(${target} PROPERTIES PREFIX "" OUTPUT_NAME tessera_${P_NAME}
    LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib/tessera/transports INSTALL_RPATH ""
    C_VISIBILITY_PRESET hidden CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
  if(NOT TESSERA_SANITIZE)
    target_link_options(${target} PRIVATE -Wl,-z,defs)
  endif()
  tessera_plugin_sanitizer(${target})
  install(TARGETS ${target} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/tessera/transports COMPONENT runtime)
endfunction()

# tessera_quick_to_compile(SOURCE...): not optimised under the sanitizers, where such code takes longer to compile than to run: test
# bodies, options of commands. With no SOURCE, all of TARGET, which can then be joined (cmake/TesseraUnity.cmake).
function(tessera_quick_to_compile)
  cmake_parse_arguments(Q "" "TARGET" "" ${ARGN})
  if(NOT TESSERA_SANITIZE)
    return()
  endif()
  if(Q_TARGET)
    target_compile_options(${Q_TARGET} PRIVATE -O0)
  else()
    set_property(SOURCE ${Q_UNPARSED_ARGUMENTS} APPEND PROPERTY COMPILE_OPTIONS -O0)
  endif()
endfunction()

# tessera_untimed(TARGET): what reads options and files and writes reports, and does nothing that anybody times: in release it is
# optimised a little, which takes two thirds of the time to compile.
function(tessera_untimed target)
  target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-O1>)
endfunction()

# tessera_compile_alone(SOURCE...): never joined with other sources (cmake/TesseraUnity.cmake). The call says why. A source that
# includes a table under macros of its own, or a header in a namespace of its own, has a reason; of two helpers of one name, one
# gets a better name.
function(tessera_compile_alone)
  set_property(SOURCE ${ARGN} PROPERTY SKIP_UNITY_BUILD_INCLUSION ON)
endfunction()

# Whether tests and programs whose threads are all the runtime's are left to tests/nightly.
if(TESSERA_SANITIZE STREQUAL "thread" AND NOT TESSERA_NIGHTLY)
  set(TESSERA_OWN_THREADS_ONLY ON)
endif()

# tessera_single_threaded(TEST): a test of its program's name starts no thread. It has the label single_threaded, which is left out under the thread
# sanitizer, and ends if it starts one all the same (tests/support/no_threads.c; sanitizers want to be the first library).
function(tessera_single_threaded test)
  get_test_property(${test} LABELS labels)
  set_tests_properties(${test} PROPERTIES LABELS "${labels};single_threaded")
  if(TESSERA_SANITIZE)
    return()
  endif()
  if(NOT TARGET no_threads)
    add_library(no_threads MODULE ${PROJECT_SOURCE_DIR}/tests/support/no_threads.c)
    target_link_libraries(no_threads PRIVATE tessera_flags)
    set_target_properties(no_threads PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests/support)
  endif()
  add_dependencies(${test} no_threads)
  set_property(TEST ${test} APPEND PROPERTY ENVIRONMENT LD_PRELOAD=$<TARGET_FILE:no_threads>)
endfunction()

# tessera_test(NAME unit_base SOURCES ... DEPENDS ... [LABELS ...] [SINGLE_THREADED] [TASKS_ALONE] [COMPUTES]): a GoogleTest
# binary, one ctest entry per binary. SINGLE_THREADED: it starts no thread, so under the thread sanitizer `all` does not build it and
# ctest does not know it. TASKS_ALONE: its threads are the runtime's, which has tests of its own: nor that, but for tests/nightly.
# A test's own code is compiled more often than it runs, so it is not optimised, unless it COMPUTES for long. The
# undefined-behaviour sanitizer, which takes a quarter of the time to compile one, looks at it in
# tests/nightly alone, where reports of sanitizers have its lines too. ctest begins tests of longer TIMEOUT first, so that none is left at the end.
function(tessera_test)
  cmake_parse_arguments(T "SINGLE_THREADED;TASKS_ALONE;COMPUTES" "NAME;TIMEOUT" "SOURCES;DEPENDS;LABELS" ${ARGN})
  add_executable(${T_NAME} ${T_SOURCES})
  target_link_libraries(${T_NAME} PRIVATE tessera_flags tessera GTest::gmock GTest::gtest GTest::gtest_main ${T_DEPENDS})
  target_include_directories(${T_NAME} PRIVATE ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/tests)
  target_compile_definitions(${T_NAME} PRIVATE
    TESSERA_SOURCE_DIR="${PROJECT_SOURCE_DIR}" TESSERA_BINARY_DIR="${PROJECT_BINARY_DIR}"
    TESSERA_PLUGIN_DIR="${PROJECT_BINARY_DIR}/lib/tessera/plugins")
  if(T_COMPUTES)
    tessera_untimed(${T_NAME})
  else()
    target_compile_options(${T_NAME} PRIVATE $<$<CONFIG:Release>:-O0>)
    tessera_quick_to_compile(TARGET ${T_NAME})
  endif()
  if(TESSERA_SANITIZE AND NOT TESSERA_NIGHTLY)
    target_compile_options(${T_NAME} PRIVATE -g0 $<$<STREQUAL:${TESSERA_SANITIZE},address>:-fno-sanitize=undefined>)
  endif()
  if((T_SINGLE_THREADED AND TESSERA_SANITIZE STREQUAL "thread") OR (T_TASKS_ALONE AND TESSERA_OWN_THREADS_ONLY))
    set_target_properties(${T_NAME} PROPERTIES EXCLUDE_FROM_ALL ON)
    return()
  endif()
  add_test(NAME ${T_NAME} COMMAND ${T_NAME})
  if(NOT T_TIMEOUT)
    set(T_TIMEOUT 300)
  endif()
  set_tests_properties(${T_NAME} PROPERTIES COST ${T_TIMEOUT})
  if(TESSERA_SANITIZE)
    math(EXPR T_TIMEOUT "2 * ${T_TIMEOUT}")
  endif()
  set_tests_properties(${T_NAME} PROPERTIES TIMEOUT ${T_TIMEOUT} LABELS "${T_LABELS}")
  if(T_SINGLE_THREADED)
    tessera_single_threaded(${T_NAME})
  endif()
endfunction()

# tessera_opencl_test(TEST ...): tests that compile OpenCL kernels share what is compiled, also between presets; what drivers leak is theirs.
function(tessera_opencl_test)
  set(cache ${PROJECT_BINARY_DIR}/opencl_cache)
  if(cache MATCHES "^${PROJECT_SOURCE_DIR}/build/[^/]+/opencl_cache$")
    set(cache ${PROJECT_SOURCE_DIR}/build/opencl_cache)
  endif()
  set_property(TEST ${ARGN} APPEND PROPERTY ENVIRONMENT "XDG_CACHE_HOME=${cache}" "POCL_CACHE_DIR=${cache}/pocl"
    "LSAN_OPTIONS=suppressions=${PROJECT_SOURCE_DIR}/tests/suppressions/leaks.txt:print_suppressions=0")
endfunction()

# tessera_test_part(NAME PART FILTER): the parts of a test that match the filter become the test NAME_PART: they have a process of their own.
function(tessera_test_part name part filter)
  get_property(parts GLOBAL PROPERTY tessera_parts_of_${name})
  list(APPEND parts ${filter})
  set_property(GLOBAL PROPERTY tessera_parts_of_${name} ${parts})
  list(JOIN parts ":" others)
  set_property(TEST ${name} APPEND PROPERTY ENVIRONMENT "GTEST_FILTER=-${others}")  # the last one counts
  add_test(NAME ${name}_${part} COMMAND ${name} --gtest_filter=${filter})
  get_test_property(${name} LABELS labels)
  get_test_property(${name} TIMEOUT timeout)
  set_tests_properties(${name}_${part} PROPERTIES TIMEOUT ${timeout} LABELS "${labels}")
endfunction()

# tessera_test_on_opencl(NAME): where the plugin opencl can be tested, the test compiles with TESSERA_TEST_OPENCL, and its parts with
# "opencl" in their names become the test NAME_opencl: drivers that bring a compiler have a process of their own. The
# sanitizers do not see into drivers: under them by tests/nightly, under the thread sanitizer for unit tests alone.
function(tessera_test_on_opencl name)
  if(NOT TESSERA_OPENCL_TESTED OR NOT TEST ${name} OR (TESSERA_SANITIZE AND NOT TESSERA_NIGHTLY) OR
     (TESSERA_SANITIZE STREQUAL "thread" AND NOT name MATCHES "^unit_"))
    return()
  endif()
  add_dependencies(${name} plugin_opencl)
  target_compile_definitions(${name} PRIVATE TESSERA_TEST_OPENCL)
  tessera_test_part(${name} opencl *opencl*)
  set_tests_properties(${name}_opencl PROPERTIES TIMEOUT 600)
  tessera_opencl_test(${name}_opencl)
endfunction()
