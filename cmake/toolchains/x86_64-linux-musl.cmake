# Linux with musl in place of glibc, from Debian: by zig's clang, which brings musl and a C++ library for it. Programs run here: the
# command, which is static, as it is, and those that load the shared library where there is musl's loader, Debian's package musl.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR x86_64)
set(zig_target x86_64-linux-musl)
include(${CMAKE_CURRENT_LIST_DIR}/zig.cmake)
