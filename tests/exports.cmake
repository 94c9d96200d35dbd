# The shared library exports reduct_ names and nothing else, and the static one defines no global names but reduct_ and
# rd_ ones, so that it cannot collide with a program's own. Run by ctest: cmake -D NM=... -D SHARED=... -D STATIC=... -P

function(check_names library pattern)
  execute_process(COMMAND ${NM} ${ARGN} ${library} OUTPUT_VARIABLE names COMMAND_ERROR_IS_FATAL ANY)
  string(REPLACE "\n" ";" lines "${names}")
  set(count 0)
  foreach(line IN LISTS lines)
    if(line MATCHES "^[0-9a-f]+ [A-Zu] ([^ ]+)$")
      math(EXPR count "${count} + 1")
      if(NOT CMAKE_MATCH_1 MATCHES "${pattern}")
        message(SEND_ERROR "${library} has ${CMAKE_MATCH_1}")
      endif()
    endif()
  endforeach()
  if(count LESS 50)
    message(FATAL_ERROR "${library}: only ${count} names found: is this the right file?")
  endif()
  message(STATUS "${library}: ${count} names")
endfunction()

check_names(${SHARED} "^reduct_" -D --defined-only)
check_names(${STATIC} "^(reduct_|rd_)" -g --defined-only)
