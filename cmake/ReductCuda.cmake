# CUDA kernels, compiled ahead of time where there is an nvcc and embedded into programs as arrays; the CUDA language of
# CMake is not used, since nothing here links with CUDA: libcuda is opened at run time.
#
#   REDUCT_CUDA                 ON: there must be an nvcc; OFF: no kernels; AUTO (the default): kernels where there is one; HERE: and a
#                               GPU that can run them
#   REDUCT_CUDA_ARCHITECTURES   compute capabilities to make machine code for, as 75;80;90; PTX of the last one besides,
#                               for devices that are newer still; 75-virtual: PTX alone. Fewer build faster: by default those of the GPUs of this
#                               machine; where it has none 75;80;90;120, as far as nvcc knows them, which serve all
#   REDUCT_CUDA_BRIEFLY         ON: where that default is for a machine without a GPU, PTX of 7.5 and 9.0 alone instead, in a fifth of
#                               the time. It serves as many devices, but each user's driver compiles it once, which takes seconds,
#                               and those of 8.0 to 8.9 go without the few instructions that kernels use beyond 7.5's
#   REDUCT_CUDA_FEW_PEERS       ON: what benchmarks compare with is compiled for few types, and not optimised: to see whether it compiles
#   REDUCT_NVCC                 the compiler
#
# Sets REDUCT_HAS_NVCC. Defines reduct_cuda_embed() and reduct_cuda_plugin().

set(REDUCT_CUDA AUTO CACHE STRING "Build CUDA kernels: ON, OFF, AUTO (where nvcc is found), or HERE (where a GPU is, too)")
set_property(CACHE REDUCT_CUDA PROPERTY STRINGS AUTO HERE ON OFF)

include_guard(GLOBAL)
set(REDUCT_CUDA_ARCHITECTURES "" CACHE STRING "Compute capabilities to build kernels for; empty: as the machine is")
option(REDUCT_CUDA_FEW_PEERS "Build what benchmarks compare with for few types, as it takes minutes for all" OFF)
option(REDUCT_CUDA_BRIEFLY "Build PTX alone where there is no GPU and no architecture is asked for" OFF)

set(REDUCT_HAS_NVCC OFF)
foreach(architecture IN LISTS REDUCT_CUDA_ARCHITECTURES)
  if(NOT architecture MATCHES "^[0-9]+(-virtual)?$")
    message(FATAL_ERROR "REDUCT_CUDA_ARCHITECTURES has '${architecture}': expected compute capabilities such as 75;90 or 75-virtual")
  endif()
endforeach()
if(REDUCT_CUDA MATCHES "^(AUTO|HERE)$" OR REDUCT_CUDA)
  find_program(REDUCT_NVCC nvcc HINTS ENV CUDA_HOME ENV CUDA_PATH /usr/local/cuda PATH_SUFFIXES bin
               DOC "NVIDIA's compiler for CUDA kernels")
  if(REDUCT_NVCC)
    execute_process(COMMAND ${REDUCT_NVCC} --version
      RESULT_VARIABLE result OUTPUT_VARIABLE reduct_nvcc_version ERROR_VARIABLE reduct_nvcc_said)
    if(result EQUAL 0 AND reduct_nvcc_version MATCHES "release ([0-9]+\\.[0-9]+)")
      set(REDUCT_HAS_NVCC ON)
      set(REDUCT_CUDA_VERSION "${CMAKE_MATCH_1}")
    elseif(REDUCT_CUDA MATCHES "^(AUTO|HERE)$")
      message(WARNING "CUDA kernels: none, as ${REDUCT_NVCC} does not say its release (${result}): ${reduct_nvcc_version}${reduct_nvcc_said}")
    else()
      message(FATAL_ERROR "REDUCT_CUDA is ON, but ${REDUCT_NVCC} does not say its release (${result}): ${reduct_nvcc_version}${reduct_nvcc_said}")
    endif()
  elseif(NOT REDUCT_CUDA MATCHES "^(AUTO|HERE)$")
    message(FATAL_ERROR "REDUCT_CUDA is ON, but nvcc was not found: set REDUCT_NVCC, or CUDA_HOME")
  endif()
endif()

# The compute capabilities of this machine's GPUs, if there are any and nvcc knows all of them.
function(reduct_cuda_here codes name)
  set(${name} "" PARENT_SCOPE)
  find_program(REDUCT_NVIDIA_SMI nvidia-smi DOC "Says which GPUs are here")
  mark_as_advanced(REDUCT_NVIDIA_SMI)
  if(NOT REDUCT_NVIDIA_SMI)
    return()
  endif()
  execute_process(COMMAND ${REDUCT_NVIDIA_SMI} --query-gpu=compute_cap --format=csv,noheader
    RESULT_VARIABLE result OUTPUT_VARIABLE text ERROR_QUIET)
  string(REGEX MATCHALL "[0-9]+\\.[0-9]+" capabilities "${text}")
  if(result OR NOT capabilities)
    return()
  endif()
  set(found "")
  foreach(capability IN LISTS capabilities)
    string(REPLACE "." "" architecture ${capability})
    if(architecture LESS 75 OR NOT "${codes}" MATCHES "sm_${architecture}[^0-9a-z]")
      return()
    endif()
    list(APPEND found ${architecture})
  endforeach()
  list(REMOVE_DUPLICATES found)
  list(SORT found COMPARE NATURAL)
  message(STATUS "CUDA kernels: for this machine's GPUs; -DREDUCT_CUDA_ARCHITECTURES='75;80;90;120' makes them for others, too")
  set(${name} ${found} PARENT_SCOPE)
endfunction()

if(REDUCT_HAS_NVCC)
  execute_process(COMMAND ${REDUCT_NVCC} --list-gpu-code OUTPUT_VARIABLE reduct_nvcc_codes)
  if(NOT REDUCT_CUDA_ARCHITECTURES)
    reduct_cuda_here("${reduct_nvcc_codes}" reduct_nvcc_targets)
  endif()
  if(NOT REDUCT_CUDA_ARCHITECTURES AND NOT reduct_nvcc_targets)
    # 8.6 to 8.9 run what is for 8.0. For 10.0 and 11.0, which few have, the driver compiles the PTX of 9.0, once for each
    # user: machine code takes a fifth longer to build.
    set(reduct_nvcc_likely 75 80 90 120)
    if(REDUCT_CUDA STREQUAL "HERE")
      set(REDUCT_HAS_NVCC OFF)
      set(reduct_nvcc_likely "")
    elseif(REDUCT_CUDA_BRIEFLY)
      set(reduct_nvcc_likely 75 90)
    endif()
    foreach(architecture IN LISTS reduct_nvcc_likely)
      if("${reduct_nvcc_codes}" MATCHES "sm_${architecture}[^0-9a-z]")
        list(APPEND reduct_nvcc_targets ${architecture})
      endif()
    endforeach()
    if(REDUCT_HAS_NVCC AND REDUCT_CUDA_BRIEFLY)
      list(TRANSFORM reduct_nvcc_targets APPEND -virtual)
      message(STATUS "CUDA kernels: as PTX alone; REDUCT_CUDA_BRIEFLY=OFF makes machine code")
    endif()
  endif()
  if(NOT REDUCT_CUDA_ARCHITECTURES)
    set(REDUCT_CUDA_ARCHITECTURES ${reduct_nvcc_targets}) # not kept: another machine, or a GPU in this one, wants others
  endif()
endif()
if(REDUCT_HAS_NVCC)
  message(STATUS "CUDA kernels: built with nvcc ${REDUCT_CUDA_VERSION} for ${REDUCT_CUDA_ARCHITECTURES}")
elseif(REDUCT_NVCC AND REDUCT_CUDA STREQUAL "HERE")
  message(STATUS "CUDA kernels: none, as no GPU is here that they could be made for; REDUCT_CUDA=AUTO makes them for others")
elseif(REDUCT_CUDA MATCHES "^(AUTO|HERE)$")
  message(STATUS "CUDA kernels: none, as no nvcc that runs was found (REDUCT_NVCC names it)")
else()
  message(STATUS "CUDA kernels: none, as REDUCT_CUDA is ${REDUCT_CUDA}")
endif()

# Adds to `target` a table of kernels, `const rd_cuda_image name[]` (see drivers/cuda.h), one image per source, named
# after its file and folder: SOURCES halving.cu specimens/maximum.cu make images "halving" and "specimens/maximum".
# Without nvcc the table is empty. What ptxas says about registers and spills is kept beside the objects, *.ptxas.
# A source with the property REDUCT_CUDA_LEAST is compiled for that compute capability and later ones only. One with
# REDUCT_CUDA_MAINLY gets machine code for those of the capabilities asked for, and PTX for all others. The target's
# property REDUCT_CUDA_SOURCES lists the sources, with or without nvcc. They are compiled in the order in which they are listed.
#
#   reduct_cuda_embed(target TABLE name SOURCES a.cu b.cu ...)
function(reduct_cuda_embed target)
  cmake_parse_arguments(arg "" "TABLE" "SOURCES" ${ARGN})
  foreach(source IN LISTS arg_SOURCES)
    cmake_path(ABSOLUTE_PATH source)
    set_property(TARGET ${target} APPEND PROPERTY REDUCT_CUDA_SOURCES ${source})
  endforeach()
  set(declarations "")
  set(rows "")
  if(REDUCT_HAS_NVCC)
    set(place 100)
    foreach(source IN LISTS arg_SOURCES)
      reduct_cuda_compile(${target} ${arg_TABLE} ${source} ${place})
      math(EXPR place "${place} + 1")
    endforeach()
  endif()
  set(table ${CMAKE_CURRENT_BINARY_DIR}/${arg_TABLE}.c)
  file(CONFIGURE OUTPUT ${table} CONTENT [[/* Made by cmake/ReductCuda.cmake. */
#include "drivers/cuda.h"

@declarations@
extern const rd_cuda_image @arg_TABLE@[];
const rd_cuda_image @arg_TABLE@[] = {
@rows@    {0},
};
]] @ONLY)
  target_sources(${target} PRIVATE ${table})
  set_property(SOURCE ${table} APPEND PROPERTY INCLUDE_DIRECTORIES ${PROJECT_SOURCE_DIR})
endfunction()

# The name of a source's image.
function(reduct_cuda_image source name)
  cmake_path(GET source STEM LAST_ONLY stem)
  cmake_path(GET source PARENT_PATH folder)
  cmake_path(GET folder FILENAME folder)
  cmake_path(APPEND folder ${stem} OUTPUT_VARIABLE image)
  set(${name} ${image} PARENT_SCOPE)
endfunction()

# What one of REDUCT_CUDA_ARCHITECTURES asks for: the capability, whether PTX alone, and the virtual architecture that code for it is
# made from: kernels use nothing that came between these, and what architectures share is compiled to PTX once.
function(reduct_cuda_virtual architecture capability ptx_alone virtual)
  string(REGEX MATCH "^[0-9]+" number ${architecture})
  set(made_from ${number})
  foreach(step 80 90)
    if(number GREATER_EQUAL step)
      set(made_from ${step})
    endif()
  endforeach()
  set(is_virtual OFF)
  if(architecture MATCHES "-virtual$")
    set(is_virtual ON)
  endif()
  set(${capability} ${number} PARENT_SCOPE)
  set(${ptx_alone} ${is_virtual} PARENT_SCOPE)
  set(${virtual} ${made_from} PARENT_SCOPE)
endfunction()

# One source: adds its array to the target, and a line to each of the caller's `declarations` and `rows`. Its place is part
# of the file's name, since make takes what is generated in the order of names.
function(reduct_cuda_compile target table source place)
  get_property(least SOURCE ${source} PROPERTY REDUCT_CUDA_LEAST)
  get_property(mainly SOURCE ${source} PROPERTY REDUCT_CUDA_MAINLY)
  set(codes "")
  set(portable "")
  set(newest "")
  foreach(architecture IN LISTS REDUCT_CUDA_ARCHITECTURES)
    reduct_cuda_virtual(${architecture} capability ptx_alone virtual)
    if(NOT least OR capability GREATER_EQUAL least)
      if(NOT mainly OR capability IN_LIST mainly)
        if(ptx_alone)
          list(APPEND portable ${virtual})
        else()
          list(APPEND codes "-gencode=arch=compute_${virtual},code=sm_${capability}")
        endif()
      elseif(NOT portable)
        set(portable ${virtual}) # the first that lacks machine code, and later ones
      endif()
      set(newest ${virtual})
    endif()
  endforeach()
  if(NOT newest)
    return()
  endif()
  list(APPEND portable ${newest})
  list(REMOVE_DUPLICATES portable)
  foreach(architecture IN LISTS portable)
    list(APPEND codes "-gencode=arch=compute_${architecture},code=compute_${architecture}")
  endforeach()
  cmake_path(ABSOLUTE_PATH source OUTPUT_VARIABLE path)
  reduct_cuda_image(${source} image)
  string(MAKE_C_IDENTIFIER "${table}_${image}" symbol)
  set(output ${CMAKE_CURRENT_BINARY_DIR}/kernels_${place}_${symbol})
  # Fused multiply-add would change what exact code and comparisons with it compute.
  set(flags -std=c++17 -O3 -fmad=false -I${PROJECT_SOURCE_DIR}/src -I${PROJECT_SOURCE_DIR}/include ${codes}
            -Xfatbin -compress-all)
  add_custom_command(
    OUTPUT ${output}.c
    COMMAND ${CMAKE_COMMAND} "-DNVCC=${REDUCT_NVCC}" "-DFLAGS=${flags}" -DSOURCE=${path} -DSYMBOL=${symbol}
            -DOUTPUT=${output} -P ${PROJECT_SOURCE_DIR}/cmake/EmbedKernels.cmake
    DEPENDS ${path} ${PROJECT_SOURCE_DIR}/cmake/EmbedKernels.cmake
    DEPFILE ${output}.d
    COMMENT "Compiling kernels ${image}"
    VERBATIM)
  target_sources(${target} PRIVATE ${output}.c)
  if(NOT least)
    set(least 0)
  endif()
  set(declarations "${declarations}extern const uint64_t ${symbol}[];\n" PARENT_SCOPE)
  set(rows "${rows}    {\"${image}\", ${symbol}, ${least}},\n" PARENT_SCOPE)
endfunction()

# Architectures as options of nvcc, for programs and shared objects that hold their kernels themselves: from 8.0 on, with PTX for
# those between and after.
function(reduct_cuda_codes result)
  set(codes)
  foreach(architecture IN LISTS REDUCT_CUDA_ARCHITECTURES)
    reduct_cuda_virtual(${architecture} capability ptx_alone virtual)
    if(virtual GREATER_EQUAL 80 AND ptx_alone)
      list(APPEND codes -gencode=arch=compute_${virtual},code=compute_${virtual})
    elseif(virtual GREATER_EQUAL 80)
      list(APPEND codes -gencode=arch=compute_${virtual},code=[sm_${virtual},compute_${virtual}])
    endif()
  endforeach()
  list(REMOVE_DUPLICATES codes)
  set(${result} ${codes} PARENT_SCOPE)
endfunction()

# Builds a shared object from one source that uses CUB or Thrust: NAME.so in the build's folder, which programs load if it
# lies beside them (gpu/plugin.h). Nothing where there is no nvcc. Those libraries pick their tuning by the architecture
# that their code was compiled for, so machine code for the one at hand matters; but it takes long to compile. Two
# architectures, and their PTX for those between and after.
#
# As it takes long, and nothing but benchmarks wants it, a build makes it only with its tests, so that these compile it; the
# target `peers` builds all of them.
#
#   REDUCT_CCCL   a checkout of NVIDIA's CCCL whose CUB and Thrust are used, instead of those of nvcc's toolkit
#
#   reduct_cuda_plugin(name SOURCE a.cu DEPENDS a.h ...)
function(reduct_cuda_plugin name)
  cmake_parse_arguments(arg "" "SOURCE" "DEPENDS" ${ARGN})
  set(REDUCT_CCCL "" CACHE PATH "Checkout of NVIDIA's CCCL to measure, instead of the CUDA toolkit's")
  if(NOT REDUCT_HAS_NVCC)
    return()
  endif()
  set(includes)
  if(REDUCT_CCCL)
    if(NOT EXISTS ${REDUCT_CCCL}/cub/cub/device/device_reduce.cuh)
      message(FATAL_ERROR "REDUCT_CCCL is ${REDUCT_CCCL}, which has no cub/cub/device/device_reduce.cuh: expected a "
                          "checkout of NVIDIA's CCCL")
    endif()
    foreach(folder cub thrust libcudacxx/include)
      list(APPEND includes -I${REDUCT_CCCL}/${folder})
    endforeach()
  endif()
  reduct_cuda_codes(codes)
  set(how -O3)
  if(REDUCT_CUDA_FEW_PEERS)
    set(how -O0 -DGPU_PEERS_FEW)
  endif()
  set(plugin ${PROJECT_BINARY_DIR}/${name}.so)
  set(options ${CMAKE_CURRENT_BINARY_DIR}/${name}.options) # so that other options compile it again
  file(CONFIGURE OUTPUT ${options} CONTENT "${how} ${includes} ${codes}\n" @ONLY)
  add_custom_command(
    OUTPUT ${plugin}
    COMMAND ${REDUCT_NVCC} -std=c++17 ${how} ${includes} ${codes} -shared -cudart static
            -Xcompiler=-fPIC,-fvisibility=hidden ${CMAKE_CURRENT_SOURCE_DIR}/${arg_SOURCE} -o ${plugin}
    DEPENDS ${arg_SOURCE} ${arg_DEPENDS} ${options}
    COMMENT "Compiling ${name}.so"
    VERBATIM)
  set(all "")
  if(REDUCT_BUILD_TESTS)
    set(all ALL)
  endif()
  add_custom_target(${name} ${all} DEPENDS ${plugin})
  add_dependencies(peers ${name})
endfunction()
