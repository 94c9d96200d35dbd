# One .cu file into a C array: run by ReductCuda.cmake with cmake -P.
#
#   NVCC, FLAGS, SOURCE   what to compile, and how
#   SYMBOL                the array's name
#   OUTPUT                makes OUTPUT.c, OUTPUT.d (what it depends on) and OUTPUT.ptxas (registers, spills)

execute_process(
  COMMAND ${NVCC} -fatbin ${FLAGS} -Xptxas -v -MD -MF ${OUTPUT}.d -MT ${OUTPUT}.c ${SOURCE} -o ${OUTPUT}.fatbin
  RESULT_VARIABLE result OUTPUT_VARIABLE text ERROR_VARIABLE text)
file(WRITE ${OUTPUT}.ptxas "${text}")
if(result OR text MATCHES "warning")
  message("${text}")
endif()
if(result)
  message(FATAL_ERROR "nvcc failed for ${SOURCE}")
endif()

# As 64-bit words, eight times fewer for the C compiler to read, and aligned as the driver wants them. Both sides of CUDA
# are little-endian.
file(READ ${OUTPUT}.fatbin bytes HEX)
string(LENGTH "${bytes}" digits)
math(EXPR padding "(16 - ${digits} % 16) % 16")
string(REPEAT "0" ${padding} zeros)
string(APPEND bytes "${zeros}")
set(byte "([0-9a-f][0-9a-f])")
string(REGEX REPLACE "${byte}${byte}${byte}${byte}${byte}${byte}${byte}${byte}" "0x\\8\\7\\6\\5\\4\\3\\2\\1,\n" words
       "${bytes}")
file(WRITE ${OUTPUT}.c "#include <stdint.h>\n\nextern const uint64_t ${SYMBOL}[];\nconst uint64_t ${SYMBOL}[] = {\n${words}};\n")
file(REMOVE ${OUTPUT}.fatbin)
