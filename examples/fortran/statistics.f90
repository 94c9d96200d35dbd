!> A field on a grid: statistics of all of it, of each level, of a region, and in pieces, with the same bits in every order.
program statistics
  use, intrinsic :: iso_fortran_env, only: int8, real32, real64
  use reduct
  implicit none

  real(real32) :: t(36, 18, 4) ! longitude, latitude, level
  real(real64) :: energy(4), total
  real(real32) :: mean
  logical :: is_land(36, 18, 4)
  integer(int8), allocatable :: saved(:)
  type(reduct_accumulator) :: first, second
  integer :: i, j, k

  do concurrent(i=1:36, j=1:18, k=1:4)
    t(i, j, k) = 250 + 30 * cos(0.17 * j) + 0.3 * sin(0.17 * i) - 6 * k
    is_land(i, j, k) = mod(i * j, 7) < 3
  end do

  print '(a, f9.5)', 'mean of all                  ', reduct_mean(t)
  print '(a, f9.5)', 'of every second row          ', reduct_mean(t(:, ::2, :))
  print '(a, f9.5)', 'of the land                  ', reduct_mean(t, is_land)
  print '(a, 4f9.4)', 'deviation of the first row   ', reduct_std(t(:, 1, :), dim=1)
  print '(a, i0)', 'place of the warmest         ', reduct_argmax(t)

  ! Several fields in one call, summed as real64: one result for each level.
  call reduct_reduce(REDUCT_OP_SUMSQ, t, energy, dims=[1, 2])
  print '(a, 4es18.10)', 'squares of each level', energy

  ! The same in pieces that meet later, perhaps on another machine.
  call first%create(REDUCT_OP_MEAN, REDUCT_F32)
  call first%add(t(:, :, 1:3))
  call first%save(saved)
  call second%load(saved)
  call second%add(t(:, :, 4))
  call second%result(mean)
  print '(a, f9.5)', 'mean of all, in pieces       ', mean

  total = reduct_sum(energy(1:0))
  mean = reduct_mean(t(:, 1:0, :), stat=i)
  print '(a, f3.1, 2a)', 'sum of nothing ', total, '; mean of nothing: ', reduct_status_text(i)
end program statistics
