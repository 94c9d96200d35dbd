!> Sums of the fields of a climate model over ranks, three ways, in time and bits:
!>
!>   plain     a loop, and MPI's own sum: other bits for other numbers of ranks
!>   vectors   the method that the models' own shr_reprosum_mod describes, in short: each number becomes a few integers, which ranks
!>             add. It needs two all-reduces, since all must agree on exponents first
!>   reduct    shr_reprosum_calc of this library: one all-reduce, correctly rounded
!>
!> mpirun -n 4 reprosum [summands of all ranks] [fields]
program reprosum
  use, intrinsic :: iso_fortran_env, only: int64, real64
  use mpi_f08
  use shr_reprosum_mod
  implicit none

  integer :: rank, ranks, n, fields, first, own, i, method
  real(real64), allocatable :: whole(:, :), part(:, :), sums(:)
  real(real64) :: times(3)
  character(7), parameter :: names(3) = ['plain  ', 'vectors', 'reduct ']

  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  n = argument(1, 100000)
  fields = argument(2, 8)
  first = int(int(n, int64) * rank / ranks)
  own = int(int(n, int64) * (rank + 1) / ranks) - first
  allocate (whole(n, fields), sums(fields))
  call make(whole)
  part = whole(first + 1:first + own, :)

  if (rank == 0) print '(i0, a, i0, a, i0, a)', fields, ' fields of ', n, ' numbers on ', ranks, ' ranks'
  times = huge(times)
  do i = 1, 20
    do method = 1, 3
      times(method) = min(times(method), time_of(method))
    end do
  end do
  do method = 1, 3
    if (time_of(method) < 0 .or. rank > 0) cycle
    print '(a, f10.1, a, z16.16)', names(method), times(method) * 1e6, ' us, the first sum has the bits ', sums(1)
  end do
  call MPI_Finalize()

contains

  integer function argument(place, otherwise)
    integer, intent(in) :: place, otherwise
    character(20) :: text

    argument = otherwise
    if (command_argument_count() < place) return
    call get_command_argument(place, text)
    read (text, *) argument
  end function argument

  !> Fluxes of both signs that nearly cancel, the same on every rank.
  subroutine make(x)
    real(real64), intent(out) :: x(:, :)
    integer(int64) :: state
    integer :: i, k

    state = 1
    do k = 1, size(x, 2)
      do i = 1, size(x, 1)
        state = mod(state * 48271, 2147483647_int64)
        x(i, k) = (state - 1073741823) * 2.0_real64**(mod(state, 41_int64) - 20)
      end do
    end do
  end subroutine make

  real(real64) function time_of(method)
    integer, intent(in) :: method

    call MPI_Barrier(MPI_COMM_WORLD)
    time_of = MPI_Wtime()
    select case (method)
    case (1)
      sums = sum(part, 1)
      call MPI_Allreduce(MPI_IN_PLACE, sums, fields, MPI_REAL8, MPI_SUM, MPI_COMM_WORLD)
    case (2)
      call sum_vectors(part, sums)
    case (3)
      call shr_reprosum_calc(part, sums, own, own, fields, commid=MPI_COMM_WORLD%MPI_VAL)
    end select
    time_of = MPI_Wtime() - time_of
  end function time_of

  !> Numbers as integers of `shift` bits, one for each level of exponents from the largest down; 63 bits leave room for all to add up.
  subroutine sum_vectors(x, sums)
    real(real64), intent(in) :: x(:, :)
    real(real64), intent(out) :: sums(:)
    integer :: bounds(2 * fields + 1), shift, i, k, level, top(fields), levels(fields)
    integer(int64), allocatable :: vectors(:, :)
    integer(int64) :: digits_of_level
    real(real64) :: rest

    bounds(1) = size(x, 1)
    bounds(2:) = -huge(bounds)
    do k = 1, fields
      do i = 1, size(x, 1)
        if (.not. abs(x(i, k)) > 0) cycle
        bounds(2 * k) = max(bounds(2 * k), exponent(x(i, k)))
        bounds(2 * k + 1) = max(bounds(2 * k + 1), -exponent(x(i, k)))
      end do
    end do
    call MPI_Allreduce(MPI_IN_PLACE, bounds, size(bounds), MPI_INTEGER, MPI_MAX, MPI_COMM_WORLD)
    shift = 62 - exponent(real(bounds(1), real64) * ranks)
    top = bounds(2::2)
    levels = 1 + (bounds(2::2) + bounds(3::2) + digits(rest) + shift - 1) / shift
    allocate (vectors(maxval(levels), fields), source=0_int64)
    do k = 1, fields
      do i = 1, size(x, 1)
        rest = scale(x(i, k), shift - top(k))
        do level = 1, levels(k)
          digits_of_level = int(rest, int64)
          vectors(level, k) = vectors(level, k) + digits_of_level
          rest = scale(rest - real(digits_of_level, real64), shift)
          if (.not. abs(rest) > 0) exit
        end do
      end do
    end do
    call MPI_Allreduce(MPI_IN_PLACE, vectors, size(vectors), MPI_INTEGER8, MPI_SUM, MPI_COMM_WORLD)
    do k = 1, fields
      do level = levels(k), 2, -1 ! carries
        digits_of_level = vectors(level, k) / 2_int64**shift
        vectors(level, k) = vectors(level, k) - digits_of_level * 2_int64**shift
        vectors(level - 1, k) = vectors(level - 1, k) + digits_of_level
      end do
      sums(k) = 0
      do level = levels(k), 1, -1
        sums(k) = sums(k) + scale(real(vectors(level, k), real64), top(k) - level * shift)
      end do
    end do
  end subroutine sum_vectors

end program reprosum
