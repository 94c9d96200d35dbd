# Linux with musl in place of glibc, from Debian: by zig's clang, which brings musl and a C++ library for it. It comes from
# PyPI (pip install --target build/zig ziglang==0.17.1), or ZIG in the environment names it. Programs are static, and run here.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR x86_64)
set(zig $ENV{ZIG})
if(NOT zig)
  cmake_path(SET zig NORMALIZE ${CMAKE_CURRENT_LIST_DIR}/../../build/zig/ziglang/zig)
endif()
set(CMAKE_C_COMPILER ${zig} cc)
set(CMAKE_CXX_COMPILER ${zig} c++)
set(CMAKE_C_COMPILER_TARGET x86_64-linux-musl)
set(CMAKE_CXX_COMPILER_TARGET x86_64-linux-musl)
set(ENV{PKG_CONFIG_LIBDIR} /nowhere) # the libraries of this system are glibc's
