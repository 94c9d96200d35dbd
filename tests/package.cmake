# Installs the built project into a folder of its own and uses it from there as a stranger would: with find_package, and
# with pkg-config. Run by ctest: cmake -D BUILD=... -D SOURCE=... -D WORK=... -D COMPILER=... -P package.cmake

function(run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT result EQUAL 0)
    message(FATAL_ERROR "${ARGN}\nfailed: ${result}\n${output}")
  endif()
  set(output "${output}" PARENT_SCOPE)
endfunction()

file(REMOVE_RECURSE ${WORK})
run(${CMAKE_COMMAND} --install ${BUILD} --prefix ${WORK}/prefix)

run(${CMAKE_COMMAND} -S ${SOURCE}/package -B ${WORK}/build -D CMAKE_PREFIX_PATH=${WORK}/prefix -D CMAKE_C_COMPILER=${COMPILER})
run(${CMAKE_COMMAND} --build ${WORK}/build)
run(${WORK}/build/shared)
run(${WORK}/build/static)

file(GLOB_RECURSE pc ${WORK}/prefix/reduct.pc)
get_filename_component(directory "${pc}" DIRECTORY)
get_filename_component(libraries "${directory}" DIRECTORY)
set(ENV{PKG_CONFIG_PATH} ${directory})
set(ENV{LD_LIBRARY_PATH} ${libraries})
# The folder was chosen when installing, after the file was made: --define-prefix finds it from where the file is.
run(pkg-config --define-prefix --cflags --libs reduct)
separate_arguments(flags UNIX_COMMAND "${output}")
run(${COMPILER} ${SOURCE}/package/main.c -o ${WORK}/main ${flags})
run(${WORK}/main)
message(STATUS "find_package and pkg-config find, link and run the installed library")
