# Vulkan: what finds the loader at run time, and shaders, compiled to SPIR-V ahead of time and embedded as arrays.
#
#   REDUCT_VULKAN      ON: everything below must be there; OFF: no Vulkan; AUTO (the default): as far as it is there
#
# To reach devices, volk's header and source and Vulkan's headers are needed (libvulkan-volk-dev and libvulkan-dev in
# Debian): sets REDUCT_HAS_VULKAN. Without them every Vulkan device is absent. Nothing links with a loader or driver.
#
# For shaders, glslc and spirv-val (glslc, spirv-tools) compile and check GLSL, glslangValidator (glslang-tools) HLSL:
# sets REDUCT_HAS_GLSLC and REDUCT_HAS_GLSLANG. Their SPIR-V is not checked in, so that what runs is always what can be read:
# some hundred binaries would say nothing to a reviewer and could differ from their sources. Without the compilers the
# program builds, and says at run time that it has no shaders. Slang's compiler is in no distribution: its SPIR-V is checked in
# beside its sources, with their hashes, by ladder/slang/compile, and spirv-val checks it here once more.
#
# REDUCT_DXC is Microsoft's compiler of HLSL, which no Debian package has: nothing is made with it, a test compiles with it what
# is in HLSL.
#
# Defines reduct_vulkan_shaders() and reduct_vulkan_table().

set(REDUCT_VULKAN AUTO CACHE STRING "Build for Vulkan: ON, OFF, or AUTO (where volk and glslc are found)")
set_property(CACHE REDUCT_VULKAN PROPERTY STRINGS AUTO ON OFF)

set(REDUCT_HAS_VULKAN OFF)
set(REDUCT_HAS_GLSLC OFF)
set(REDUCT_HAS_GLSLANG OFF)
if(REDUCT_VULKAN STREQUAL "AUTO" OR REDUCT_VULKAN)
  find_path(REDUCT_VOLK_INCLUDE volk.c DOC "Where volk.h and volk.c are")
  find_path(REDUCT_VULKAN_INCLUDE vulkan/vulkan.h DOC "Where Vulkan's headers are")
  find_program(REDUCT_GLSLC glslc DOC "Compiles GLSL to SPIR-V")
  find_program(REDUCT_GLSLANG glslangValidator DOC "Compiles HLSL to SPIR-V")
  find_program(REDUCT_SPIRV_VAL spirv-val DOC "Checks SPIR-V")
  find_program(REDUCT_DXC dxc DOC "Microsoft's compiler of HLSL, for a test")
  set(reduct_vulkan_lacks "")
  foreach(need REDUCT_VOLK_INCLUDE REDUCT_VULKAN_INCLUDE REDUCT_GLSLC REDUCT_GLSLANG REDUCT_SPIRV_VAL)
    if(NOT ${need})
      list(APPEND reduct_vulkan_lacks ${need})
    endif()
  endforeach()
  if(reduct_vulkan_lacks AND NOT REDUCT_VULKAN STREQUAL "AUTO")
    message(FATAL_ERROR "REDUCT_VULKAN is ON, but these were not found: ${reduct_vulkan_lacks}")
  endif()
  if(REDUCT_VOLK_INCLUDE AND REDUCT_VULKAN_INCLUDE)
    set(REDUCT_HAS_VULKAN ON)
    if(REDUCT_SPIRV_VAL AND REDUCT_GLSLC)
      set(REDUCT_HAS_GLSLC ON)
    endif()
    if(REDUCT_SPIRV_VAL AND REDUCT_GLSLANG)
      set(REDUCT_HAS_GLSLANG ON)
    endif()
  endif()
endif()

if(NOT REDUCT_HAS_VULKAN)
  if(REDUCT_VULKAN STREQUAL "AUTO")
    message(STATUS "Vulkan: none, as volk.h or Vulkan's headers were not found")
  else()
    message(STATUS "Vulkan: none, as REDUCT_VULKAN is ${REDUCT_VULKAN}")
  endif()
elseif(reduct_vulkan_lacks)
  message(STATUS "Vulkan: devices, but not all shaders, as these were not found: ${reduct_vulkan_lacks}")
else()
  message(STATUS "Vulkan: with shaders, compiled by glslc and glslangValidator")
endif()
if(REDUCT_HAS_VULKAN AND REDUCT_DXC)
  message(STATUS "HLSL: compiled by ${REDUCT_DXC} besides, in a test")
elseif(REDUCT_HAS_VULKAN)
  message(STATUS "HLSL: compiled by glslangValidator alone, as dxc was not found (REDUCT_DXC)")
endif()

# Adds one source, *.comp in GLSL, *.hlsl or *.slang, to `target`, compiled once per variant. A variant is the end of its name,
# and what is defined for it: "f32_atomic:TYPE_F32,ATOMIC=1". Shader "glsl/halving_f32_atomic" is that variant of
# glsl/halving.comp, the folder being the language. In HLSL the point of entry is what the source's `#pragma kernel`
# names, as in Unity. In Slang a variant is a module that is there already, spirv/halving_f32.spv beside the source, and what
# follows are its points of entry: shader "slang/halving_f32_store" is one. DEPENDS are the files that it includes.
#
#   reduct_vulkan_shaders(target SOURCE path VARIANTS name:DEFINE,DEFINE=VALUE ... [DEPENDS path ...])
function(reduct_vulkan_shaders target)
  cmake_parse_arguments(arg "" "SOURCE" "VARIANTS;DEPENDS" ${ARGN})
  cmake_path(ABSOLUTE_PATH arg_SOURCE OUTPUT_VARIABLE path)
  cmake_path(GET path STEM LAST_ONLY stem)
  cmake_path(GET path EXTENSION LAST_ONLY extension)
  if(extension STREQUAL ".hlsl")
    set(language hlsl)
    set(has ${REDUCT_HAS_GLSLANG})
  elseif(extension STREQUAL ".slang")
    set(language slang)
    set(has ${REDUCT_HAS_GLSLC}) # which the ladder's own shaders are compiled by
  else()
    set(language glsl)
    set(has ${REDUCT_HAS_GLSLC})
  endif()
  if(NOT has)
    return()
  endif()
  string(MAKE_C_IDENTIFIER "rd_shaders_${language}_${stem}" symbol)
  set(output ${CMAKE_CURRENT_BINARY_DIR}/${symbol}.c)
  add_custom_command(
    OUTPUT ${output}
    COMMAND ${CMAKE_COMMAND} "-DGLSLC=${REDUCT_GLSLC}" "-DGLSLANG=${REDUCT_GLSLANG}" "-DSPIRV_VAL=${REDUCT_SPIRV_VAL}"
            -DLANGUAGE=${language} -DSOURCE=${path} -DSYMBOL=${symbol} "-DVARIANTS=${arg_VARIANTS}" -DOUTPUT=${output}
            -P ${PROJECT_SOURCE_DIR}/cmake/EmbedShaders.cmake
    DEPENDS ${path} ${arg_DEPENDS} ${PROJECT_SOURCE_DIR}/cmake/EmbedShaders.cmake
    COMMENT "Compiling shaders ${language}/${stem}"
    VERBATIM)
  target_sources(${target} PRIVATE ${output})
  set_property(SOURCE ${output} APPEND PROPERTY INCLUDE_DIRECTORIES ${PROJECT_SOURCE_DIR})
  set_property(TARGET ${target} APPEND PROPERTY REDUCT_SHADER_SYMBOLS ${symbol})
endfunction()

# Adds to `target` the list of all tables of shaders added to it: `const rd_vulkan_shader *const name[]` (see
# drivers/shader.h). Empty where nothing compiles shaders. Called last.
function(reduct_vulkan_table target name)
  get_property(symbols TARGET ${target} PROPERTY REDUCT_SHADER_SYMBOLS)
  set(declarations "")
  set(rows "")
  foreach(symbol IN LISTS symbols)
    string(APPEND declarations "extern const rd_vulkan_shader ${symbol}[];\n")
    string(APPEND rows "    ${symbol},\n")
  endforeach()
  set(table ${CMAKE_CURRENT_BINARY_DIR}/${name}.c)
  file(CONFIGURE OUTPUT ${table} CONTENT [[/* Made by cmake/ReductVulkan.cmake. */
#include "drivers/shader.h"

@declarations@
extern const rd_vulkan_shader *const @name@[];
const rd_vulkan_shader *const @name@[] = {
@rows@    NULL,
};
]] @ONLY)
  target_sources(${target} PRIVATE ${table})
  set_property(SOURCE ${table} APPEND PROPERTY INCLUDE_DIRECTORIES ${PROJECT_SOURCE_DIR})
endfunction()
