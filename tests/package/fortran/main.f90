program main
  use reduct
  implicit none

  print '(a, 1x, f3.1)', 'reduct ' // reduct_version(), reduct_sum([1d100, 1d0, -1d100, 0.1d0, 0.2d0])
end program main
