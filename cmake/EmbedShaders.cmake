# One shader source, in all of its variants, into a C table: run by ReductVulkan.cmake with cmake -P.
#
#   GLSLC, GLSLANG, SPIRV_VAL   the compilers of GLSL and HLSL, and what checks what they made
#   LANGUAGE, SOURCE            glsl, hlsl or slang, the file
#   VARIANTS                    a list of name:DEFINE,DEFINE=VALUE; in Slang of name:entry,entry
#   SYMBOL, OUTPUT              the table's name, and the C file
#
# Vulkan 1.1 is what subgroup operations came with; asking for more gains nothing here, and glslang's HLSL is wrong there. Slang's
# modules say the size of a group by LocalSizeId, which Vulkan 1.3 allows.

# Runs a tool; what it has to say is shown where it fails, and ends the build.
function(run_tool)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE result OUTPUT_VARIABLE text ERROR_VARIABLE text)
  if(result)
    string(JOIN " " command ${ARGN})
    message(FATAL_ERROR "${command}:\n${text}")
  endif()
endfunction()

cmake_path(GET SOURCE PARENT_PATH folder)
cmake_path(GET SOURCE STEM LAST_ONLY stem)
set(entry main)
if(LANGUAGE STREQUAL "hlsl")
  file(STRINGS ${SOURCE} pragma REGEX "^#pragma kernel " LIMIT_COUNT 1)
  if(NOT pragma MATCHES "^#pragma kernel ([A-Za-z0-9_]+)")
    message(FATAL_ERROR "${SOURCE}: expected a line '#pragma kernel NAME', which names the point of entry")
  endif()
  set(entry ${CMAKE_MATCH_1})
endif()

set(byte "([0-9a-f][0-9a-f])")
set(arrays "")
set(rows "")
set(number 0)
foreach(variant IN LISTS VARIANTS)
  string(REGEX MATCH "^([^:]*):?(.*)$" variant "${variant}")
  set(end "${CMAKE_MATCH_1}")
  string(REPLACE "," ";" defines "${CMAKE_MATCH_2}")
  set(name "${LANGUAGE}/${stem}")
  if(NOT end STREQUAL "")
    string(APPEND name "_${end}")
  endif()
  set(module "${OUTPUT}.spv")
  set(environment vulkan1.1)
  if(LANGUAGE STREQUAL "slang")
    set(entries ${defines})
    set(environment vulkan1.3 --allow-localsizeid)
    file(COPY_FILE ${folder}/spirv/${stem}_${end}.spv ${module})
  else()
    list(TRANSFORM defines PREPEND "-D")
    if(LANGUAGE STREQUAL "hlsl")
      run_tool(${GLSLANG} -D -V --target-env vulkan1.1 -S comp -e ${entry} -I${folder} ${defines} ${SOURCE} -o ${module})
    else()
      run_tool(${GLSLC} --target-env=vulkan1.1 -O -Werror -fshader-stage=compute -I ${folder} ${defines} ${SOURCE} -o ${module})
    endif()
  endif()
  run_tool(${SPIRV_VAL} --target-env ${environment} ${module})
  file(READ ${module} bytes HEX)
  file(SIZE ${module} size)
  file(REMOVE ${module})
  string(REGEX REPLACE "${byte}${byte}${byte}${byte}" "0x\\4\\3\\2\\1," words "${bytes}")
  string(REGEX REPLACE "(...........................................................................................................)," "\\1,\n" words "${words}")
  string(APPEND arrays "static const uint32_t words_${number}[] = {\n${words}};\n")
  if(LANGUAGE STREQUAL "slang")
    foreach(entry IN LISTS entries)
      string(APPEND rows "    {\"${name}_${entry}\", \"${entry}\", words_${number}, ${size}},\n")
    endforeach()
  else()
    string(APPEND rows "    {\"${name}\", \"${entry}\", words_${number}, ${size}},\n")
  endif()
  math(EXPR number "${number} + 1")
endforeach()

file(WRITE ${OUTPUT} "/* Made by cmake/EmbedShaders.cmake from ${LANGUAGE}/${stem}. */
#include \"drivers/shader.h\"

${arrays}
extern const rd_vulkan_shader ${SYMBOL}[];
const rd_vulkan_shader ${SYMBOL}[] = {
${rows}    {0},
};
")
