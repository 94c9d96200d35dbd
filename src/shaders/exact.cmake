# The exact kernels: one window in f64 and one in 32-bit integers, for the types that they take and for dot products of
# f32.
foreach(window u32:i32,f32,f64 f64:f32,f64)
  string(REGEX MATCH "^(.*):(.*)$" window ${window})
  set(window ${CMAKE_MATCH_1})
  string(REPLACE "," ";" types ${CMAKE_MATCH_2})
  set(variants dot:TYPE_F64,DOT)
  foreach(type IN LISTS types)
    string(TOUPPER ${type} capital)
    list(APPEND variants "${type}:TYPE_${capital}")
  endforeach()
  reduct_vulkan_shaders(ladder_vulkan_shaders SOURCE ${CMAKE_CURRENT_LIST_DIR}/exact_${window}.comp VARIANTS ${variants}
    DEPENDS ${CMAKE_CURRENT_LIST_DIR}/exact.glsl ${CMAKE_CURRENT_LIST_DIR}/exact_element.glsl)
endforeach()
