# libtessera: all rooms of core and hierarchy in one shared library.
get_property(_rooms GLOBAL PROPERTY TESSERA_ROOMS)
add_library(tessera SHARED)
add_library(tessera::tessera ALIAS tessera)
foreach(_room IN LISTS _rooms)
  target_sources(tessera PRIVATE $<TARGET_OBJECTS:${_room}>)
endforeach()
target_include_directories(tessera PUBLIC
  $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}>
  $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/core/plugin/abi>
  $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
  $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
target_compile_features(tessera PUBLIC cxx_std_20)
# Installed headers need the standard library and threads alone; a test holds them to it.
target_link_libraries(tessera PUBLIC Threads::Threads $<BUILD_INTERFACE:fmt::fmt>
  PRIVATE PkgConfig::libcrypto PkgConfig::hwloc spdlog::spdlog ${CMAKE_DL_LIBS})
# Calls within the library go straight to its own functions instead of through a table that programs could change.
if(NOT TESSERA_SANITIZE)
  target_link_options(tessera PRIVATE -Wl,-Bsymbolic-functions)
endif()
# Stays loaded: threads that end call back into it (core/plugin/attachments.cpp).
target_link_options(tessera PRIVATE -Wl,-z,nodelete)
# Before version 1 every minor version may break the C++ interface, so the soname carries it.
if(PROJECT_VERSION_MAJOR EQUAL 0)
  set(TESSERA_SOVERSION 0.${PROJECT_VERSION_MINOR})
else()
  set(TESSERA_SOVERSION ${PROJECT_VERSION_MAJOR})
endif()
set_target_properties(tessera PROPERTIES VERSION ${PROJECT_VERSION} SOVERSION ${TESSERA_SOVERSION} INSTALL_RPATH "")
