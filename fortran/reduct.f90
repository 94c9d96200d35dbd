!> Exact parallel reductions for Fortran: see docs/fortran.md. Programs say `use reduct`.
!>
!> The functions by name, reduct_sum and so on, are the same for all kinds of real, and for all kinds of integer, but for the
!> kind: a module for each includes what scripts/generate writes, and generic interfaces of one name add up.

module reduct_of_real64
  use, intrinsic :: iso_fortran_env, only: xkind => real64, int64
  use reduct_constants
  use reduct_engine, only: reduce_function
  implicit none
  private
  include 'reduct_real.inc'
end module reduct_of_real64

module reduct_of_real32
  use, intrinsic :: iso_fortran_env, only: xkind => real32, int64
  use reduct_constants
  use reduct_engine, only: reduce_function
  implicit none
  private
  include 'reduct_real.inc'
end module reduct_of_real32

module reduct_of_int8
  use, intrinsic :: iso_fortran_env, only: xkind => int8, int64, real64
  use reduct_constants
  use reduct_engine, only: reduce_function
  implicit none
  private
  include 'reduct_integer.inc'
end module reduct_of_int8

module reduct_of_int16
  use, intrinsic :: iso_fortran_env, only: xkind => int16, int64, real64
  use reduct_constants
  use reduct_engine, only: reduce_function
  implicit none
  private
  include 'reduct_integer.inc'
end module reduct_of_int16

module reduct_of_int32
  use, intrinsic :: iso_fortran_env, only: xkind => int32, int64, real64
  use reduct_constants
  use reduct_engine, only: reduce_function
  implicit none
  private
  include 'reduct_integer.inc'
end module reduct_of_int32

module reduct_of_int64
  use, intrinsic :: iso_fortran_env, only: xkind => int64, int64, real64
  use reduct_constants
  use reduct_engine, only: reduce_function
  implicit none
  private
  include 'reduct_integer.inc'
end module reduct_of_int64

module reduct_of_logical
  use, intrinsic :: iso_fortran_env, only: int64, real64
  use reduct_constants
  use reduct_engine, only: reduce_function
  implicit none
  private
  integer, parameter :: xkind = kind(.true.)
  include 'reduct_logical.inc'
end module reduct_of_logical

module reduct_of_c_bool
  use, intrinsic :: iso_c_binding, only: xkind => c_bool
  use, intrinsic :: iso_fortran_env, only: int64, real64
  use reduct_constants
  use reduct_engine, only: reduce_function
  implicit none
  private
  include 'reduct_logical.inc'
end module reduct_of_c_bool

module reduct
  use reduct_constants
  use reduct_engine, only: reduct_reduce, reduct_accumulator, reduct_status_text, reduct_version
  use reduct_of_real64
  use reduct_of_real32
  use reduct_of_int8
  use reduct_of_int16
  use reduct_of_int32
  use reduct_of_int64
  use reduct_of_logical
  use reduct_of_c_bool
  implicit none
  public
end module reduct
