# macOS on `zig_target`'s processor, from Linux, by zig's clang and its list of what macOS's C library has: programs are linked, and
# cannot be run here. No libc++ is compiled for it: libc++.tbd lists what the command needs of the one that macOS has.
set(CMAKE_SYSTEM_NAME Darwin)
set(CMAKE_OSX_SYSROOT "" CACHE STRING "zig has its own")
set(CMAKE_INSTALL_NAME_TOOL true) # which Linux lacks, and installing wants
set(CMAKE_EXE_LINKER_FLAGS_INIT "-nostdlib++ ${CMAKE_CURRENT_LIST_DIR}/libc++.tbd")
include(${CMAKE_CURRENT_LIST_DIR}/zig.cmake)
