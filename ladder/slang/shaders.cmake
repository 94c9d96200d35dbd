# The rungs in Slang: every .slang file here, in the modules that ladder/slang/compile has made of it (see ladder/vulkan_ladder.h).
set(variants i32:store,atomic,last f32:store,atomic,last f64:store,last f64_atomic:atomic)
file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_LIST_DIR}/*.slang)
file(GLOB modules CONFIGURE_DEPENDS ${CMAKE_CURRENT_LIST_DIR}/spirv/*.spv)
set(applications dot maximum mean texture)
list(TRANSFORM applications REPLACE "(.+)" "${CMAKE_CURRENT_LIST_DIR}/\\1.slang")
list(REMOVE_ITEM sources ${applications})
foreach(source IN LISTS sources)
  reduct_vulkan_shaders(ladder_vulkan_shaders SOURCE ${source} VARIANTS ${variants} DEPENDS ${modules})
endforeach()

# Reductions other than a sum, and sums of texels, of floats.
foreach(application dot maximum mean)
  reduct_vulkan_shaders(ladder_vulkan_shaders SOURCE ${CMAKE_CURRENT_LIST_DIR}/${application}.slang VARIANTS f32:last f64:last
    DEPENDS ${modules})
endforeach()
reduct_vulkan_shaders(ladder_vulkan_shaders SOURCE ${CMAKE_CURRENT_LIST_DIR}/texture.slang
  VARIANTS array_f32:last rows_f32:last tiles_f32:last DEPENDS ${modules})
