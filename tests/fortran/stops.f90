!> A failure without stat ends the program.
program stops
  use reduct
  implicit none

  print *, reduct_mean([real ::])
  print *, 'went on'
end program stops
