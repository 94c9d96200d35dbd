!> Exact reductions of arrays that are spread over the ranks of a communicator: see docs/fortran.md.
module reduct_mpi
  use, intrinsic :: iso_c_binding
  use mpi_f08, only: MPI_Comm
  use reduct_constants
  use reduct_engine
  implicit none
  private
  public :: reduct_allreduce

  !> Every rank gives its part of x, of any length along the axes that are reduced, and gets all results, the same bits as if one
  !> rank had it all: arguments are those of reduct_reduce, and a communicator of either of MPI's modules. Or every rank gives an
  !> accumulator, in the place of which comes what all hold together. One all-reduce, seldom two, however many results there are. On
  !> failure all ranks fail.
  interface reduct_allreduce
    module procedure allreduce_integer, allreduce_f08, accumulator_integer, accumulator_f08
  end interface reduct_allreduce

  interface
    function c_allreduce(options, x, result, y, dims, count, mask, comm, error) result(status) &
        bind(C, name='reduct_fortran_allreduce')
      import :: reduct_settings, reduct_failure, c_int, c_ptr
      type(reduct_settings), intent(in) :: options
      type(*), intent(in) :: x(..)
      type(*), intent(inout) :: result(..)
      type(*), intent(in), optional :: y(..)
      type(c_ptr), value :: dims
      integer(c_int), value :: count
      type(*), intent(in), optional :: mask(..)
      integer(c_int), value :: comm
      type(reduct_failure), intent(inout) :: error
      integer(c_int) :: status
    end function c_allreduce

    function c_allreduce_accumulator(accumulator, comm, error) result(status) &
        bind(C, name='reduct_fortran_allreduce_accumulator')
      import :: reduct_failure, c_int, c_ptr
      type(c_ptr), value :: accumulator
      integer(c_int), value :: comm
      type(reduct_failure), intent(inout) :: error
      integer(c_int) :: status
    end function c_allreduce_accumulator
  end interface

contains

  subroutine allreduce_integer(op, x, result, comm, y, dims, mask, mode, nan, population, stat, errmsg)
    integer, intent(in) :: op
    type(*), intent(in) :: x(..)
    type(*), intent(inout) :: result(..)
    integer, intent(in) :: comm
    type(*), intent(in), optional :: y(..)
    integer, intent(in), optional :: dims(:)
    logical, intent(in), optional :: mask(..)
    integer, intent(in), optional :: mode, nan
    logical, intent(in), optional :: population
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer(c_int), allocatable, target :: axes(:)
    type(reduct_failure) :: error
    integer(c_int) :: status
    type(c_ptr) :: list

    call reduct_list_axes(dims, axes, list)
    status = c_allreduce(reduct_set(op, mode, nan, population), x, result, y, list, size(axes, kind=c_int) - 1_c_int, mask, &
                         comm, error)
    call reduct_finish(status, error, stat, errmsg)
  end subroutine allreduce_integer

  subroutine allreduce_f08(op, x, result, comm, y, dims, mask, mode, nan, population, stat, errmsg)
    integer, intent(in) :: op
    type(*), intent(in) :: x(..)
    type(*), intent(inout) :: result(..)
    type(MPI_Comm), intent(in) :: comm
    type(*), intent(in), optional :: y(..)
    integer, intent(in), optional :: dims(:)
    logical, intent(in), optional :: mask(..)
    integer, intent(in), optional :: mode, nan
    logical, intent(in), optional :: population
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg

    call allreduce_integer(op, x, result, comm%MPI_VAL, y, dims, mask, mode, nan, population, stat, errmsg)
  end subroutine allreduce_f08

  subroutine accumulator_integer(accumulator, comm, stat, errmsg)
    type(reduct_accumulator), intent(inout) :: accumulator
    integer, intent(in) :: comm
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(reduct_failure) :: error
    integer(c_int) :: status

    status = c_allreduce_accumulator(reduct_handle(accumulator), comm, error)
    call reduct_finish(status, error, stat, errmsg)
  end subroutine accumulator_integer

  subroutine accumulator_f08(accumulator, comm, stat, errmsg)
    type(reduct_accumulator), intent(inout) :: accumulator
    type(MPI_Comm), intent(in) :: comm
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg

    call accumulator_integer(accumulator, comm%MPI_VAL, stat, errmsg)
  end subroutine accumulator_f08

end module reduct_mpi
