# The GPU plugins: one source (plugins/gpu_common), compiled once per vendor.

set(TESSERA_GPU_SOURCES settings.cpp stream_state.cpp stream.cpp memory.cpp work.cpp tables.cpp device.cpp plugin.cpp)
list(TRANSFORM TESSERA_GPU_SOURCES PREPEND ${PROJECT_SOURCE_DIR}/plugins/gpu_common/)
set(TESSERA_GPU_KERNELS fill.cu multiply.cu permute.cu triangle.cu vector.cu)
list(TRANSFORM TESSERA_GPU_KERNELS PREPEND ${PROJECT_SOURCE_DIR}/plugins/gpu_common/kernels/)

# tessera_gpu_plugin(NAME cuda SOURCES ... [KERNEL_OBJECTS ...] [DEPENDS ...] [DEFINES ...]): a plugin of the sources above and
# its own. Its folder holds gpu_vendor.hpp. Without KERNEL_OBJECTS the kernels are compiled as C++, for the emulator.
function(tessera_gpu_plugin)
  cmake_parse_arguments(G "" "NAME" "SOURCES;KERNEL_OBJECTS;DEPENDS;DEFINES" ${ARGN})
  set(kernels ${G_KERNEL_OBJECTS})
  if(NOT kernels)
    set(kernels ${TESSERA_GPU_KERNELS})
    set_source_files_properties(${kernels} PROPERTIES LANGUAGE CXX COMPILE_OPTIONS "-xc++")
  endif()
  tessera_plugin(NAME ${G_NAME} SOURCES ${G_SOURCES} ${TESSERA_GPU_SOURCES} ${kernels} DEPENDS plugins_common ${G_DEPENDS})
  target_include_directories(plugin_${G_NAME} PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})
  target_compile_definitions(plugin_${G_NAME} PRIVATE ${G_DEFINES})
  # OpenBLAS comes with plugins_common; a GPU plugin uses the checks there, not the calls.
  target_link_options(plugin_${G_NAME} PRIVATE -Wl,--as-needed -Wl,-z,nodelete)
endfunction()
