# The Fortran module, where there is a compiler that knows enough of Fortran 2018.
#
#   REDUCT_FORTRAN   ON: there must be such a compiler; OFF: no module; AUTO: the module where there is one
#
# Sets REDUCT_HAS_FORTRAN and, where the C compiler does not find ISO_Fortran_binding.h by itself, REDUCT_FORTRAN_BINDING, a
# folder that has a copy of the Fortran compiler's.

set(reduct_fortran_default OFF)
if(PROJECT_IS_TOP_LEVEL)
  set(reduct_fortran_default AUTO)
endif()
set(REDUCT_FORTRAN ${reduct_fortran_default} CACHE STRING "Build the Fortran module: ON, OFF, or AUTO (where a compiler is found)")
set_property(CACHE REDUCT_FORTRAN PROPERTY STRINGS AUTO ON OFF)

# Where the C compiler is of another maker: the Fortran compiler's header alone, without what lies beside it.
function(reduct_fortran_copy_binding)
  execute_process(COMMAND ${CMAKE_Fortran_COMPILER} -print-file-name=include/ISO_Fortran_binding.h
    OUTPUT_VARIABLE header OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  if(IS_ABSOLUTE "${header}")
    configure_file(${header} ${PROJECT_BINARY_DIR}/fortran/binding/ISO_Fortran_binding.h COPYONLY)
    set(REDUCT_FORTRAN_BINDING ${PROJECT_BINARY_DIR}/fortran/binding PARENT_SCOPE)
  endif()
endfunction()

set(REDUCT_HAS_FORTRAN OFF)
set(REDUCT_FORTRAN_BINDING "")
set(reason "")
if(NOT REDUCT_FORTRAN)
  set(reason "REDUCT_FORTRAN is ${REDUCT_FORTRAN}")
elseif(REDUCT_SANITIZE OR CMAKE_CROSSCOMPILING)
  set(reason "it is built neither with sanitizers nor for other systems")
else()
  if(NOT CMAKE_Fortran_COMPILER) # one may have been installed since it was not found
    unset(CMAKE_Fortran_COMPILER CACHE)
  endif()
  include(CheckLanguage)
  check_language(Fortran)
  if(CMAKE_Fortran_COMPILER)
    enable_language(Fortran)
    include(CheckIncludeFile)
    check_include_file(ISO_Fortran_binding.h REDUCT_HAS_FORTRAN_BINDING)
    if(NOT REDUCT_HAS_FORTRAN_BINDING)
      reduct_fortran_copy_binding()
    endif()
    include(CheckFortranSourceCompiles)
    check_fortran_source_compiles([[
program check
  implicit none
  character(:), allocatable :: message
  interface
    subroutine describe(x, y) bind(C)
      type(*), intent(in) :: x(..)
      type(*), intent(in), optional :: y(..)
    end subroutine describe
  end interface
  message = 'no'
  if (command_argument_count() > 9) error stop 'so ' // message
end program check
]] REDUCT_FORTRAN_IS_2018 SRC_EXT f90)
  endif()
  if(NOT CMAKE_Fortran_COMPILER)
    set(reason "no Fortran compiler was found (CMAKE_Fortran_COMPILER names it)")
  elseif(NOT REDUCT_HAS_FORTRAN_BINDING AND NOT REDUCT_FORTRAN_BINDING)
    set(reason "ISO_Fortran_binding.h was not found")
  elseif(NOT REDUCT_FORTRAN_IS_2018)
    set(reason "${CMAKE_Fortran_COMPILER} does not know arrays of any rank, which Fortran 2018 has")
  endif()
endif()

if(reason STREQUAL "")
  set(REDUCT_HAS_FORTRAN ON)
  message(STATUS "Fortran module: built with ${CMAKE_Fortran_COMPILER_ID} ${CMAKE_Fortran_COMPILER_VERSION}")
elseif(REDUCT_FORTRAN AND NOT REDUCT_FORTRAN STREQUAL "AUTO")
  message(FATAL_ERROR "REDUCT_FORTRAN is ${REDUCT_FORTRAN}, but ${reason}")
else()
  message(STATUS "Fortran module: none, as ${reason}")
endif()
