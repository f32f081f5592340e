# The GPU plugins: one source (plugins/gpu_common), compiled once for each runtime that is there: the emulator's, NVIDIA's,
# AMD's. A plugin is such a library and a source that names it.

set(TESSERA_CUDA AUTO CACHE STRING "The plugin cuda: AUTO (where CUDA is found), ON, OFF")
set_property(CACHE TESSERA_CUDA PROPERTY STRINGS AUTO ON OFF)
set(TESSERA_CUDA_ARCHITECTURES "80-real;90-real;90-virtual" CACHE STRING "What the plugin cuda is compiled for (CUDA_ARCHITECTURES)")

set(TESSERA_HIP AUTO CACHE STRING "The plugins hip (where hipcc is found) and hip_nvidia (where cuda is built): AUTO, ON, OFF")
set_property(CACHE TESSERA_HIP PROPERTY STRINGS AUTO ON OFF)
set(TESSERA_HIP_ARCHITECTURES "gfx90a;gfx1030" CACHE STRING "What the plugin hip is compiled for")

set(TESSERA_GPU_SOURCES libraries/dense.cpp libraries/dialects.cpp libraries/run_time_compiler.cpp libraries/sensors.cpp libraries/sensors_nvml.cpp libraries/sensors_rocm.cpp libraries/shared_library.cpp libraries/sparse.cpp libraries/workspace_sizes.cpp abi/graph.cpp abi/settings.cpp abi/stream_state.cpp abi/stream.cpp abi/telemetry.cpp abi/memory.cpp abi/kept_memory.cpp abi/bus.cpp abi/ipc.cpp abi/modules.cpp abi/copies.cpp abi/tables.cpp abi/sparse.cpp abi/sparse_index.cpp kernels/triangular.cpp abi/device.cpp abi/plugin.cpp)
list(TRANSFORM TESSERA_GPU_SOURCES PREPEND ${PROJECT_SOURCE_DIR}/plugins/gpu_common/)
set(TESSERA_GPU_KERNELS fill.cu multiply.cu permute.cu reduce.cu sparse.cu triangle.cu vector.cu)
list(TRANSFORM TESSERA_GPU_KERNELS PREPEND kernels/)

# tessera_gpu_runtime(NAME emulated SOURCES ... KERNELS ... DEPENDS ...): the object library gpu_<name>. KERNELS are their objects.
function(tessera_gpu_runtime)
  cmake_parse_arguments(G "" "NAME" "SOURCES;KERNELS;DEPENDS" ${ARGN})
  set(target gpu_${G_NAME})
  add_library(${target} OBJECT ${TESSERA_GPU_SOURCES} ${G_SOURCES})
  target_include_directories(${target} PUBLIC ${PROJECT_SOURCE_DIR}/plugins)
  target_link_libraries(${target} PRIVATE tessera_flags PUBLIC plugins_kit ${G_DEPENDS})
  target_sources(${target} INTERFACE ${G_KERNELS})
  set_target_properties(${target} PROPERTIES CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
endfunction()

# tessera_gpu_plugin(NAME cuda RUNTIME nvidia SOURCES ...): a plugin on gpu_<runtime>. SOURCES have its identity, or with OWN_HEADER
# its header.
function(tessera_gpu_plugin)
  cmake_parse_arguments(G "OWN_HEADER" "NAME;RUNTIME" "SOURCES" ${ARGN})
  if(NOT G_OWN_HEADER)
    list(APPEND G_SOURCES ${PROJECT_SOURCE_DIR}/plugins/gpu_common/abi/header.cpp)
  endif()
  tessera_plugin(NAME ${G_NAME} SOURCES ${G_SOURCES} DEPENDS gpu_${G_RUNTIME})
  # OpenBLAS comes with plugins_kit; a GPU plugin uses the checks there, not the calls.
  target_link_options(plugin_${G_NAME} PRIVATE -Wl,--as-needed -Wl,-z,nodelete)
  set_target_properties(plugin_${G_NAME} PROPERTIES LINKER_LANGUAGE CXX)
endfunction()

# tessera_gpu_wanted(OPTION out_wanted out_reason): whether to look for a vendor's compiler at all.
function(tessera_gpu_wanted option wanted reason)
  set(${wanted} TRUE PARENT_SCOPE)
  if(${option} STREQUAL "OFF")
    set(${wanted} FALSE PARENT_SCOPE)
    set(${reason} "${option} is OFF" PARENT_SCOPE)
  elseif(NOT ${option} STREQUAL "AUTO" AND NOT ${option} STREQUAL "ON")
    message(FATAL_ERROR "${option} is '${${option}}'; expected AUTO, ON or OFF")
  elseif(TESSERA_SANITIZE OR TESSERA_COVERAGE)
    if(${option} STREQUAL "ON")
      message(FATAL_ERROR "${option} is ON, but vendors' compilers know nothing of sanitizers and of coverage; leave it at AUTO")
    endif()
    set(${wanted} FALSE PARENT_SCOPE)
    set(${reason} "not with sanitizers or coverage, which vendors' compilers do not know" PARENT_SCOPE)
  endif()
endfunction()

# tessera_gpu_absent(OPTION part reason): reports a part that is left out, or stops where it was asked for.
function(tessera_gpu_absent option part reason)
  if(${option} STREQUAL "ON")
    message(FATAL_ERROR "${option} is ON, but ${reason}")
  endif()
  tessera_part("${part}" FALSE "${reason}")
endfunction()
