!> Reductions over ranks from Fortran: every rank makes the whole data, gives its part, and compares with the whole.
program test_ranks
  use, intrinsic :: iso_fortran_env
  use, intrinsic :: ieee_arithmetic
  use, intrinsic :: iso_c_binding, only: c_double, c_int, c_null_ptr, c_ptr
  use mpi_f08
  use reduct
  use reduct_mpi
  use shr_reprosum_mod
  use checks, checks_finish => finish
  implicit none
  integer, parameter :: n = 1000, fields = 5
  integer :: rank, ranks, first, last
  real(real64) :: whole(n, fields), other(n, fields)

  interface
    subroutine fail_allocation(bytes) bind(C)
      import :: c_int
      integer(c_int), value :: bytes
    end subroutine fail_allocation
    function allocation_failed() bind(C)
      import :: c_int
      integer(c_int) :: allocation_failed
    end function allocation_failed
    function collectives() bind(C)
      import :: c_int
      integer(c_int) :: collectives
    end function collectives
    function c_reprosum(values, summands, length, fields, refuse_nan, comm, sums, largest, most, plain, error) &
        result(status) bind(C, name='reduct_fortran_reprosum')
      import :: c_ptr, c_int, c_double
      real(c_double), intent(in) :: values(*)
      integer(c_int), value :: summands, length, fields, refuse_nan
      integer(c_int), intent(in) :: comm
      real(c_double), intent(inout) :: sums(*)
      type(c_ptr), value :: largest, most, plain
      integer(c_int), intent(inout) :: error(*)
      integer(c_int) :: status
    end function c_reprosum
  end interface

  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  call make(whole, 1)
  call make(other, 2)
  first = part_before(rank) + 1
  last = part_before(rank + 1)
  call arrays()
  call masks()
  call accumulators()
  call failures()
  call climate()
  call many()
  if (rank == 0) call checks_finish()
  call MPI_Finalize()

contains

  !> Parts of unequal lengths, the first of several empty.
  pure integer function part_before(r)
    integer, intent(in) :: r

    part_before = merge(n, n * (r * (r - 1)) / max(1, ranks * (ranks - 1)), r == ranks)
  end function part_before

  !> The same numbers on every rank, with exponents that differ widely and both signs.
  subroutine make(x, seed)
    real(real64), intent(out) :: x(:, :)
    integer, intent(in) :: seed
    integer(int64) :: state
    integer :: i, k

    state = seed
    do k = 1, size(x, 2)
      do i = 1, size(x, 1)
        state = mod(state * 48271, 2147483647_int64)
        x(i, k) = (state - 1073741823) * 2.0_real64**(mod(state, 97_int64) - 48)
      end do
    end do
  end subroutine make

  subroutine arrays()
    real(real64) :: total, sums(fields), both(2), extremes(2, fields)
    real(real32) :: rounded
    integer :: i, most
    integer(int64) :: place

    call reduct_allreduce(REDUCT_OP_SUM, whole(first:last, :), total, MPI_COMM_WORLD)
    call check(same(total, reduct_sum(whole)), 'a sum')
    call reduct_allreduce(REDUCT_OP_SUM, whole(last:first:-1, :), total, MPI_COMM_WORLD%MPI_VAL)
    call check(same(total, reduct_sum(whole)), 'a sum of a section, with a communicator of the older modules')
    call reduct_allreduce(REDUCT_OP_STD, whole(first:last, 1), rounded, MPI_COMM_WORLD, population=.true.)
    call reduct_reduce(REDUCT_OP_STD, whole(:, 1), total, population=.true.)
    call check(abs(rounded - real(total, real32)) <= spacing(rounded), 'a deviation as real32')
    call reduct_allreduce(REDUCT_OP_DOT, whole(first:last, :), total, MPI_COMM_WORLD, y=other(first:last, :))
    call check(same(total, reduct_dot(whole, other)), 'a dot product')
    call reduct_allreduce(REDUCT_OP_SUM, whole(first:last, :), sums, MPI_COMM_WORLD, dims=[1])
    call check(all([(same(sums(i), reduct_sum(whole(:, i))), i = 1, fields)]), 'sums of fields')
    call reduct_allreduce(REDUCT_OP_MINMAX, whole(first:last, :), extremes, MPI_COMM_WORLD, dims=[1])
    call reduct_allreduce(REDUCT_OP_MINMAX, whole(first:last, 2), both, MPI_COMM_WORLD)
    call check(all(abs(both - reduct_minmax(whole(:, 2))) <= 0), 'extremes')
    call check(all(abs(extremes(:, 2) - both) <= 0), 'extremes of fields')
    call reduct_allreduce(REDUCT_OP_ARGMAX, whole(first:last, 3), place, MPI_COMM_WORLD)
    call check(place == reduct_argmax(whole(:, 3)), 'an index')
    call reduct_allreduce(REDUCT_OP_MAX, rank, most, MPI_COMM_WORLD)
    call check(most == ranks - 1, 'a maximum of scalars')
    call reduct_allreduce(REDUCT_OP_COUNT_NONZERO, whole(first:last, :) > 0, place, MPI_COMM_WORLD)
    call check(place == count(whole > 0), 'logicals')
  end subroutine arrays

  subroutine masks()
    real(real64) :: total, sums(fields)
    integer :: i

    call reduct_allreduce(REDUCT_OP_SUM, whole(first:last, :), total, MPI_COMM_WORLD, mask=whole(first:last, :) > 0)
    call check(same(total, reduct_sum(whole, whole > 0)), 'a mask')
    call reduct_allreduce(REDUCT_OP_DOT, whole(first:last, :), sums, MPI_COMM_WORLD, y=other(first:last, :), dims=[1], &
                          mask=other(first:last, :) > 0)
    call check(all([(same(sums(i), reduct_dot(whole(:, i), other(:, i), other(:, i) > 0)), i = 1, fields)]), 'masks of fields')
    call reduct_allreduce(REDUCT_OP_SUM, whole(first:last, :), total, MPI_COMM_WORLD, mask=rank == ranks - 1)
    call check(same(total, reduct_sum(whole(part_before(ranks - 1) + 1:, :))), 'the mask of one rank')
  end subroutine masks

  subroutine accumulators()
    type(reduct_accumulator) :: accumulator
    real(real64) :: total
    integer :: stat

    call accumulator%create(REDUCT_OP_SUM, REDUCT_F64)
    call accumulator%add(whole(first:last, :))
    call reduct_allreduce(accumulator, MPI_COMM_WORLD)
    call accumulator%result(total)
    call check(same(total, reduct_sum(whole)), 'an accumulator')
    if (rank == ranks - 1) call accumulator%destroy()
    call reduct_allreduce(accumulator, MPI_COMM_WORLD, stat=stat)
    call check(stat == REDUCT_ERROR_ARGUMENT, 'an accumulator that one rank lacks')
  end subroutine accumulators

  !> What is wrong on one rank, all hear of.
  subroutine failures()
    real(real64) :: total, x(3), all_of_it, sums(50)
    integer :: stat
    integer(c_int) :: error(200)
    character(240) :: message

    x = 1
    if (rank == ranks - 1) x(2) = ieee_value(x(2), ieee_quiet_nan)
    total = 7
    call reduct_allreduce(REDUCT_OP_SUM, x, total, MPI_COMM_WORLD, nan=REDUCT_NAN_ERROR, stat=stat, errmsg=message)
    call check(stat == REDUCT_ERROR_NAN .and. same(total, 7.0_real64), 'a NaN on one rank')
    call check(index(message, 'NaN') > 0, 'a NaN on one rank: ' // trim(message))
    call reduct_allreduce(REDUCT_OP_DOT, x, total, MPI_COMM_WORLD, y=x(:merge(2, 3, rank == 0)), stat=stat, errmsg=message)
    call check(stat /= REDUCT_OK .and. same(total, 7.0_real64), 'arrays of other shapes on one rank: ' // trim(message))
    call check(index(message, 'rank 0: y: ') == 1, 'why one rank failed: ' // trim(message))
    sums = 7
    call reduct_allreduce(merge(9999, REDUCT_OP_SUM, rank == ranks - 1), x, sums(1), MPI_COMM_WORLD, stat=stat, errmsg=message)
    call check(stat == REDUCT_ERROR_ARGUMENT .and. index(message, 'op: 9999;') > 0, 'no operator on one rank: ' // trim(message))
    if (rank == 0) then
      call reduct_allreduce(REDUCT_OP_MINMAX, other(:3, 1), sums(:2), MPI_COMM_WORLD, stat=stat, errmsg=message)
    else
      call reduct_allreduce(REDUCT_OP_SUM, other(:3, :2), sums(:2), MPI_COMM_WORLD, dims=[1], stat=stat, errmsg=message)
    end if
    call check(stat == merge(REDUCT_OK, REDUCT_ERROR_MISMATCH, ranks == 1), 'pairs on one rank: ' // trim(message))
    sums = 7
    call reduct_allreduce(REDUCT_OP_SUM, x, sums(1), MPI_COMM_NULL, stat=stat, errmsg=message)
    call check(stat == REDUCT_ERROR_ARGUMENT, 'no communicator: ' // trim(message))
    call reduct_allreduce(REDUCT_OP_SUM, spread(sums, 1, 1), sums, MPI_COMM_NULL, dims=[1], stat=stat, errmsg=message)
    call check(stat == REDUCT_ERROR_ARGUMENT, 'no communicator for many results: ' // trim(message))
    stat = c_reprosum(sums, 1, 1, size(sums), 1, MPI_COMM_NULL%MPI_VAL, sums, c_null_ptr, c_null_ptr, c_null_ptr, error)
    call check(stat == REDUCT_ERROR_ARGUMENT, 'no communicator for a model')
    call reduct_allreduce(REDUCT_OP_SUM, x(:0), sums(:0), MPI_COMM_WORLD, dims=[merge(2, 1, rank == ranks - 1)], stat=stat)
    call check(stat /= REDUCT_OK, 'no results, and an axis that one rank lacks')
    call check(all(abs(sums - 7) <= 0), 'results of what failed')
    call reduct_allreduce(REDUCT_OP_MEAN, x(:0), total, MPI_COMM_WORLD, stat=stat)
    call check(stat == REDUCT_ERROR_EMPTY, 'a mean of nothing')
    call reduct_allreduce(REDUCT_OP_ARGMAX, x, stat, MPI_COMM_WORLD, mask=x > 0, stat=stat)
    call check(stat == REDUCT_ERROR_UNSUPPORTED, 'an index with a mask')
    call reduct_allreduce(REDUCT_OP_SUM, whole(first:last, :), all_of_it, MPI_COMM_WORLD, stat=stat)
    call check(same(all_of_it, reduct_sum(whole)) .and. stat == REDUCT_OK, 'a sum after failures')
  end subroutine failures

  subroutine climate()
    real(real64) :: sums(fields), largest(fields), difference(2, fields), infinite(2, 1), sum_of_it(1)
    integer :: most, stats(6), i, levels(fields)

    stats = 0
    call shr_reprosum_setopts(repro_sum_rel_diff_max_in=1e-30_real64, repro_sum_master=.false.)
    call shr_reprosum_calc(whole(first:last, :), sums, last - first + 1, last - first + 1, fields, commid=MPI_COMM_WORLD%MPI_VAL)
    call check(all([(same(sums(i), reduct_sum(whole(:, i))), i = 1, fields)]), 'sums of a model')
    sums = 0
    call shr_reprosum_calc(whole(first:, :), sums, last - first + 1, n - first + 1, fields, ddpdd_sum=.true., &
                           arr_gbl_max_out=largest, arr_max_levels_out=levels, gbl_max_nsummands_out=most, &
                           repro_sum_stats=stats, rel_diff=difference)
    call check(all([(same(sums(i), reduct_sum(whole(:, i))), i = 1, fields)]), 'sums of a model, with more room')
    call check(all([(same(largest(i), reduct_norminf(whole(:, i))), i = 1, fields)]), 'largest magnitudes')
    call check(most == maxval([(part_before(i + 1) - part_before(i), i = 0, ranks - 1)]), 'most summands')
    call check(all(stats == [1, 0, 0, 1, 0, 0]) .and. all(levels == 1), 'what was done')
    call check(shr_reprosum_tolExceeded('test', fields, .false., rel_diff=difference) .eqv. any(difference(1, :) > 1e-30_real64), &
               'a tolerance')
    infinite = 1
    infinite(1, 1) = ieee_value(infinite(1, 1), ieee_positive_inf)
    call shr_reprosum_calc(infinite, sum_of_it, 2, 2, 1, allow_infnan=.true.)
    call check(same(sum_of_it(1), infinite(1, 1)), 'an infinity that is allowed')
  end subroutine climate

  !> So many sums that they take memory, which one rank does not get; and how many all-reduces there are.
  subroutine many()
    integer, parameter :: most = 300, sizes(4) = [8, 40, 41, most]
    real(real64) :: x(3, most), sums(most)
    integer :: i, k, stat, before
    integer(c_int) :: error(200)

    x = spread([(real(i, real64), i = 1, most)], 1, 3)
    do k = 1, size(sizes)
      associate (m => sizes(k))
        sums = 7
        before = collectives()
        call reduct_allreduce(REDUCT_OP_SUM, x(:, :m), sums(:m), MPI_COMM_WORLD, dims=[1])
        call check(collectives() - before == merge(1, 2, m < 100), 'all-reduces of many sums')
        call check(all([(same(sums(i), 3.0_real64 * ranks * i), i = 1, m)]), 'many sums')
        sums = 7
        before = collectives()
        call shr_reprosum_calc(x(:, :m), sums(:m), 3, 3, m, commid=MPI_COMM_WORLD%MPI_VAL)
        call check(collectives() - before == merge(1, 2, m < 100), 'all-reduces of a model')
        call check(all([(same(sums(i), 3.0_real64 * ranks * i), i = 1, m)]), 'many sums of a model')
        if (m <= 40) cycle
        sums = 7
        if (rank == ranks - 1) call fail_allocation(m * 80)
        call reduct_allreduce(REDUCT_OP_SUM, x(:, :m), sums(:m), MPI_COMM_WORLD, dims=[1], stat=stat)
        call check((allocation_failed() /= 0) .eqv. rank == ranks - 1, 'memory did not run out')
        call check(stat == REDUCT_ERROR_OUT_OF_MEMORY .and. all(abs(sums - 7) <= 0), 'memory that one rank lacks')
        if (rank == ranks - 1) call fail_allocation(m * 80)
        stat = c_reprosum(x, 3, 3, m, 1, MPI_COMM_WORLD%MPI_VAL, sums, c_null_ptr, c_null_ptr, c_null_ptr, error)
        call check((allocation_failed() /= 0) .eqv. rank == ranks - 1, 'memory of a model did not run out')
        call check(stat == REDUCT_ERROR_OUT_OF_MEMORY .and. all(abs(sums - 7) <= 0), 'memory of a model that one rank lacks')
      end associate
    end do
  end subroutine many

  pure logical function same(a, b)
    real(real64), intent(in) :: a, b

    same = transfer(a, 0_int64) == transfer(b, 0_int64)
  end function same

end program test_ranks
