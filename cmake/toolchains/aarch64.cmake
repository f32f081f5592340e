# Compiles for AArch64 on another machine (Debian: g++-aarch64-linux-gnu), against the tree of packages that TESSERA_AARCH64_ROOT names;
# tests run under qemu-user. tests/aarch64/run.sh makes such a tree and calls this.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
set(CMAKE_Fortran_COMPILER CMAKE_Fortran_COMPILER-NOTFOUND)  # this machine's would be found, which compiles for it

set(TESSERA_AARCH64_ROOT "" CACHE PATH "Tree with the arm64 packages of cmake/debian_packages.txt")
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES TESSERA_AARCH64_ROOT)
if(NOT EXISTS "${TESSERA_AARCH64_ROOT}/usr/lib/aarch64-linux-gnu")
  message(FATAL_ERROR "TESSERA_AARCH64_ROOT is '${TESSERA_AARCH64_ROOT}', where there is no usr/lib/aarch64-linux-gnu; tests/aarch64/run.sh makes one")
endif()
set(_libraries "${TESSERA_AARCH64_ROOT}/usr/lib/aarch64-linux-gnu")
set(CMAKE_SYSROOT "${TESSERA_AARCH64_ROOT}")
set(CMAKE_FIND_ROOT_PATH "${TESSERA_AARCH64_ROOT}")
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
# A tree whose packages were unpacked but not configured has no alternatives: OpenBLAS is where its package puts it.
set(ENV{PKG_CONFIG_SYSROOT_DIR} "${TESSERA_AARCH64_ROOT}")
set(ENV{PKG_CONFIG_LIBDIR} "${_libraries}/pkgconfig:${_libraries}/openblas-pthread/pkgconfig:${TESSERA_AARCH64_ROOT}/usr/share/pkgconfig")
set(CMAKE_EXE_LINKER_FLAGS_INIT "-Wl,-rpath-link,${_libraries}")
set(CMAKE_SHARED_LINKER_FLAGS_INIT "-Wl,-rpath-link,${_libraries}")

set(CMAKE_CROSSCOMPILING_EMULATOR "qemu-aarch64-static;-L;${TESSERA_AARCH64_ROOT}")
