# zig's clang for `zig_target`, which the toolchain that includes this has set: it brings the C library of its targets. It comes
# from PyPI (pip install --target build/zig ziglang==0.17.1), or ZIG in the environment names it.
set(zig $ENV{ZIG})
if(NOT zig)
  cmake_path(SET zig NORMALIZE ${CMAKE_CURRENT_LIST_DIR}/../../build/zig/ziglang/zig)
endif()
set(CMAKE_C_COMPILER ${zig} cc)
set(CMAKE_CXX_COMPILER ${zig} c++)
set(CMAKE_C_COMPILER_TARGET ${zig_target})
set(CMAKE_CXX_COMPILER_TARGET ${zig_target})
set(ENV{PKG_CONFIG_LIBDIR} /nowhere) # the libraries of this system are not the target's
# Programs that are not optimised get a sanitizer from zig, whose library it would first compile, for CMake's probes alone, of
# which the first know flags from the environment only.
set(CMAKE_TRY_COMPILE_CONFIGURATION Release)
foreach(flags CFLAGS CXXFLAGS)
  if(NOT "$ENV{${flags}}" MATCHES "-fno-sanitize=undefined")
    set(ENV{${flags}} "$ENV{${flags}} -fno-sanitize=undefined")
  endif()
endforeach()
