# The rungs in GLSL, for each type (see ladder/vulkan_ladder.h), and what the ladder needs besides.
file(GLOB includes CONFIGURE_DEPENDS ${CMAKE_CURRENT_LIST_DIR}/*.glsl)

set(variants i32:TYPE_I32 f32:TYPE_F32 f64:TYPE_F64 f32_atomic:TYPE_F32,ATOMIC_NATIVE f64_atomic:TYPE_F64,ATOMIC_NATIVE)
set(without_subgroups ${variants})
list(TRANSFORM without_subgroups REPLACE "^([^:]*):" "\\1_shared:NO_SUBGROUPS,")

# A rung that adds up subgroups has a variant without them besides.
set(uses_subgroups "last_subgroup\\.glsl|#define (SHUFFLES|ADDS)")
file(GLOB rungs CONFIGURE_DEPENDS ${CMAKE_CURRENT_LIST_DIR}/*.comp)
list(REMOVE_ITEM rungs ${CMAKE_CURRENT_LIST_DIR}/read_limit.comp)
foreach(rung IN LISTS rungs)
  file(STRINGS ${rung} subgroups REGEX "${uses_subgroups}")
  set(more "")
  if(subgroups)
    set(more ${without_subgroups})
  endif()
  reduct_vulkan_shaders(ladder_vulkan_shaders SOURCE ${rung} VARIANTS ${variants} ${more} DEPENDS ${includes})
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

# The ladder of rows; of columns there is a second step.
file(GLOB rows CONFIGURE_DEPENDS ${CMAKE_CURRENT_LIST_DIR}/rows/*.comp)
foreach(rung IN LISTS rows)
  set(more "")
  if(rung MATCHES "column_tiles")
    set(more ${plain_types})
    list(TRANSFORM more REPLACE "^([^:]*):" "finish_\\1:FINISH,")
  endif()
  reduct_vulkan_shaders(ladder_vulkan_shaders SOURCE ${rung} VARIANTS ${plain_types} ${more}
    DEPENDS ${includes} ${CMAKE_CURRENT_LIST_DIR}/rows/rows.glsl)
endforeach()

# Reductions other than a sum, of floats.
reduct_vulkan_shaders(ladder_vulkan_shaders SOURCE ${CMAKE_CURRENT_LIST_DIR}/applications/texture.comp
  VARIANTS array_f32:TYPE_F32,READS=0 rows_f32:TYPE_F32,READS=1 tiles_f32:TYPE_F32,READS=2 DEPENDS ${includes})
foreach(application dot largest mean)
  reduct_vulkan_shaders(ladder_vulkan_shaders SOURCE ${CMAKE_CURRENT_LIST_DIR}/applications/${application}.comp
    VARIANTS f32:TYPE_F32 f64:TYPE_F64 DEPENDS ${includes})
endforeach()
