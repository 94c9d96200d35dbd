# Flags that every part of the project is compiled with, as the interface target `reduct_flags`.
#
# Exact arithmetic is destroyed by contraction and by fast-math: both are ruled out here, for all code, and the sources
# that depend on it refuse to compile under -ffast-math.

set(CMAKE_C_STANDARD 11)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_C_EXTENSIONS OFF)
set(CMAKE_CXX_STANDARD 17)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_C_VISIBILITY_PRESET hidden)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_C_FLAGS_RELEASE "-O3")
set(CMAKE_CXX_FLAGS_RELEASE "-O2")

find_package(Threads REQUIRED)

add_library(reduct_flags INTERFACE)
target_compile_definitions(reduct_flags INTERFACE _GNU_SOURCE)
target_compile_options(reduct_flags INTERFACE
  -ffp-contract=off -fno-math-errno -Wall -Wextra -Wpedantic -Wshadow -Wvla
  $<$<COMPILE_LANGUAGE:C>:-Wstrict-prototypes;-Wmissing-prototypes>)
if(REDUCT_WERROR)
  target_compile_options(reduct_flags INTERFACE -Werror)
endif()
if(REDUCT_SANITIZE)
  list(JOIN REDUCT_SANITIZE "," sanitizers)
  # Lines are what a sanitizer names; variables, which would take a sixth of the time to compile, are for a debugger.
  target_compile_options(reduct_flags INTERFACE -fsanitize=${sanitizers} -fno-sanitize-recover=all -fno-omit-frame-pointer
    $<IF:$<CONFIG:Debug>,-g,-g1>)
  target_link_options(reduct_flags INTERFACE -fsanitize=${sanitizers})
  # Programs with sanitizers are large, and lld links them in half of the time.
  if(CMAKE_C_COMPILER_ID STREQUAL Clang)
    find_program(REDUCT_LLD ld.lld)
    if(REDUCT_LLD)
      target_link_options(reduct_flags INTERFACE -fuse-ld=lld)
    endif()
  endif()
endif()
