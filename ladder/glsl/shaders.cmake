# The rungs in GLSL, for each type (see ladder/vulkan_ladder.h), and what the ladder needs besides.
file(GLOB includes CONFIGURE_DEPENDS ${CMAKE_CURRENT_LIST_DIR}/*.glsl)

set(variants i32:TYPE_I32 f32:TYPE_F32 f64:TYPE_F64 f32_atomic:TYPE_F32,ATOMIC_NATIVE f64_atomic:TYPE_F64,ATOMIC_NATIVE)
set(without_subgroups ${variants})
list(TRANSFORM without_subgroups REPLACE "^([^:]*):" "\\1_shared:NO_SUBGROUPS,")

foreach(rung global_halving neighbour_modulo neighbour_strided halving first_add)
  reduct_vulkan_shaders(ladder_vulkan_shaders SOURCE ${CMAKE_CURRENT_LIST_DIR}/${rung}.comp
    VARIANTS ${variants} DEPENDS ${includes})
endforeach()
foreach(rung last_warp unrolled grid_stride shuffle warp_reduce vector_loads one_launch)
  reduct_vulkan_shaders(ladder_vulkan_shaders SOURCE ${CMAKE_CURRENT_LIST_DIR}/${rung}.comp
    VARIANTS ${variants} ${without_subgroups} DEPENDS ${includes})
endforeach()
reduct_vulkan_shaders(ladder_vulkan_shaders SOURCE ${CMAKE_CURRENT_LIST_DIR}/read_limit.comp VARIANTS ":" DEPENDS ${includes})

# Mistakes, each in its variants; a variant's name begins with what it differs by.
set(plain_types i32:TYPE_I32 f32:TYPE_F32 f64:TYPE_F64)
foreach(specimen last_warp_implicit load_unchecked:FIRST_ADD halving_rounded_down:AGAINST_N shared_too_small:SIZED_RIGHT
        partial_warp two_levels)
  string(REGEX MATCH "^([^:]*):?(.*)$" specimen ${specimen})
  set(specimen ${CMAKE_MATCH_1})
  set(switch ${CMAKE_MATCH_2})
  set(switched "")
  if(switch)
    string(TOLOWER ${switch} name)
    set(switched ${plain_types})
    list(TRANSFORM switched REPLACE "^([^:]*):" "${name}_\\1:${switch},")
  endif()
  reduct_vulkan_shaders(ladder_vulkan_shaders SOURCE ${CMAKE_CURRENT_LIST_DIR}/specimens/${specimen}.comp
    VARIANTS ${plain_types} ${switched} DEPENDS ${includes})
endforeach()
reduct_vulkan_shaders(ladder_vulkan_shaders SOURCE ${CMAKE_CURRENT_LIST_DIR}/specimens/maximum.comp
  VARIANTS ":" ordered:ORDERED DEPENDS ${includes})
