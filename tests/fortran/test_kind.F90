! The functions by name for one kind of elements, KIND_OF_X, of all ranks, against Fortran's own: on small whole numbers these
! make no rounding error. WIDE(x) is x in a kind in which its sums are exact, and ROUND(x) a quotient in the kind of means.
#ifdef TYPE_IS_real
#define ELEMENT real(KIND_OF_X)
#define WIDE(x) (x)
#define ROUND(x) real(x, KIND_OF_X)
#else
#define ELEMENT integer(KIND_OF_X)
#define WIDE(x) int(x, int64)
#define ROUND(x) real(x, real64)
#endif
program test_kind
  use, intrinsic :: iso_fortran_env
  use reduct
  use checks
  implicit none

  integer, parameter :: lengths(7) = [3, 4, 2, 3, 2, 3, 2]
  ELEMENT, parameter :: one = 1
  ELEMENT :: x1(3), x2(3, 4), x3(3, 4, 2), x4(3, 4, 2, 3), x5(3, 4, 2, 3, 2), x6(3, 4, 2, 3, 2, 3), x7(3, 4, 2, 3, 2, 3, 2)
  logical :: m1(3), m2(3, 4), m3(3, 4, 2), m4(3, 4, 2, 3), m5(3, 4, 2, 3, 2), m6(3, 4, 2, 3, 2, 3), m7(3, 4, 2, 3, 2, 3, 2)
  integer :: i

  x7 = reshape([(value(i), i = 1, size(x7))], lengths)
  m7 = reshape([(mod(i * 37, 5) > 1, i = 1, size(m7))], lengths)
  x6 = x7(:, :, :, :, :, :, 1)
  m6 = m7(:, :, :, :, :, :, 1)
  x5 = x6(:, :, :, :, :, 2)
  m5 = m6(:, :, :, :, :, 2)
  x4 = x5(:, :, :, :, 1)
  m4 = m5(:, :, :, :, 1)
  x3 = x4(:, :, :, 3)
  m3 = m4(:, :, :, 3)
  x2 = x3(:, :, 1)
  m2 = m3(:, :, 1)
  x1 = x2(:, 2)
  m1 = m2(:, 2)

  call rank1(x1, m1)
  call rank1(x1(3:1:-1), m1(3:1:-1))
  call rank1(x1(1:3:2), m1(1:3:2))
  call rank1(x1(1:0), m1(1:0))
  call rank2(x2, m2)
  call rank2(x2(3:1:-2, 1:4:3), m2(3:1:-2, 1:4:3))
  call rank2(x2(2:3, 4:1:-1), m2(1:2, :))
  call rank2(x2([1, 3, 1], :), m2)
  call rank2(x2(1:0, :), m2(1:0, :))
  call rank2(x2(:, 1:0), m2(:, 1:0))
  call rank3(x3, m3)
  call rank3(x3(:, 1:4:2, :), m3(:, 1:4:2, :))
  call rank3(x3(3:1:-1, 4:1:-1, 2:1:-1), m3)
  call rank3(x7(2, :, 1, :, 2, 3, :), m7(2, :, 1, :, 2, 3, :))
  call rank4(x4, m4)
  call rank4(x4(1:3:2, 4:1:-1, :, 3:1:-2), m4(1:3:2, :, :, 1:3:2))
  call rank5(x5, m5)
  call rank5(x5(:, 2:3, 2:1:-1, 1:3:2, :), m5(:, 2:3, :, 1:3:2, :))
  call rank6(x6, m6)
  call rank6(x6(3:1:-1, 1:4:2, :, 1:3:2, :, 3:1:-1), m6(:, 1:4:2, :, 1:3:2, :, :))
  call rank7(x7, m7)
  call rank7(x7(3:1:-2, 1:4:3, 2:1:-1, :, :, 1:3:2, 2:1:-1), m7(3:1:-2, 1:4:3, :, :, :, 1:3:2, :))
  call finish()

contains

  !> Whole numbers from -2 to 2, with few zeros and no order.
  ELEMENT function value(i)
    integer, intent(in) :: i
    ELEMENT, parameter :: values(11) = [1, -2, 2, -1, 1, 2, 0, -1, -2, 1, 2]

    value = values(1 + mod(i * i + i / 7, 11))
  end function value

  !> One of each in turn.
  function pairs(low, high)
    ELEMENT, intent(in) :: low(:), high(:)
    ELEMENT :: pairs(2 * size(low))

    pairs(1::2) = low
    pairs(2::2) = high
  end function pairs

#define NAME rank1
#define DIMS :
#include "rank.inc"
#undef NAME
#undef DIMS
#define NAME rank2
#define DIMS :, :
#include "rank.inc"
#undef NAME
#undef DIMS
#define NAME rank3
#define DIMS :, :, :
#include "rank.inc"
#undef NAME
#undef DIMS
#define NAME rank4
#define DIMS :, :, :, :
#include "rank.inc"
#undef NAME
#undef DIMS
#define NAME rank5
#define DIMS :, :, :, :, :
#include "rank.inc"
#undef NAME
#undef DIMS
#define NAME rank6
#define DIMS :, :, :, :, :, :
#include "rank.inc"
#undef NAME
#undef DIMS
#define NAME rank7
#define DIMS :, :, :, :, :, :, :
#include "rank.inc"

end program test_kind
