!> What the tests of the Fortran module share: counting what was checked, and ending with an error if anything failed.
module checks
  use, intrinsic :: iso_fortran_env, only: error_unit
  implicit none
  private
  public :: check, finish

  integer :: checked = 0, failed = 0

contains

  subroutine check(good, what)
    logical, intent(in) :: good
    character(*), intent(in) :: what

    checked = checked + 1
    if (good) return
    failed = failed + 1
    if (failed <= 20) write (error_unit, '(2a)') 'failed: ', what
  end subroutine check

  subroutine finish()
    print '(i0, a, i0, a)', checked, ' checks, ', failed, ' failed'
    if (failed > 0 .or. checked == 0) error stop 1
  end subroutine finish

end module checks
