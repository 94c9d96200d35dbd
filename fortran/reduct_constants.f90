!> The constants of reduct.h. Written by scripts/generate.
module reduct_constants
  implicit none
  private

  ! What came of a call: the value of stat
  integer, parameter, public :: REDUCT_OK = 0
  integer, parameter, public :: REDUCT_ERROR_ARGUMENT = 1
  integer, parameter, public :: REDUCT_ERROR_UNSUPPORTED = 2
  integer, parameter, public :: REDUCT_ERROR_OUT_OF_MEMORY = 3
  integer, parameter, public :: REDUCT_ERROR_EMPTY = 4
  integer, parameter, public :: REDUCT_ERROR_OVERFLOW = 5
  integer, parameter, public :: REDUCT_ERROR_NAN = 6
  integer, parameter, public :: REDUCT_ERROR_NO_DEVICE = 7
  integer, parameter, public :: REDUCT_ERROR_DEVICE_LOST = 8
  integer, parameter, public :: REDUCT_ERROR_TOO_LARGE = 9
  integer, parameter, public :: REDUCT_ERROR_CORRUPT = 10
  integer, parameter, public :: REDUCT_ERROR_VERSION = 11
  integer, parameter, public :: REDUCT_ERROR_MISMATCH = 12
  integer, parameter, public :: REDUCT_ERROR_CALLBACK = 13

  ! mode
  integer, parameter, public :: REDUCT_EXACT = 0
  integer, parameter, public :: REDUCT_FAST = 1

  ! nan: what NaN elements do
  integer, parameter, public :: REDUCT_NAN_PROPAGATE = 0
  integer, parameter, public :: REDUCT_NAN_IGNORE = 1
  integer, parameter, public :: REDUCT_NAN_ERROR = 2

  ! Operators
  integer, parameter, public :: REDUCT_OP_SUM = 1
  integer, parameter, public :: REDUCT_OP_MEAN = 2
  integer, parameter, public :: REDUCT_OP_VAR = 3
  integer, parameter, public :: REDUCT_OP_STD = 4
  integer, parameter, public :: REDUCT_OP_SUMSQ = 5
  integer, parameter, public :: REDUCT_OP_NORM1 = 6
  integer, parameter, public :: REDUCT_OP_NORM2 = 7
  integer, parameter, public :: REDUCT_OP_NORMINF = 8
  integer, parameter, public :: REDUCT_OP_RMS = 9
  integer, parameter, public :: REDUCT_OP_DOT = 10
  integer, parameter, public :: REDUCT_OP_MIN = 11
  integer, parameter, public :: REDUCT_OP_MAX = 12
  integer, parameter, public :: REDUCT_OP_ARGMIN = 13
  integer, parameter, public :: REDUCT_OP_ARGMAX = 14
  integer, parameter, public :: REDUCT_OP_PRODUCT = 15
  integer, parameter, public :: REDUCT_OP_COUNT = 16
  integer, parameter, public :: REDUCT_OP_COUNT_NONZERO = 17
  integer, parameter, public :: REDUCT_OP_ANY = 18
  integer, parameter, public :: REDUCT_OP_ALL = 19
  integer, parameter, public :: REDUCT_OP_AND = 20
  integer, parameter, public :: REDUCT_OP_OR = 21
  integer, parameter, public :: REDUCT_OP_XOR = 22
  integer, parameter, public :: REDUCT_OP_MINMAX = 23
  integer, parameter, public :: REDUCT_OP_PTP = 24
  integer, parameter, public :: REDUCT_OP_WEIGHTED_MEAN = 25

  ! Types of elements, for accumulators
  integer, parameter, public :: REDUCT_F64 = 1
  integer, parameter, public :: REDUCT_F32 = 2
  integer, parameter, public :: REDUCT_I8 = 5
  integer, parameter, public :: REDUCT_I16 = 6
  integer, parameter, public :: REDUCT_I32 = 7
  integer, parameter, public :: REDUCT_I64 = 8
  integer, parameter, public :: REDUCT_BOOL = 16
end module reduct_constants
