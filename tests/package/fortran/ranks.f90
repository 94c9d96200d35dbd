program ranks
  use mpi_f08
  use reduct
  use reduct_mpi
  use shr_reprosum_mod
  implicit none
  double precision :: total, sums(1)

  call MPI_Init()
  call reduct_allreduce(REDUCT_OP_SUM, [1d100, 1d0, -1d100], total, MPI_COMM_WORLD)
  call shr_reprosum_calc(reshape([1d100, 1d0, -1d100], [3, 1]), sums, 3, 3, 1)
  print '(2f4.1)', total, sums
  call MPI_Finalize()
end program ranks
