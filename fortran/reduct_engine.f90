!> What the module reduct is made of, but for the functions by name: reduct_reduce, which does what each of them does and more,
!> accumulators, and how failures are told. Programs use the module reduct, which has all of this.
module reduct_engine
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env, only: int8, int64
  use reduct_constants
  implicit none
  private
  public :: reduct_reduce, reduct_accumulator, reduct_status_text, reduct_version, reduce_function
  ! For reduct_mpi and shr_reprosum_mod:
  public :: reduct_failure, reduct_settings, reduct_set, reduct_list_axes, reduct_finish, reduct_handle

  !> As reduct_error in reduct.h.
  type, bind(C) :: reduct_failure
    integer(c_int) :: status = REDUCT_OK
    integer(c_int64_t) :: index = -1
    character(kind=c_char) :: message(240) = c_null_char
    integer(c_int64_t) :: reserved(4) = 0
  end type reduct_failure

  !> As reduct_fortran_options in reduct_fortran.h.
  type, bind(C) :: reduct_settings
    integer(c_int) :: op = 0, mode = REDUCT_EXACT, nan = REDUCT_NAN_PROPAGATE, population = 0, fill = 0
  end type reduct_settings

  !> A partial result: data are added piece by piece, and partial results merged; the bits of the result are those of a single
  !> pass. An assignment makes a copy. What it holds is freed when it goes out of scope, or by destroy.
  type :: reduct_accumulator
    private
    type(c_ptr) :: handle = c_null_ptr
  contains
    private
    procedure, public :: create => accumulator_create
    procedure, public :: add => accumulator_add
    procedure, public :: merge => accumulator_merge
    procedure, public :: reset => accumulator_reset
    procedure, public :: count => accumulator_count
    procedure, public :: result => accumulator_result
    procedure, public :: save => accumulator_save
    procedure, public :: load => accumulator_load
    procedure, public :: destroy => accumulator_destroy
    procedure :: copy => accumulator_copy
    generic, public :: assignment(=) => copy
    final :: accumulator_finalize
  end type reduct_accumulator

  interface
    function c_reduce(options, x, result, y, dims, count, mask, error) result(status) &
        bind(C, name='reduct_fortran_reduce')
      import :: reduct_settings, reduct_failure, c_int, c_ptr
      type(reduct_settings), intent(in) :: options
      type(*), intent(in) :: x(..)
      type(*), intent(inout) :: result(..)
      type(*), intent(in), optional :: y(..)
      type(c_ptr), value :: dims
      integer(c_int), value :: count
      type(*), intent(in), optional :: mask(..)
      type(reduct_failure), intent(inout) :: error
      integer(c_int) :: status
    end function c_reduce

    function c_create(options, element, accumulator, error) result(status) bind(C, name='reduct_fortran_create')
      import :: reduct_settings, reduct_failure, c_int, c_ptr
      type(reduct_settings), intent(in) :: options
      integer(c_int), value :: element
      type(c_ptr), intent(inout) :: accumulator
      type(reduct_failure), intent(inout) :: error
      integer(c_int) :: status
    end function c_create

    function c_copy(from, to, error) result(status) bind(C, name='reduct_fortran_copy')
      import :: reduct_failure, c_int, c_ptr
      type(c_ptr), value :: from
      type(c_ptr), intent(inout) :: to
      type(reduct_failure), intent(inout) :: error
      integer(c_int) :: status
    end function c_copy

    function c_add(accumulator, x, y, mask, error) result(status) bind(C, name='reduct_fortran_add')
      import :: reduct_failure, c_int, c_ptr
      type(c_ptr), value :: accumulator
      type(*), intent(in) :: x(..)
      type(*), intent(in), optional :: y(..)
      type(*), intent(in), optional :: mask(..)
      type(reduct_failure), intent(inout) :: error
      integer(c_int) :: status
    end function c_add

    function c_result(accumulator, result, error) result(status) bind(C, name='reduct_fortran_result')
      import :: reduct_failure, c_int, c_ptr
      type(c_ptr), value :: accumulator
      type(*), intent(inout) :: result(..)
      type(reduct_failure), intent(inout) :: error
      integer(c_int) :: status
    end function c_result

    function c_merge(accumulator, other, error) result(status) bind(C, name='reduct_accumulator_merge')
      import :: reduct_failure, c_int, c_ptr
      type(c_ptr), value :: accumulator, other
      type(reduct_failure), intent(inout) :: error
      integer(c_int) :: status
    end function c_merge

    function c_save(accumulator, bytes, size, error) result(status) bind(C, name='reduct_accumulator_save')
      import :: reduct_failure, c_int, c_ptr, c_size_t
      type(c_ptr), value :: accumulator, bytes
      integer(c_size_t), intent(inout) :: size
      type(reduct_failure), intent(inout) :: error
      integer(c_int) :: status
    end function c_save

    function c_load(bytes, size, options, accumulator, error) result(status) bind(C, name='reduct_accumulator_load')
      import :: reduct_failure, c_int, c_ptr, c_size_t
      type(c_ptr), value :: bytes, options
      integer(c_size_t), value :: size
      type(c_ptr), intent(inout) :: accumulator
      type(reduct_failure), intent(inout) :: error
      integer(c_int) :: status
    end function c_load

    function c_count(accumulator) result(count) bind(C, name='reduct_accumulator_count')
      import :: c_ptr, c_int64_t
      type(c_ptr), value :: accumulator
      integer(c_int64_t) :: count
    end function c_count

    subroutine c_reset(accumulator) bind(C, name='reduct_accumulator_reset')
      import :: c_ptr
      type(c_ptr), value :: accumulator
    end subroutine c_reset

    subroutine c_destroy(accumulator) bind(C, name='reduct_accumulator_destroy')
      import :: c_ptr
      type(c_ptr), value :: accumulator
    end subroutine c_destroy

    function c_status_text(status) result(text) bind(C, name='reduct_status_text')
      import :: c_int, c_ptr
      integer(c_int), value :: status
      type(c_ptr) :: text
    end function c_status_text

    function c_version() result(text) bind(C, name='reduct_version')
      import :: c_ptr
      type(c_ptr) :: text
    end function c_version

    function c_strlen(text) result(length) bind(C, name='strlen')
      import :: c_ptr, c_size_t
      type(c_ptr), value :: text
      integer(c_size_t) :: length
    end function c_strlen
  end interface

contains

  ! Reductions ---------------------------------------------------------------------------------------------------------------

  !> Reduces x by one operator, REDUCT_OP_SUM and so on. dims lists the axes to reduce, from 1, and result has the shape of those
  !> that stay, so that one call reduces many fields: all but the last axis of x(i, j, k, field) to result(field). Without dims
  !> all axes are reduced, to a scalar. Of minmax, result has a first axis of two. The result's kind says to what is rounded: sums
  !> of real32 come as real64 if result is that; integers that do not fit it are an error. Outputs are untouched on failure.
  subroutine reduct_reduce(op, x, result, y, dims, mask, mode, nan, population, stat, errmsg)
    integer, intent(in) :: op
    type(*), intent(in) :: x(..)
    type(*), intent(inout) :: result(..)
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
    status = c_reduce(reduct_set(op, mode, nan, population), x, result, y, list, size(axes, kind=c_int) - 1_c_int, mask, error)
    call reduct_finish(status, error, stat, errmsg)
  end subroutine reduct_reduce

  !> The same for functions: one axis or all are reduced, and the result becomes NaN or 0 on failure.
  subroutine reduce_function(op, x, result, y, dim, mask, mode, nan, population, stat, errmsg)
    integer, intent(in) :: op
    type(*), intent(in) :: x(..)
    type(*), intent(inout) :: result(..)
    type(*), intent(in), optional :: y(..)
    integer, intent(in), optional :: dim
    logical, intent(in), optional :: mask(..)
    integer, intent(in), optional :: mode, nan
    logical, intent(in), optional :: population
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer(c_int), target :: axis
    type(reduct_settings) :: options
    type(reduct_failure) :: error
    integer(c_int) :: status
    type(c_ptr) :: list

    list = c_null_ptr
    axis = 0
    if (present(dim)) then
      axis = int(dim, c_int)
      list = c_loc(axis)
    end if
    options = reduct_set(op, mode, nan, population)
    options%fill = 1
    status = c_reduce(options, x, result, y, list, 1_c_int, mask, error)
    call reduct_finish(status, error, stat, errmsg)
  end subroutine reduce_function

  !> A list of axes as C reads it, with one more, so that it is not empty and has an address; null where there is none.
  subroutine reduct_list_axes(dims, axes, list)
    integer, intent(in), optional :: dims(:)
    integer(c_int), allocatable, target, intent(out) :: axes(:)
    type(c_ptr), intent(out) :: list

    list = c_null_ptr
    if (present(dims)) then
      axes = [int(dims, c_int), 0_c_int]
      list = c_loc(axes)
    else
      axes = [0_c_int]
    end if
  end subroutine reduct_list_axes

  pure function reduct_set(op, mode, nan, population) result(options)
    integer, intent(in) :: op
    integer, intent(in), optional :: mode, nan
    logical, intent(in), optional :: population
    type(reduct_settings) :: options

    options%op = int(op, c_int)
    if (present(mode)) options%mode = int(mode, c_int)
    if (present(nan)) options%nan = int(nan, c_int)
    if (present(population)) options%population = merge(1_c_int, 0_c_int, population)
  end function reduct_set

  ! Failures -----------------------------------------------------------------------------------------------------------------

  !> Tells the caller what came of a call: by stat and errmsg or, without stat, by ending the program if it failed.
  subroutine reduct_finish(status, error, stat, errmsg)
    integer(c_int), intent(in) :: status
    type(reduct_failure), intent(in) :: error
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    character(:), allocatable :: message

    if (present(stat)) stat = status
    if (status == REDUCT_OK) return
    message = text_of(error%message)
    if (present(errmsg)) errmsg = message
    if (.not. present(stat)) error stop 'reduct: ' // message
  end subroutine reduct_finish

  pure function text_of(message) result(text)
    character(kind=c_char), intent(in) :: message(:)
    character(:), allocatable :: text
    integer :: i, length

    length = findloc(message, c_null_char, dim=1) - 1
    allocate (character(length) :: text)
    do i = 1, length
      text(i:i) = message(i)
    end do
  end function text_of

  function text_at(address) result(text)
    type(c_ptr), intent(in) :: address
    character(:), allocatable :: text
    character(kind=c_char), pointer :: characters(:)
    integer :: i

    call c_f_pointer(address, characters, [c_strlen(address)])
    allocate (character(size(characters)) :: text)
    do i = 1, size(characters)
      text(i:i) = characters(i)
    end do
  end function text_at

  !> One sentence for a status.
  function reduct_status_text(status) result(text)
    integer, intent(in) :: status
    character(:), allocatable :: text

    text = text_at(c_status_text(int(status, c_int)))
  end function reduct_status_text

  !> Version of the library, 'major.minor.patch'.
  function reduct_version() result(text)
    character(:), allocatable :: text

    text = text_at(c_version())
  end function reduct_version

  ! Accumulators -------------------------------------------------------------------------------------------------------------

  !> An accumulator of no elements, of one operator and element type: REDUCT_OP_SUM and REDUCT_F64, and so on. What it held
  !> before is forgotten.
  subroutine accumulator_create(self, op, element, mode, nan, population, stat, errmsg)
    class(reduct_accumulator), intent(inout) :: self
    integer, intent(in) :: op, element
    integer, intent(in), optional :: mode, nan
    logical, intent(in), optional :: population
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(reduct_failure) :: error
    type(c_ptr) :: made
    integer(c_int) :: status

    made = c_null_ptr
    status = c_create(reduct_set(op, mode, nan, population), int(element, c_int), made, error)
    if (status == REDUCT_OK) call adopt(self, made)
    call reduct_finish(status, error, stat, errmsg)
  end subroutine accumulator_create

  !> Adds the elements of an array of any rank and strides; of dot and weighted_mean the pairs of x and y. On failure the
  !> accumulator is as it was.
  subroutine accumulator_add(self, x, y, mask, stat, errmsg)
    class(reduct_accumulator), intent(inout) :: self
    type(*), intent(in) :: x(..)
    type(*), intent(in), optional :: y(..)
    logical, intent(in), optional :: mask(..)
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(reduct_failure) :: error

    call reduct_finish(c_add(self%handle, x, y, mask, error), error, stat, errmsg)
  end subroutine accumulator_add

  !> Adds all that another accumulator of the same reduction holds.
  subroutine accumulator_merge(self, other, stat, errmsg)
    class(reduct_accumulator), intent(inout) :: self
    class(reduct_accumulator), intent(in) :: other
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(reduct_failure) :: error

    call reduct_finish(c_merge(self%handle, other%handle, error), error, stat, errmsg)
  end subroutine accumulator_merge

  !> Back to no elements.
  subroutine accumulator_reset(self)
    class(reduct_accumulator), intent(inout) :: self

    if (c_associated(self%handle)) call c_reset(self%handle)
  end subroutine accumulator_reset

  !> Elements added so far; those that were masked out, and NaNs that are ignored, are not counted.
  function accumulator_count(self) result(count)
    class(reduct_accumulator), intent(in) :: self
    integer(int64) :: count

    count = 0
    if (c_associated(self%handle)) count = c_count(self%handle)
  end function accumulator_count

  !> The result so far, in the type and kind of `value`: a scalar, of minmax an array of two.
  subroutine accumulator_result(self, value, stat, errmsg)
    class(reduct_accumulator), intent(in) :: self
    type(*), intent(inout) :: value(..)
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(reduct_failure) :: error

    call reduct_finish(c_result(self%handle, value, error), error, stat, errmsg)
  end subroutine accumulator_result

  !> Saves to bytes that any machine and any later version can load.
  subroutine accumulator_save(self, bytes, stat, errmsg)
    class(reduct_accumulator), intent(in) :: self
    integer(int8), allocatable, target, intent(inout) :: bytes(:)
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer(int8), allocatable, target :: saved(:)
    type(reduct_failure) :: error
    integer(c_size_t) :: length
    integer(c_int) :: status

    length = 0
    status = c_save(self%handle, c_null_ptr, length, error)
    if (status == REDUCT_OK) then
      allocate (saved(length))
      status = c_save(self%handle, c_loc(saved), length, error)
    end if
    if (status == REDUCT_OK) call move_alloc(saved, bytes)
    call reduct_finish(status, error, stat, errmsg)
  end subroutine accumulator_save

  !> Loads what was saved, on this machine or another; the bytes say which reduction it is. What the accumulator held before is
  !> forgotten.
  subroutine accumulator_load(self, bytes, stat, errmsg)
    class(reduct_accumulator), intent(inout) :: self
    integer(int8), target, contiguous, intent(in) :: bytes(:)
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(reduct_failure) :: error
    type(c_ptr) :: made, address
    integer(c_int) :: status

    made = c_null_ptr
    address = c_null_ptr
    if (size(bytes) > 0) address = c_loc(bytes)
    status = c_load(address, size(bytes, kind=c_size_t), c_null_ptr, made, error)
    if (status == REDUCT_OK) call adopt(self, made)
    call reduct_finish(status, error, stat, errmsg)
  end subroutine accumulator_load

  !> Frees what is held; the accumulator can be created again.
  subroutine accumulator_destroy(self)
    class(reduct_accumulator), intent(inout) :: self

    call adopt(self, c_null_ptr)
  end subroutine accumulator_destroy

  subroutine accumulator_copy(self, other)
    class(reduct_accumulator), intent(inout) :: self
    class(reduct_accumulator), intent(in) :: other
    type(reduct_failure) :: error
    type(c_ptr) :: made
    integer(c_int) :: status

    made = c_null_ptr
    status = REDUCT_OK
    if (c_associated(other%handle)) status = c_copy(other%handle, made, error)
    call reduct_finish(status, error)
    call adopt(self, made)
  end subroutine accumulator_copy

  !> What C knows the accumulator by.
  pure type(c_ptr) function reduct_handle(accumulator)
    class(reduct_accumulator), intent(in) :: accumulator

    reduct_handle = accumulator%handle
  end function reduct_handle

  subroutine adopt(self, handle)
    class(reduct_accumulator), intent(inout) :: self
    type(c_ptr), intent(in) :: handle

    call c_destroy(self%handle)
    self%handle = handle
  end subroutine adopt

  subroutine accumulator_finalize(self)
    type(reduct_accumulator), intent(inout) :: self

    call adopt(self, c_null_ptr)
  end subroutine accumulator_finalize

end module reduct_engine
