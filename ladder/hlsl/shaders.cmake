# The rungs in HLSL: every .hlsl file here, for each type, way out and group size (see ladder/vulkan_ladder.h). Sizes are
# compiled in, since specialisation constants in [numthreads] are more than glslang can take.
set(variants "")
foreach(type i32 f32)
  string(TOUPPER ${type} capital)
  foreach(way store:0 atomic:1 last:2)
    string(REGEX MATCH "^(.*):(.*)$" way ${way})
    foreach(size 16 32 64 128 256 512 1024)
      list(APPEND variants "${type}_${CMAKE_MATCH_1}_${size}:TYPE_${capital},WAY=${CMAKE_MATCH_2},GROUP=${size}")
    endforeach()
  endforeach()
endforeach()
file(GLOB includes CONFIGURE_DEPENDS ${CMAKE_CURRENT_LIST_DIR}/*.hlsli)
file(GLOB shaders CONFIGURE_DEPENDS ${CMAKE_CURRENT_LIST_DIR}/*.hlsl)
foreach(shader IN LISTS shaders)
  reduct_vulkan_shaders(ladder_vulkan_shaders SOURCE ${shader} VARIANTS ${variants} DEPENDS ${includes})
endforeach()

# Reductions other than a sum, in groups of 256.
foreach(application dot maximum mean)
  reduct_vulkan_shaders(ladder_vulkan_shaders SOURCE ${CMAKE_CURRENT_LIST_DIR}/applications/${application}.hlsl
    VARIANTS f32:TYPE_F32,WAY=2,GROUP=256 DEPENDS ${includes})
endforeach()

# Sums of texels, in groups of 256.
set(variants array:0 rows:1 tiles:2)
list(TRANSFORM variants REPLACE "^([^:]*):(.*)$" "\\1_f32:TYPE_F32,WAY=2,GROUP=256,READS=\\2")
reduct_vulkan_shaders(ladder_vulkan_shaders SOURCE ${CMAKE_CURRENT_LIST_DIR}/applications/texture.hlsl VARIANTS ${variants}
  DEPENDS ${includes})
