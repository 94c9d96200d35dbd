!> What the tests by kind do not reach: exactness, results of other kinds, several fields, arrays within others, failures, and
!> accumulators.
program test_module
  use, intrinsic :: iso_fortran_env
  use, intrinsic :: iso_c_binding, only: c_bool
  use, intrinsic :: ieee_arithmetic
  use reduct
  use checks
  implicit none

  call exact_sums()
  call other_kinds()
  call fields()
  call parts_of_others()
  call bits_and_logicals()
  call special_values()
  call failures()
  call accumulators()
  call accumulators_fail()
  call finish()

contains

  !> Numbers of 53 bits within 2^-20 and 2^20: binary128 adds some thousands of them, and their products, without error.
  function wide_numbers(n) result(x)
    integer, intent(in) :: n
    real(real64) :: x(n), scale(n)

    call random_number(x)
    call random_number(scale)
    x = nint((x - 0.5_real64) * 2.0_real64**31, int64) * 2.0_real64**(nint(scale * 40) - 40)
  end function wide_numbers

  subroutine exact_sums()
    real(real64) :: x(5000), y(5000)
    real(real128) :: sum_of_x, dot_of_both
    integer :: i

    call check(same(reduct_sum([1e100_real64, 1.0_real64, -1e100_real64, 0.1_real64, 0.2_real64]), 1.3_real64), 'README')
    do i = 1, 20
      x = wide_numbers(size(x))
      y = aint(wide_numbers(size(x)))
      sum_of_x = sum(real(x, real128))
      dot_of_both = sum(real(x, real128) * real(y, real128))
      call check(same(reduct_sum(x), real(sum_of_x, real64)), 'an exact sum')
      call check(same(reduct_sum(x(5000:1:-1)), real(sum_of_x, real64)), 'an exact sum in the other order')
      call check(same(reduct_sum(x(1::2)), real(sum(real(x(1::2), real128)), real64)), 'an exact sum of a section')
      call check(same(reduct_sum(x, x > 0), real(sum(real(x, real128), x > 0), real64)), 'an exact sum with a mask')
      call check(same(reduct_dot(x, y), real(dot_of_both, real64)), 'an exact dot product')
      call check(same(reduct_dot(reshape(x, [50, 100]), reshape(y, [50, 100])), real(dot_of_both, real64)), 'of matrices')
      call check(same(reduct_norm1(x), real(sum(abs(real(x, real128))), real64)), 'an exact norm')
      call check(same(reduct_mean(x(:4096)), real(sum(real(x(:4096), real128)) / 4096, real64)), 'an exact mean')
    end do
    call check(same(reduct_mean([9007199254740993_int64, 9007199254740993_int64]), 9007199254740992.0_real64), 'of integers')
  end subroutine exact_sums

  subroutine other_kinds()
    real(real32) :: x(3) = [1e8_real32, 1.0_real32, -1e8_real32], few
    real(real64) :: wide
    integer(int8) :: narrow, least(2) = [-127_int8 - 1_int8, 127_int8]
    integer :: usual, stat
    integer(int64) :: long

    call reduct_reduce(REDUCT_OP_SUMSQ, x, wide)
    call check(same(wide, 2e16_real64 + 1), 'squares of real32 as real64')
    call reduct_reduce(REDUCT_OP_SUM, x, few)
    call check(few >= 1 .and. few <= 1, 'a sum of real32')
    call reduct_reduce(REDUCT_OP_SUM, [2**30, 2**30 - 1], usual)
    call check(usual == huge(usual), 'a sum as default integer')
    call reduct_reduce(REDUCT_OP_SUM, [2**30, 2**30], usual, stat=stat)
    call check(stat == REDUCT_ERROR_OVERFLOW .and. usual == huge(usual), 'one that does not fit')
    call reduct_reduce(REDUCT_OP_SUM, [-2**30, -2**30], usual)
    call check(usual == -huge(usual) - 1, 'the least that fits')
    call check(reduct_norminf(least) == 128 .and. reduct_ptp(least) == 255, 'what is unsigned in C')
    call reduct_reduce(REDUCT_OP_NORMINF, least, narrow, stat=stat)
    call check(stat == REDUCT_ERROR_OVERFLOW, 'what is unsigned does not fit')
    call check(reduct_ptp([-huge(long), 0_int64]) == huge(long), 'a range of 63 bits')
    long = reduct_ptp([-huge(long), huge(long)], stat=stat)
    call check(stat == REDUCT_ERROR_OVERFLOW .and. long == 0, 'a range of 64 bits')
    call reduct_reduce(REDUCT_OP_ARGMAX, least, narrow)
    call check(narrow == 2_int8, 'an index of one byte')
    call reduct_reduce(REDUCT_OP_MEAN, [1, 2], few)
    call check(few >= 1.5 .and. few <= 1.5, 'a mean of integers as real32')
    call reduct_reduce(REDUCT_OP_MEAN, [1, 2], usual, stat=stat)
    call check(stat == REDUCT_ERROR_ARGUMENT, 'a mean is no integer')
  end subroutine other_kinds

  subroutine fields()
    real(real64) :: x(7, 5, 3), sums(3), middle(7, 3), strided(6), both(2, 3), none
    integer :: i
    logical :: mask(7, 5, 3)

    x = reshape(wide_numbers(size(x)), shape(x))
    mask = x > 0
    call reduct_reduce(REDUCT_OP_SUM, x, sums, dims=[1, 2])
    call reduct_reduce(REDUCT_OP_SUM, x, strided(6:1:-2), dims=[2, 1])
    call reduct_reduce(REDUCT_OP_MINMAX, x, both, dims=[1, 2])
    do i = 1, 3
      call check(same(sums(i), reduct_sum(x(:, :, i))), 'a field')
      call check(same(strided(8 - 2 * i), sums(i)), 'a field to a section')
      call check(all(abs(both(:, i) - reduct_minmax(x(:, :, i))) <= 0), 'extremes of a field')
    end do
    call reduct_reduce(REDUCT_OP_SUM, x, sums, dims=[1, 2], mask=mask)
    call check(all([(same(sums(i), reduct_sum(x(:, :, i), mask(:, :, i))), i = 1, 3)]), 'fields with a mask')
    call reduct_reduce(REDUCT_OP_MEAN, x, middle, dims=[2])
    call check(all(abs(middle - reduct_mean(x, 2)) <= 0), 'a list of one axis')
    call reduct_reduce(REDUCT_OP_SUM, x, none)
    call check(same(none, reduct_sum(x)), 'all axes')
    call reduct_reduce(REDUCT_OP_SUM, x(2, 2, 2), none)
    call check(same(none, x(2, 2, 2)), 'a scalar')
    call reduct_reduce(REDUCT_OP_DOT, x(:, :, 1), none, y=x(:, :, 2))
    call check(same(none, reduct_dot(x(:, :, 1), x(:, :, 2))), 'a dot product')
    call check(same(reduct_sum(1.5_real64), 1.5_real64), 'a sum of a scalar')
  end subroutine fields

  subroutine parts_of_others()
    type :: point
      real(real32) :: place(3)
      integer(int8) :: kind
      real(real64) :: weight
    end type point
    type(point) :: points(100)
    complex(real64) :: z(10)
    integer :: i

    points%weight = [(i * 0.5_real64, i = 1, 100)]
    points%kind = [(int(mod(i, 3), int8), i = 1, 100)]
    points%place(2) = [(real(i), i = 1, 100)]
    z = [(cmplx(i, -i, real64), i = 1, 10)]
    call check(same(reduct_sum(points%weight), 2525.0_real64), 'a component')
    call check(same(reduct_sum(points(100:1:-9)%weight), sum(points(100:1:-9)%weight)), 'a component of a section')
    call check(reduct_sum(points%kind) == 100, 'a component of a byte')
    call check(abs(reduct_sum(points%place(2)) - 5050) <= 0, 'an element of a component')
    call check(same(reduct_sum(points%weight, points%kind == 0), sum(points%weight, points%kind == 0)), 'with a mask')
    call check(same(reduct_sum(aimag(z)), -55.0_real64), 'an expression')
    call check(same(reduct_dot(real(z), aimag(z)), -385.0_real64), 'two expressions')
  end subroutine parts_of_others

  subroutine bits_and_logicals()
    integer :: k(2, 3) = reshape([1, 3, 7, 5, 12, 4], [2, 3])
    logical(c_bool) :: small(4) = [.true._c_bool, .false._c_bool, .true._c_bool, .true._c_bool]
    logical :: truth

    call check(all(reduct_and(k, 1) == iall(k, 1)) .and. reduct_and(k) == iall(k), 'and')
    call check(all(reduct_or(k, 2) == iany(k, 2)) .and. reduct_or(k) == iany(k), 'or')
    call check(all(reduct_xor(k, 1) == iparity(k, 1)) .and. reduct_xor(k) == iparity(k), 'xor')
    call check(reduct_any(small) .and. .not. reduct_all(small) .and. reduct_count_nonzero(small) == 3, 'logicals of C')
    call check(same(reduct_mean(small(1:4:3)), 1.0_real64), 'a mean of logicals of C')
    call reduct_reduce(REDUCT_OP_ANY, k, truth)
    call check(truth .and. .not. reduct_any(k, k > 100), 'a logical result')
  end subroutine bits_and_logicals

  subroutine special_values()
    real(real64) :: nan, x(4)
    real(real32) :: x32(2)

    nan = ieee_value(nan, ieee_quiet_nan)
    x = [1.0_real64, nan, 3.0_real64, -1.0_real64]
    x32 = [1.0, 2.0]
    call check(ieee_is_nan(reduct_sum(x)), 'NaN propagates')
    call check(same(reduct_sum(x, nan=REDUCT_NAN_IGNORE), 3.0_real64), 'NaN is ignored')
    call check(reduct_count(x) == 3 .and. reduct_argmax(x) == 2, 'NaN is counted')
    call check(reduct_argmax(x, nan=REDUCT_NAN_IGNORE) == 3, 'NaN is not the largest')
    call check(reduct_argmin(reshape(x, [2, 2]), nan=REDUCT_NAN_IGNORE) == 4, 'in array element order')
    call check(same(reduct_sum([real(real64) ::]), 0.0_real64), 'a sum of nothing')
    call check(same(reduct_product([real(real64) ::]), 1.0_real64), 'a product of nothing')
    call check(same(reduct_var([1.0_real64, 3.0_real64]), 2.0_real64), 'a variance of a sample')
    call check(same(reduct_var([1.0_real64, 3.0_real64], population=.true.), 1.0_real64), 'of a population')
    call check(same(reduct_std([1, 3], population=.true.), 1.0_real64), 'a deviation of integers')
    call check(reduct_version() == '0.1.0' .and. reduct_status_text(REDUCT_OK) /= '', 'texts')
    call check(same(real(reduct_weighted_mean(x32, weights=[1.0, 3.0]), real64), 1.75_real64), 'a weighted mean')
  end subroutine special_values

  subroutine failures()
    real(real64) :: x(2, 3), y(3, 2), r, along(3)
    integer :: stat
    character(300) :: message
    character(10) :: short

    x = 1
    y = 1
    r = reduct_mean(x(:, 1:0), stat=stat, errmsg=message)
    call expect(stat, message, REDUCT_ERROR_EMPTY, 'element', 'a mean of nothing')
    call check(ieee_is_nan(r), 'a failing function gives NaN')
    along = reduct_min(x(1:0, :), 1, stat=stat, errmsg=message)
    call expect(stat, message, REDUCT_ERROR_EMPTY, 'element', 'minima of nothing')
    call check(all(ieee_is_nan(along)), 'a failing function gives NaNs')
    r = real(reduct_sum([huge(1_int64), 1_int64], stat=stat, errmsg=message), real64)
    call expect(stat, message, REDUCT_ERROR_OVERFLOW, 'i64', 'an overflow')
    call check(same(r, 0.0_real64), 'a failing integer function gives 0')
    r = reduct_dot(x, y, stat=stat, errmsg=message)
    call expect(stat, message, REDUCT_ERROR_ARGUMENT, 'y: not of the shape of x', 'arrays of other shapes')
    r = reduct_sum(x, mask=y > 0, stat=stat, errmsg=message)
    call expect(stat, message, REDUCT_ERROR_ARGUMENT, 'mask: neither', 'a mask of another shape')
    r = reduct_sum(x, mode=7, stat=stat, errmsg=message)
    call expect(stat, message, REDUCT_ERROR_ARGUMENT, 'mode: 7', 'a mode that is none')
    along = reduct_sum(x, 0, stat=stat, errmsg=message)
    call expect(stat, message, REDUCT_ERROR_ARGUMENT, 'dim: 0; expected 1 to 2', 'no axis')
    x(2, 2) = ieee_value(r, ieee_quiet_nan)
    r = reduct_sum(x, nan=REDUCT_NAN_ERROR, stat=stat, errmsg=message)
    call expect(stat, message, REDUCT_ERROR_NAN, 'element 3 is NaN', 'a NaN')
    r = 7
    call reduct_reduce(REDUCT_OP_SUM, x, along, dims=[2], stat=stat, errmsg=message)
    call expect(stat, message, REDUCT_ERROR_ARGUMENT, 'result: not of the shape', 'a result of another shape')
    call reduct_reduce(REDUCT_OP_SUM, x, r, dims=[1, 1], stat=stat, errmsg=message)
    call expect(stat, message, REDUCT_ERROR_ARGUMENT, 'dims: 1 twice', 'an axis twice')
    call reduct_reduce(99, x, r, stat=stat, errmsg=message)
    call expect(stat, message, REDUCT_ERROR_ARGUMENT, 'op: 99', 'an operator that is none')
    call reduct_reduce(REDUCT_OP_DOT, x, r, stat=stat, errmsg=message)
    call expect(stat, message, REDUCT_ERROR_ARGUMENT, 'y: missing', 'one array of two')
    call reduct_reduce(REDUCT_OP_SUM, x, r, y=x, stat=stat, errmsg=message)
    call expect(stat, message, REDUCT_ERROR_ARGUMENT, 'y: sum reads one', 'two arrays of one')
    call reduct_reduce(REDUCT_OP_DOT, x, r, y=real(x, real32), stat=stat, errmsg=message)
    call expect(stat, message, REDUCT_ERROR_ARGUMENT, 'real(real32); expected real(real64)', 'arrays of other kinds')
    call reduct_reduce(REDUCT_OP_SUM, cmplx(x), r, stat=stat, errmsg=message)
    call expect(stat, message, REDUCT_ERROR_ARGUMENT, 'x: a type', 'complex numbers')
    call reduct_reduce(REDUCT_OP_AND, x, r, stat=stat, errmsg=message)
    call check(stat /= REDUCT_OK, 'bits of reals')
    call check(same(r, 7.0_real64), 'outputs are untouched')
    r = reduct_sum(x, mode=7, stat=stat, errmsg=short)
    call check(short == 'mode: 7 is', 'a message is cut short')
    message = 'as it was'
    r = reduct_sum(y, stat=stat, errmsg=message)
    call check(stat == REDUCT_OK .and. message == 'as it was', 'success')
  end subroutine failures

  subroutine expect(stat, message, status, part, what)
    integer, intent(in) :: stat, status
    character(*), intent(inout) :: message
    character(*), intent(in) :: part, what

    call check(stat == status, what // ': stat')
    call check(index(message, part) > 0, what // ': ' // trim(message))
    message = ''
  end subroutine expect

  subroutine accumulators()
    type(reduct_accumulator) :: whole, part, copy, loaded
    real(real64) :: x(100, 30), y(100, 30), pair(2), r
    real(real32) :: rounded
    integer(int8), allocatable :: bytes(:)
    integer(int64) :: place
    integer :: i

    x = reshape(wide_numbers(size(x)), shape(x))
    y = reshape(wide_numbers(size(x)), shape(x))
    call whole%create(REDUCT_OP_SUM, REDUCT_F64)
    do i = 1, 30, 2
      call part%create(REDUCT_OP_SUM, REDUCT_F64)
      call part%add(x(1::2, i))
      call part%add(x(100:2:-2, i:i + 1))
      call part%add(x(1::2, i + 1))
      call whole%merge(part)
    end do
    call whole%result(r)
    call check(same(r, reduct_sum(x)) .and. whole%count() == size(x), 'an accumulator')
    call whole%result(rounded)
    call check(abs(rounded - real(r, real32)) <= 0, 'its result of another kind')
    copy = whole
    call whole%add(1.0_real64)
    call copy%result(r)
    call check(same(r, reduct_sum(x)), 'a copy')
    call copy%save(bytes)
    call loaded%load(bytes)
    call loaded%result(r)
    call check(same(r, reduct_sum(x)), 'a saved one')
    call loaded%reset()
    call loaded%add(x, mask=x > 0)
    call loaded%add(x, mask=.false.)
    call loaded%add(x, mask=x < 0)
    call loaded%add(x(:, 1:0))
    call loaded%result(r)
    call check(same(r, reduct_sum(x)), 'masks')
    call part%create(REDUCT_OP_DOT, REDUCT_F64)
    call part%add(x(:, ::2), y(:, ::2))
    call part%add(x(:, 2::2), y(:, 2::2), mask=.true.)
    call part%result(r)
    call check(same(r, reduct_dot(x, y)), 'a dot product')
    call part%create(REDUCT_OP_MINMAX, REDUCT_F64)
    call part%add(x(100:1:-1, :))
    call part%result(pair)
    call check(all(abs(pair - reduct_minmax(x)) <= 0), 'extremes')
    call part%create(REDUCT_OP_ARGMAX, REDUCT_F64)
    call part%add(x)
    call part%result(place)
    call check(place == reduct_argmax(x), 'an index')
    call part%create(REDUCT_OP_COUNT_NONZERO, REDUCT_BOOL)
    call part%add(x > 0)
    call part%result(place)
    call check(place == count(x > 0), 'logicals')
    copy = copy
    call copy%result(r)
    call check(same(r, reduct_sum(x)), 'an assignment to itself')
    call copy%destroy()
    copy = loaded
    call copy%destroy()
    call check(copy%count() == 0, 'nothing is held')
  end subroutine accumulators

  subroutine accumulators_fail()
    type(reduct_accumulator) :: sum64, max64, none
    real(real64) :: r
    integer(int8), allocatable :: bytes(:)
    integer :: stat
    character(300) :: message

    call none%add([1.0_real64], stat=stat, errmsg=message)
    call check(stat == REDUCT_ERROR_ARGUMENT .and. message == 'accumulator: not created', 'adding to none')
    call none%result(r, stat=stat)
    call check(stat == REDUCT_ERROR_ARGUMENT, 'the result of none')
    call none%save(bytes, stat=stat)
    call check(stat == REDUCT_ERROR_ARGUMENT .and. .not. allocated(bytes), 'saving none')
    call none%reset()
    call none%create(REDUCT_OP_SUM, 99, stat=stat)
    call check(stat == REDUCT_ERROR_ARGUMENT .and. none%count() == 0, 'a type that is none')
    call sum64%create(REDUCT_OP_SUM, REDUCT_F64)
    call max64%create(REDUCT_OP_MAX, REDUCT_F64)
    call sum64%merge(max64, stat=stat)
    call check(stat == REDUCT_ERROR_MISMATCH, 'merging others')
    call sum64%merge(none, stat=stat)
    call check(stat == REDUCT_ERROR_ARGUMENT, 'merging none')
    call sum64%add([1.0_real32], stat=stat, errmsg=message)
    call check(stat == REDUCT_ERROR_ARGUMENT .and. message == 'x: real(real32); the accumulator is of real(real64)', 'a kind')
    call max64%result(r, stat=stat)
    call check(stat == REDUCT_ERROR_EMPTY, 'a maximum of nothing')
    call sum64%save(bytes)
    bytes(size(bytes)) = ieor(bytes(size(bytes)), 1_int8)
    call none%load(bytes, stat=stat)
    call check(stat == REDUCT_ERROR_CORRUPT, 'damaged bytes')
    call none%load([integer(int8) ::], stat=stat)
    call check(stat /= REDUCT_OK, 'no bytes')
  end subroutine accumulators_fail

  !> Whether two numbers are one, without the warning about comparing reals.
  pure logical function same(a, b)
    real(real64), intent(in) :: a, b

    same = transfer(a, 0_int64) == transfer(b, 0_int64)
  end function same

end program test_module
