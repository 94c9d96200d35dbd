!> In the place of the climate models' module of this name (CESM, E3SM): the same names and arguments, so that a model links with
!> it unchanged. Sums are correctly rounded, with one all-reduce, whatever the number of ranks and the order of the data; docs/fortran.md
!> says which arguments have nothing left to do.
module shr_reprosum_mod
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env, only: output_unit, real64
  use, intrinsic :: ieee_arithmetic, only: ieee_is_finite
  use reduct_constants
  use reduct_engine, only: reduct_failure, reduct_finish
  implicit none
  private
  public :: shr_reprosum_setopts, shr_reprosum_calc, shr_reprosum_tolExceeded

  !> Kept for callers; an exact sum is never computed again.
  logical, public, save :: shr_reprosum_recompute = .false.
  !> Where this is not negative, exact sums are compared with those of a loop if rel_diff is present.
  real(real64), public, save :: shr_reprosum_reldiffmax = -1.0_real64

  logical, save :: allows_infnan = .false.

  interface
    function c_reprosum(values, summands, length, fields, refuse_nan, comm, sums, largest, most, plain, error) &
        result(status) bind(C, name='reduct_fortran_reprosum')
      import :: reduct_failure, c_int, c_double
      integer(c_int), value :: summands, length, fields, refuse_nan
      real(c_double), intent(in) :: values(length, fields)
      integer(c_int), intent(in), optional :: comm
      real(c_double), intent(inout) :: sums(fields)
      real(c_double), intent(inout), optional :: largest(fields)
      integer(c_int), intent(inout), optional :: most
      real(c_double), intent(inout), optional :: plain(fields)
      type(reduct_failure), intent(inout) :: error
      integer(c_int) :: status
    end function c_reprosum
  end interface

contains

  !> Sets what holds for all calls.
  subroutine shr_reprosum_setopts(repro_sum_use_ddpdd_in, repro_sum_allow_infnan_in, repro_sum_rel_diff_max_in, &
                                  repro_sum_recompute_in, repro_sum_master, repro_sum_logunit)
    logical, intent(in), optional :: repro_sum_use_ddpdd_in, repro_sum_allow_infnan_in
    real(real64), intent(in), optional :: repro_sum_rel_diff_max_in
    logical, intent(in), optional :: repro_sum_recompute_in, repro_sum_master
    integer, intent(in), optional :: repro_sum_logunit
    integer :: unit

    if (present(repro_sum_allow_infnan_in)) allows_infnan = repro_sum_allow_infnan_in
    if (present(repro_sum_rel_diff_max_in)) shr_reprosum_reldiffmax = repro_sum_rel_diff_max_in
    if (present(repro_sum_recompute_in)) shr_reprosum_recompute = repro_sum_recompute_in
    if (.not. present(repro_sum_master)) return
    if (.not. repro_sum_master) return
    unit = output_unit
    if (present(repro_sum_logunit)) unit = repro_sum_logunit
    write (unit, '(a)') 'shr_reprosum_setopts: sums are those of reduct, correctly rounded'
    if (present(repro_sum_use_ddpdd_in)) then
      if (repro_sum_use_ddpdd_in) write (unit, '(a)') 'shr_reprosum_setopts: the double-double algorithm is not used'
    end if
  end subroutine shr_reprosum_setopts

  !> Sums each field of arr over all ranks. Hints of how large the sums are, and choices among algorithms, are not read. With a NaN or an infinity among the summands the program ends, unless they are allowed.
  subroutine shr_reprosum_calc(arr, arr_gsum, nsummands, dsummands, nflds, allow_infnan, ddpdd_sum, arr_gbl_max, &
                               arr_gbl_max_out, arr_max_levels, arr_max_levels_out, gbl_max_nsummands, &
                               gbl_max_nsummands_out, gbl_count, repro_sum_validate, repro_sum_stats, rel_diff, commid)
    integer, intent(in) :: nsummands, dsummands, nflds
    real(real64), intent(in) :: arr(dsummands, nflds)
    real(real64), intent(out) :: arr_gsum(nflds)
    logical, intent(in), optional :: allow_infnan, ddpdd_sum
    real(real64), intent(in), optional :: arr_gbl_max(nflds)
    real(real64), intent(out), optional :: arr_gbl_max_out(nflds)
    integer, intent(in), optional :: arr_max_levels(nflds)
    integer, intent(out), optional :: arr_max_levels_out(nflds)
    integer, intent(in), optional :: gbl_max_nsummands
    integer, intent(out), optional :: gbl_max_nsummands_out
    integer, intent(in), optional :: gbl_count
    logical, intent(in), optional :: repro_sum_validate
    integer, intent(inout), optional :: repro_sum_stats(6)
    real(real64), intent(out), optional :: rel_diff(2, nflds)
    integer, intent(in), optional :: commid
    real(real64), allocatable :: plain(:) ! not allocated: absent where it is passed on
    integer(c_int) :: status
    type(reduct_failure) :: error
    logical :: allowed

    allowed = allows_infnan
    if (present(allow_infnan)) allowed = allow_infnan
    if (present(rel_diff) .and. shr_reprosum_reldiffmax >= 0) allocate (plain(nflds))
    status = c_reprosum(arr, nsummands, dsummands, nflds, merge(0_c_int, 1_c_int, allowed), commid, arr_gsum, &
                        arr_gbl_max_out, gbl_max_nsummands_out, plain, error)
    call reduct_finish(status, error)
    if (.not. allowed .and. .not. all(ieee_is_finite(arr_gsum))) error stop 'shr_reprosum_calc: an infinity among the summands'
    if (present(arr_max_levels_out)) arr_max_levels_out = 1
    if (present(rel_diff)) rel_diff = 0
    if (present(rel_diff) .and. allocated(plain)) call compare(arr_gsum, plain, rel_diff)
    if (present(repro_sum_stats)) then
      repro_sum_stats(1) = repro_sum_stats(1) + 1
      if (allocated(plain)) repro_sum_stats(4) = repro_sum_stats(4) + 1
    end if
  end subroutine shr_reprosum_calc

  !> How far sums of a loop are from exact ones: relative to these where that is less than the absolute difference says, and absolute.
  subroutine compare(exact, plain, difference)
    real(real64), intent(in) :: exact(:), plain(:)
    real(real64), intent(out) :: difference(:, :)
    integer :: i

    do i = 1, size(exact)
      difference(2, i) = abs(plain(i) - exact(i))
      difference(1, i) = difference(2, i)
      if (difference(2, i) < abs(exact(i))) difference(1, i) = difference(2, i) / abs(exact(i))
    end do
  end subroutine compare

  !> Whether a field's difference is more than shr_reprosum_reldiffmax; the process that is `master` writes which.
  logical function shr_reprosum_tolExceeded(name, nflds, master, logunit, rel_diff)
    character(*), intent(in) :: name
    integer, intent(in) :: nflds
    logical, intent(in) :: master
    integer, intent(in), optional :: logunit
    real(real64), intent(in) :: rel_diff(2, nflds)
    integer :: i, unit

    shr_reprosum_tolExceeded = .false.
    if (shr_reprosum_reldiffmax < 0) return
    unit = output_unit
    if (present(logunit)) unit = logunit
    do i = 1, nflds
      if (rel_diff(1, i) <= shr_reprosum_reldiffmax) cycle
      shr_reprosum_tolExceeded = .true.
      if (master) write (unit, '(2a, i0, a, 2es12.4)') name, ': field ', i, &
        ': the sum of a loop differs from the exact one, relatively and absolutely, by', rel_diff(:, i)
    end do
  end function shr_reprosum_tolExceeded

end module shr_reprosum_mod
