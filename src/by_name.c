/* The functions by name: see reduct_reduce(), of which each is one case. Written by scripts/generate. */
#include <reduct/reduct.h>

reduct_status reduct_sum_f64(const double *x, size_t count, double *result) {
    return reduct_reduce(REDUCT_SUM, REDUCT_F64, x, NULL, count, result);
}

reduct_status reduct_sum_f32(const float *x, size_t count, float *result) {
    return reduct_reduce(REDUCT_SUM, REDUCT_F32, x, NULL, count, result);
}

reduct_status reduct_sum_f16(const reduct_f16 *x, size_t count, reduct_f16 *result) {
    return reduct_reduce(REDUCT_SUM, REDUCT_F16, x, NULL, count, result);
}

reduct_status reduct_sum_bf16(const reduct_bf16 *x, size_t count, reduct_bf16 *result) {
    return reduct_reduce(REDUCT_SUM, REDUCT_BF16, x, NULL, count, result);
}

reduct_status reduct_sum_i8(const int8_t *x, size_t count, int64_t *result) {
    return reduct_reduce(REDUCT_SUM, REDUCT_I8, x, NULL, count, result);
}

reduct_status reduct_sum_i16(const int16_t *x, size_t count, int64_t *result) {
    return reduct_reduce(REDUCT_SUM, REDUCT_I16, x, NULL, count, result);
}

reduct_status reduct_sum_i32(const int32_t *x, size_t count, int64_t *result) {
    return reduct_reduce(REDUCT_SUM, REDUCT_I32, x, NULL, count, result);
}

reduct_status reduct_sum_i64(const int64_t *x, size_t count, int64_t *result) {
    return reduct_reduce(REDUCT_SUM, REDUCT_I64, x, NULL, count, result);
}

reduct_status reduct_sum_u8(const uint8_t *x, size_t count, uint64_t *result) {
    return reduct_reduce(REDUCT_SUM, REDUCT_U8, x, NULL, count, result);
}

reduct_status reduct_sum_u16(const uint16_t *x, size_t count, uint64_t *result) {
    return reduct_reduce(REDUCT_SUM, REDUCT_U16, x, NULL, count, result);
}

reduct_status reduct_sum_u32(const uint32_t *x, size_t count, uint64_t *result) {
    return reduct_reduce(REDUCT_SUM, REDUCT_U32, x, NULL, count, result);
}

reduct_status reduct_sum_u64(const uint64_t *x, size_t count, uint64_t *result) {
    return reduct_reduce(REDUCT_SUM, REDUCT_U64, x, NULL, count, result);
}

reduct_status reduct_sum_bool(const reduct_bool *x, size_t count, uint64_t *result) {
    return reduct_reduce(REDUCT_SUM, REDUCT_BOOL, x, NULL, count, result);
}

reduct_status reduct_mean_f64(const double *x, size_t count, double *result) {
    return reduct_reduce(REDUCT_MEAN, REDUCT_F64, x, NULL, count, result);
}

reduct_status reduct_mean_f32(const float *x, size_t count, float *result) {
    return reduct_reduce(REDUCT_MEAN, REDUCT_F32, x, NULL, count, result);
}

reduct_status reduct_mean_f16(const reduct_f16 *x, size_t count, reduct_f16 *result) {
    return reduct_reduce(REDUCT_MEAN, REDUCT_F16, x, NULL, count, result);
}

reduct_status reduct_mean_bf16(const reduct_bf16 *x, size_t count, reduct_bf16 *result) {
    return reduct_reduce(REDUCT_MEAN, REDUCT_BF16, x, NULL, count, result);
}

reduct_status reduct_mean_i8(const int8_t *x, size_t count, double *result) {
    return reduct_reduce(REDUCT_MEAN, REDUCT_I8, x, NULL, count, result);
}

reduct_status reduct_mean_i16(const int16_t *x, size_t count, double *result) {
    return reduct_reduce(REDUCT_MEAN, REDUCT_I16, x, NULL, count, result);
}

reduct_status reduct_mean_i32(const int32_t *x, size_t count, double *result) {
    return reduct_reduce(REDUCT_MEAN, REDUCT_I32, x, NULL, count, result);
}

reduct_status reduct_mean_i64(const int64_t *x, size_t count, double *result) {
    return reduct_reduce(REDUCT_MEAN, REDUCT_I64, x, NULL, count, result);
}

reduct_status reduct_mean_u8(const uint8_t *x, size_t count, double *result) {
    return reduct_reduce(REDUCT_MEAN, REDUCT_U8, x, NULL, count, result);
}

reduct_status reduct_mean_u16(const uint16_t *x, size_t count, double *result) {
    return reduct_reduce(REDUCT_MEAN, REDUCT_U16, x, NULL, count, result);
}

reduct_status reduct_mean_u32(const uint32_t *x, size_t count, double *result) {
    return reduct_reduce(REDUCT_MEAN, REDUCT_U32, x, NULL, count, result);
}

reduct_status reduct_mean_u64(const uint64_t *x, size_t count, double *result) {
    return reduct_reduce(REDUCT_MEAN, REDUCT_U64, x, NULL, count, result);
}

reduct_status reduct_mean_bool(const reduct_bool *x, size_t count, double *result) {
    return reduct_reduce(REDUCT_MEAN, REDUCT_BOOL, x, NULL, count, result);
}

reduct_status reduct_var_f64(const double *x, size_t count, double *result) {
    return reduct_reduce(REDUCT_VAR, REDUCT_F64, x, NULL, count, result);
}

reduct_status reduct_var_f32(const float *x, size_t count, float *result) {
    return reduct_reduce(REDUCT_VAR, REDUCT_F32, x, NULL, count, result);
}

reduct_status reduct_var_f16(const reduct_f16 *x, size_t count, reduct_f16 *result) {
    return reduct_reduce(REDUCT_VAR, REDUCT_F16, x, NULL, count, result);
}

reduct_status reduct_var_bf16(const reduct_bf16 *x, size_t count, reduct_bf16 *result) {
    return reduct_reduce(REDUCT_VAR, REDUCT_BF16, x, NULL, count, result);
}

reduct_status reduct_var_i8(const int8_t *x, size_t count, double *result) {
    return reduct_reduce(REDUCT_VAR, REDUCT_I8, x, NULL, count, result);
}

reduct_status reduct_var_i16(const int16_t *x, size_t count, double *result) {
    return reduct_reduce(REDUCT_VAR, REDUCT_I16, x, NULL, count, result);
}

reduct_status reduct_var_i32(const int32_t *x, size_t count, double *result) {
    return reduct_reduce(REDUCT_VAR, REDUCT_I32, x, NULL, count, result);
}

reduct_status reduct_var_i64(const int64_t *x, size_t count, double *result) {
    return reduct_reduce(REDUCT_VAR, REDUCT_I64, x, NULL, count, result);
}

reduct_status reduct_var_u8(const uint8_t *x, size_t count, double *result) {
    return reduct_reduce(REDUCT_VAR, REDUCT_U8, x, NULL, count, result);
}

reduct_status reduct_var_u16(const uint16_t *x, size_t count, double *result) {
    return reduct_reduce(REDUCT_VAR, REDUCT_U16, x, NULL, count, result);
}

reduct_status reduct_var_u32(const uint32_t *x, size_t count, double *result) {
    return reduct_reduce(REDUCT_VAR, REDUCT_U32, x, NULL, count, result);
}

reduct_status reduct_var_u64(const uint64_t *x, size_t count, double *result) {
    return reduct_reduce(REDUCT_VAR, REDUCT_U64, x, NULL, count, result);
}

reduct_status reduct_var_bool(const reduct_bool *x, size_t count, double *result) {
    return reduct_reduce(REDUCT_VAR, REDUCT_BOOL, x, NULL, count, result);
}

reduct_status reduct_std_f64(const double *x, size_t count, double *result) {
    return reduct_reduce(REDUCT_STD, REDUCT_F64, x, NULL, count, result);
}

reduct_status reduct_std_f32(const float *x, size_t count, float *result) {
    return reduct_reduce(REDUCT_STD, REDUCT_F32, x, NULL, count, result);
}

reduct_status reduct_std_f16(const reduct_f16 *x, size_t count, reduct_f16 *result) {
    return reduct_reduce(REDUCT_STD, REDUCT_F16, x, NULL, count, result);
}

reduct_status reduct_std_bf16(const reduct_bf16 *x, size_t count, reduct_bf16 *result) {
    return reduct_reduce(REDUCT_STD, REDUCT_BF16, x, NULL, count, result);
}

reduct_status reduct_std_i8(const int8_t *x, size_t count, double *result) {
    return reduct_reduce(REDUCT_STD, REDUCT_I8, x, NULL, count, result);
}

reduct_status reduct_std_i16(const int16_t *x, size_t count, double *result) {
    return reduct_reduce(REDUCT_STD, REDUCT_I16, x, NULL, count, result);
}

reduct_status reduct_std_i32(const int32_t *x, size_t count, double *result) {
    return reduct_reduce(REDUCT_STD, REDUCT_I32, x, NULL, count, result);
}

reduct_status reduct_std_i64(const int64_t *x, size_t count, double *result) {
    return reduct_reduce(REDUCT_STD, REDUCT_I64, x, NULL, count, result);
}

reduct_status reduct_std_u8(const uint8_t *x, size_t count, double *result) {
    return reduct_reduce(REDUCT_STD, REDUCT_U8, x, NULL, count, result);
}

reduct_status reduct_std_u16(const uint16_t *x, size_t count, double *result) {
    return reduct_reduce(REDUCT_STD, REDUCT_U16, x, NULL, count, result);
}

reduct_status reduct_std_u32(const uint32_t *x, size_t count, double *result) {
    return reduct_reduce(REDUCT_STD, REDUCT_U32, x, NULL, count, result);
}

reduct_status reduct_std_u64(const uint64_t *x, size_t count, double *result) {
    return reduct_reduce(REDUCT_STD, REDUCT_U64, x, NULL, count, result);
}

reduct_status reduct_std_bool(const reduct_bool *x, size_t count, double *result) {
    return reduct_reduce(REDUCT_STD, REDUCT_BOOL, x, NULL, count, result);
}

reduct_status reduct_sumsq_f64(const double *x, size_t count, double *result) {
    return reduct_reduce(REDUCT_SUMSQ, REDUCT_F64, x, NULL, count, result);
}

reduct_status reduct_sumsq_f32(const float *x, size_t count, float *result) {
    return reduct_reduce(REDUCT_SUMSQ, REDUCT_F32, x, NULL, count, result);
}

reduct_status reduct_sumsq_f16(const reduct_f16 *x, size_t count, reduct_f16 *result) {
    return reduct_reduce(REDUCT_SUMSQ, REDUCT_F16, x, NULL, count, result);
}

reduct_status reduct_sumsq_bf16(const reduct_bf16 *x, size_t count, reduct_bf16 *result) {
    return reduct_reduce(REDUCT_SUMSQ, REDUCT_BF16, x, NULL, count, result);
}

reduct_status reduct_sumsq_i8(const int8_t *x, size_t count, uint64_t *result) {
    return reduct_reduce(REDUCT_SUMSQ, REDUCT_I8, x, NULL, count, result);
}

reduct_status reduct_sumsq_i16(const int16_t *x, size_t count, uint64_t *result) {
    return reduct_reduce(REDUCT_SUMSQ, REDUCT_I16, x, NULL, count, result);
}

reduct_status reduct_sumsq_i32(const int32_t *x, size_t count, uint64_t *result) {
    return reduct_reduce(REDUCT_SUMSQ, REDUCT_I32, x, NULL, count, result);
}

reduct_status reduct_sumsq_i64(const int64_t *x, size_t count, uint64_t *result) {
    return reduct_reduce(REDUCT_SUMSQ, REDUCT_I64, x, NULL, count, result);
}

reduct_status reduct_sumsq_u8(const uint8_t *x, size_t count, uint64_t *result) {
    return reduct_reduce(REDUCT_SUMSQ, REDUCT_U8, x, NULL, count, result);
}

reduct_status reduct_sumsq_u16(const uint16_t *x, size_t count, uint64_t *result) {
    return reduct_reduce(REDUCT_SUMSQ, REDUCT_U16, x, NULL, count, result);
}

reduct_status reduct_sumsq_u32(const uint32_t *x, size_t count, uint64_t *result) {
    return reduct_reduce(REDUCT_SUMSQ, REDUCT_U32, x, NULL, count, result);
}

reduct_status reduct_sumsq_u64(const uint64_t *x, size_t count, uint64_t *result) {
    return reduct_reduce(REDUCT_SUMSQ, REDUCT_U64, x, NULL, count, result);
}

reduct_status reduct_sumsq_bool(const reduct_bool *x, size_t count, uint64_t *result) {
    return reduct_reduce(REDUCT_SUMSQ, REDUCT_BOOL, x, NULL, count, result);
}

reduct_status reduct_norm1_f64(const double *x, size_t count, double *result) {
    return reduct_reduce(REDUCT_NORM1, REDUCT_F64, x, NULL, count, result);
}

reduct_status reduct_norm1_f32(const float *x, size_t count, float *result) {
    return reduct_reduce(REDUCT_NORM1, REDUCT_F32, x, NULL, count, result);
}

reduct_status reduct_norm1_f16(const reduct_f16 *x, size_t count, reduct_f16 *result) {
    return reduct_reduce(REDUCT_NORM1, REDUCT_F16, x, NULL, count, result);
}

reduct_status reduct_norm1_bf16(const reduct_bf16 *x, size_t count, reduct_bf16 *result) {
    return reduct_reduce(REDUCT_NORM1, REDUCT_BF16, x, NULL, count, result);
}

reduct_status reduct_norm1_i8(const int8_t *x, size_t count, uint64_t *result) {
    return reduct_reduce(REDUCT_NORM1, REDUCT_I8, x, NULL, count, result);
}

reduct_status reduct_norm1_i16(const int16_t *x, size_t count, uint64_t *result) {
    return reduct_reduce(REDUCT_NORM1, REDUCT_I16, x, NULL, count, result);
}

reduct_status reduct_norm1_i32(const int32_t *x, size_t count, uint64_t *result) {
    return reduct_reduce(REDUCT_NORM1, REDUCT_I32, x, NULL, count, result);
}

reduct_status reduct_norm1_i64(const int64_t *x, size_t count, uint64_t *result) {
    return reduct_reduce(REDUCT_NORM1, REDUCT_I64, x, NULL, count, result);
}

reduct_status reduct_norm1_u8(const uint8_t *x, size_t count, uint64_t *result) {
    return reduct_reduce(REDUCT_NORM1, REDUCT_U8, x, NULL, count, result);
}

reduct_status reduct_norm1_u16(const uint16_t *x, size_t count, uint64_t *result) {
    return reduct_reduce(REDUCT_NORM1, REDUCT_U16, x, NULL, count, result);
}

reduct_status reduct_norm1_u32(const uint32_t *x, size_t count, uint64_t *result) {
    return reduct_reduce(REDUCT_NORM1, REDUCT_U32, x, NULL, count, result);
}

reduct_status reduct_norm1_u64(const uint64_t *x, size_t count, uint64_t *result) {
    return reduct_reduce(REDUCT_NORM1, REDUCT_U64, x, NULL, count, result);
}

reduct_status reduct_norm1_bool(const reduct_bool *x, size_t count, uint64_t *result) {
    return reduct_reduce(REDUCT_NORM1, REDUCT_BOOL, x, NULL, count, result);
}

reduct_status reduct_norm2_f64(const double *x, size_t count, double *result) {
    return reduct_reduce(REDUCT_NORM2, REDUCT_F64, x, NULL, count, result);
}

reduct_status reduct_norm2_f32(const float *x, size_t count, float *result) {
    return reduct_reduce(REDUCT_NORM2, REDUCT_F32, x, NULL, count, result);
}

reduct_status reduct_norm2_f16(const reduct_f16 *x, size_t count, reduct_f16 *result) {
    return reduct_reduce(REDUCT_NORM2, REDUCT_F16, x, NULL, count, result);
}

reduct_status reduct_norm2_bf16(const reduct_bf16 *x, size_t count, reduct_bf16 *result) {
    return reduct_reduce(REDUCT_NORM2, REDUCT_BF16, x, NULL, count, result);
}

reduct_status reduct_norm2_i8(const int8_t *x, size_t count, double *result) {
    return reduct_reduce(REDUCT_NORM2, REDUCT_I8, x, NULL, count, result);
}

reduct_status reduct_norm2_i16(const int16_t *x, size_t count, double *result) {
    return reduct_reduce(REDUCT_NORM2, REDUCT_I16, x, NULL, count, result);
}

reduct_status reduct_norm2_i32(const int32_t *x, size_t count, double *result) {
    return reduct_reduce(REDUCT_NORM2, REDUCT_I32, x, NULL, count, result);
}

reduct_status reduct_norm2_i64(const int64_t *x, size_t count, double *result) {
    return reduct_reduce(REDUCT_NORM2, REDUCT_I64, x, NULL, count, result);
}

reduct_status reduct_norm2_u8(const uint8_t *x, size_t count, double *result) {
    return reduct_reduce(REDUCT_NORM2, REDUCT_U8, x, NULL, count, result);
}

reduct_status reduct_norm2_u16(const uint16_t *x, size_t count, double *result) {
    return reduct_reduce(REDUCT_NORM2, REDUCT_U16, x, NULL, count, result);
}

reduct_status reduct_norm2_u32(const uint32_t *x, size_t count, double *result) {
    return reduct_reduce(REDUCT_NORM2, REDUCT_U32, x, NULL, count, result);
}

reduct_status reduct_norm2_u64(const uint64_t *x, size_t count, double *result) {
    return reduct_reduce(REDUCT_NORM2, REDUCT_U64, x, NULL, count, result);
}

reduct_status reduct_norm2_bool(const reduct_bool *x, size_t count, double *result) {
    return reduct_reduce(REDUCT_NORM2, REDUCT_BOOL, x, NULL, count, result);
}

reduct_status reduct_norminf_f64(const double *x, size_t count, double *result) {
    return reduct_reduce(REDUCT_NORMINF, REDUCT_F64, x, NULL, count, result);
}

reduct_status reduct_norminf_f32(const float *x, size_t count, float *result) {
    return reduct_reduce(REDUCT_NORMINF, REDUCT_F32, x, NULL, count, result);
}

reduct_status reduct_norminf_f16(const reduct_f16 *x, size_t count, reduct_f16 *result) {
    return reduct_reduce(REDUCT_NORMINF, REDUCT_F16, x, NULL, count, result);
}

reduct_status reduct_norminf_bf16(const reduct_bf16 *x, size_t count, reduct_bf16 *result) {
    return reduct_reduce(REDUCT_NORMINF, REDUCT_BF16, x, NULL, count, result);
}

reduct_status reduct_norminf_i8(const int8_t *x, size_t count, uint8_t *result) {
    return reduct_reduce(REDUCT_NORMINF, REDUCT_I8, x, NULL, count, result);
}

reduct_status reduct_norminf_i16(const int16_t *x, size_t count, uint16_t *result) {
    return reduct_reduce(REDUCT_NORMINF, REDUCT_I16, x, NULL, count, result);
}

reduct_status reduct_norminf_i32(const int32_t *x, size_t count, uint32_t *result) {
    return reduct_reduce(REDUCT_NORMINF, REDUCT_I32, x, NULL, count, result);
}

reduct_status reduct_norminf_i64(const int64_t *x, size_t count, uint64_t *result) {
    return reduct_reduce(REDUCT_NORMINF, REDUCT_I64, x, NULL, count, result);
}

reduct_status reduct_norminf_u8(const uint8_t *x, size_t count, uint8_t *result) {
    return reduct_reduce(REDUCT_NORMINF, REDUCT_U8, x, NULL, count, result);
}

reduct_status reduct_norminf_u16(const uint16_t *x, size_t count, uint16_t *result) {
    return reduct_reduce(REDUCT_NORMINF, REDUCT_U16, x, NULL, count, result);
}

reduct_status reduct_norminf_u32(const uint32_t *x, size_t count, uint32_t *result) {
    return reduct_reduce(REDUCT_NORMINF, REDUCT_U32, x, NULL, count, result);
}

reduct_status reduct_norminf_u64(const uint64_t *x, size_t count, uint64_t *result) {
    return reduct_reduce(REDUCT_NORMINF, REDUCT_U64, x, NULL, count, result);
}

reduct_status reduct_norminf_bool(const reduct_bool *x, size_t count, reduct_bool *result) {
    return reduct_reduce(REDUCT_NORMINF, REDUCT_BOOL, x, NULL, count, result);
}

reduct_status reduct_rms_f64(const double *x, size_t count, double *result) {
    return reduct_reduce(REDUCT_RMS, REDUCT_F64, x, NULL, count, result);
}

reduct_status reduct_rms_f32(const float *x, size_t count, float *result) {
    return reduct_reduce(REDUCT_RMS, REDUCT_F32, x, NULL, count, result);
}

reduct_status reduct_rms_f16(const reduct_f16 *x, size_t count, reduct_f16 *result) {
    return reduct_reduce(REDUCT_RMS, REDUCT_F16, x, NULL, count, result);
}

reduct_status reduct_rms_bf16(const reduct_bf16 *x, size_t count, reduct_bf16 *result) {
    return reduct_reduce(REDUCT_RMS, REDUCT_BF16, x, NULL, count, result);
}

reduct_status reduct_rms_i8(const int8_t *x, size_t count, double *result) {
    return reduct_reduce(REDUCT_RMS, REDUCT_I8, x, NULL, count, result);
}

reduct_status reduct_rms_i16(const int16_t *x, size_t count, double *result) {
    return reduct_reduce(REDUCT_RMS, REDUCT_I16, x, NULL, count, result);
}

reduct_status reduct_rms_i32(const int32_t *x, size_t count, double *result) {
    return reduct_reduce(REDUCT_RMS, REDUCT_I32, x, NULL, count, result);
}

reduct_status reduct_rms_i64(const int64_t *x, size_t count, double *result) {
    return reduct_reduce(REDUCT_RMS, REDUCT_I64, x, NULL, count, result);
}

reduct_status reduct_rms_u8(const uint8_t *x, size_t count, double *result) {
    return reduct_reduce(REDUCT_RMS, REDUCT_U8, x, NULL, count, result);
}

reduct_status reduct_rms_u16(const uint16_t *x, size_t count, double *result) {
    return reduct_reduce(REDUCT_RMS, REDUCT_U16, x, NULL, count, result);
}

reduct_status reduct_rms_u32(const uint32_t *x, size_t count, double *result) {
    return reduct_reduce(REDUCT_RMS, REDUCT_U32, x, NULL, count, result);
}

reduct_status reduct_rms_u64(const uint64_t *x, size_t count, double *result) {
    return reduct_reduce(REDUCT_RMS, REDUCT_U64, x, NULL, count, result);
}

reduct_status reduct_rms_bool(const reduct_bool *x, size_t count, double *result) {
    return reduct_reduce(REDUCT_RMS, REDUCT_BOOL, x, NULL, count, result);
}

reduct_status reduct_dot_f64(const double *x, const double *y, size_t count, double *result) {
    return reduct_reduce(REDUCT_DOT, REDUCT_F64, x, y, count, result);
}

reduct_status reduct_dot_f32(const float *x, const float *y, size_t count, float *result) {
    return reduct_reduce(REDUCT_DOT, REDUCT_F32, x, y, count, result);
}

reduct_status reduct_dot_f16(const reduct_f16 *x, const reduct_f16 *y, size_t count, reduct_f16 *result) {
    return reduct_reduce(REDUCT_DOT, REDUCT_F16, x, y, count, result);
}

reduct_status reduct_dot_bf16(const reduct_bf16 *x, const reduct_bf16 *y, size_t count, reduct_bf16 *result) {
    return reduct_reduce(REDUCT_DOT, REDUCT_BF16, x, y, count, result);
}

reduct_status reduct_dot_i8(const int8_t *x, const int8_t *y, size_t count, int64_t *result) {
    return reduct_reduce(REDUCT_DOT, REDUCT_I8, x, y, count, result);
}

reduct_status reduct_dot_i16(const int16_t *x, const int16_t *y, size_t count, int64_t *result) {
    return reduct_reduce(REDUCT_DOT, REDUCT_I16, x, y, count, result);
}

reduct_status reduct_dot_i32(const int32_t *x, const int32_t *y, size_t count, int64_t *result) {
    return reduct_reduce(REDUCT_DOT, REDUCT_I32, x, y, count, result);
}

reduct_status reduct_dot_i64(const int64_t *x, const int64_t *y, size_t count, int64_t *result) {
    return reduct_reduce(REDUCT_DOT, REDUCT_I64, x, y, count, result);
}

reduct_status reduct_dot_u8(const uint8_t *x, const uint8_t *y, size_t count, uint64_t *result) {
    return reduct_reduce(REDUCT_DOT, REDUCT_U8, x, y, count, result);
}

reduct_status reduct_dot_u16(const uint16_t *x, const uint16_t *y, size_t count, uint64_t *result) {
    return reduct_reduce(REDUCT_DOT, REDUCT_U16, x, y, count, result);
}

reduct_status reduct_dot_u32(const uint32_t *x, const uint32_t *y, size_t count, uint64_t *result) {
    return reduct_reduce(REDUCT_DOT, REDUCT_U32, x, y, count, result);
}

reduct_status reduct_dot_u64(const uint64_t *x, const uint64_t *y, size_t count, uint64_t *result) {
    return reduct_reduce(REDUCT_DOT, REDUCT_U64, x, y, count, result);
}

reduct_status reduct_dot_bool(const reduct_bool *x, const reduct_bool *y, size_t count, uint64_t *result) {
    return reduct_reduce(REDUCT_DOT, REDUCT_BOOL, x, y, count, result);
}

reduct_status reduct_min_f64(const double *x, size_t count, double *result) {
    return reduct_reduce(REDUCT_MIN, REDUCT_F64, x, NULL, count, result);
}

reduct_status reduct_min_f32(const float *x, size_t count, float *result) {
    return reduct_reduce(REDUCT_MIN, REDUCT_F32, x, NULL, count, result);
}

reduct_status reduct_min_f16(const reduct_f16 *x, size_t count, reduct_f16 *result) {
    return reduct_reduce(REDUCT_MIN, REDUCT_F16, x, NULL, count, result);
}

reduct_status reduct_min_bf16(const reduct_bf16 *x, size_t count, reduct_bf16 *result) {
    return reduct_reduce(REDUCT_MIN, REDUCT_BF16, x, NULL, count, result);
}

reduct_status reduct_min_i8(const int8_t *x, size_t count, int8_t *result) {
    return reduct_reduce(REDUCT_MIN, REDUCT_I8, x, NULL, count, result);
}

reduct_status reduct_min_i16(const int16_t *x, size_t count, int16_t *result) {
    return reduct_reduce(REDUCT_MIN, REDUCT_I16, x, NULL, count, result);
}

reduct_status reduct_min_i32(const int32_t *x, size_t count, int32_t *result) {
    return reduct_reduce(REDUCT_MIN, REDUCT_I32, x, NULL, count, result);
}

reduct_status reduct_min_i64(const int64_t *x, size_t count, int64_t *result) {
    return reduct_reduce(REDUCT_MIN, REDUCT_I64, x, NULL, count, result);
}

reduct_status reduct_min_u8(const uint8_t *x, size_t count, uint8_t *result) {
    return reduct_reduce(REDUCT_MIN, REDUCT_U8, x, NULL, count, result);
}

reduct_status reduct_min_u16(const uint16_t *x, size_t count, uint16_t *result) {
    return reduct_reduce(REDUCT_MIN, REDUCT_U16, x, NULL, count, result);
}

reduct_status reduct_min_u32(const uint32_t *x, size_t count, uint32_t *result) {
    return reduct_reduce(REDUCT_MIN, REDUCT_U32, x, NULL, count, result);
}

reduct_status reduct_min_u64(const uint64_t *x, size_t count, uint64_t *result) {
    return reduct_reduce(REDUCT_MIN, REDUCT_U64, x, NULL, count, result);
}

reduct_status reduct_min_bool(const reduct_bool *x, size_t count, reduct_bool *result) {
    return reduct_reduce(REDUCT_MIN, REDUCT_BOOL, x, NULL, count, result);
}

reduct_status reduct_max_f64(const double *x, size_t count, double *result) {
    return reduct_reduce(REDUCT_MAX, REDUCT_F64, x, NULL, count, result);
}

reduct_status reduct_max_f32(const float *x, size_t count, float *result) {
    return reduct_reduce(REDUCT_MAX, REDUCT_F32, x, NULL, count, result);
}

reduct_status reduct_max_f16(const reduct_f16 *x, size_t count, reduct_f16 *result) {
    return reduct_reduce(REDUCT_MAX, REDUCT_F16, x, NULL, count, result);
}

reduct_status reduct_max_bf16(const reduct_bf16 *x, size_t count, reduct_bf16 *result) {
    return reduct_reduce(REDUCT_MAX, REDUCT_BF16, x, NULL, count, result);
}

reduct_status reduct_max_i8(const int8_t *x, size_t count, int8_t *result) {
    return reduct_reduce(REDUCT_MAX, REDUCT_I8, x, NULL, count, result);
}

reduct_status reduct_max_i16(const int16_t *x, size_t count, int16_t *result) {
    return reduct_reduce(REDUCT_MAX, REDUCT_I16, x, NULL, count, result);
}

reduct_status reduct_max_i32(const int32_t *x, size_t count, int32_t *result) {
    return reduct_reduce(REDUCT_MAX, REDUCT_I32, x, NULL, count, result);
}

reduct_status reduct_max_i64(const int64_t *x, size_t count, int64_t *result) {
    return reduct_reduce(REDUCT_MAX, REDUCT_I64, x, NULL, count, result);
}

reduct_status reduct_max_u8(const uint8_t *x, size_t count, uint8_t *result) {
    return reduct_reduce(REDUCT_MAX, REDUCT_U8, x, NULL, count, result);
}

reduct_status reduct_max_u16(const uint16_t *x, size_t count, uint16_t *result) {
    return reduct_reduce(REDUCT_MAX, REDUCT_U16, x, NULL, count, result);
}

reduct_status reduct_max_u32(const uint32_t *x, size_t count, uint32_t *result) {
    return reduct_reduce(REDUCT_MAX, REDUCT_U32, x, NULL, count, result);
}

reduct_status reduct_max_u64(const uint64_t *x, size_t count, uint64_t *result) {
    return reduct_reduce(REDUCT_MAX, REDUCT_U64, x, NULL, count, result);
}

reduct_status reduct_max_bool(const reduct_bool *x, size_t count, reduct_bool *result) {
    return reduct_reduce(REDUCT_MAX, REDUCT_BOOL, x, NULL, count, result);
}

reduct_status reduct_argmin_f64(const double *x, size_t count, uint64_t *result) {
    return reduct_reduce(REDUCT_ARGMIN, REDUCT_F64, x, NULL, count, result);
}

reduct_status reduct_argmin_f32(const float *x, size_t count, uint64_t *result) {
    return reduct_reduce(REDUCT_ARGMIN, REDUCT_F32, x, NULL, count, result);
}

reduct_status reduct_argmin_f16(const reduct_f16 *x, size_t count, uint64_t *result) {
    return reduct_reduce(REDUCT_ARGMIN, REDUCT_F16, x, NULL, count, result);
}

reduct_status reduct_argmin_bf16(const reduct_bf16 *x, size_t count, uint64_t *result) {
    return reduct_reduce(REDUCT_ARGMIN, REDUCT_BF16, x, NULL, count, result);
}

reduct_status reduct_argmin_i8(const int8_t *x, size_t count, uint64_t *result) {
    return reduct_reduce(REDUCT_ARGMIN, REDUCT_I8, x, NULL, count, result);
}

reduct_status reduct_argmin_i16(const int16_t *x, size_t count, uint64_t *result) {
    return reduct_reduce(REDUCT_ARGMIN, REDUCT_I16, x, NULL, count, result);
}

reduct_status reduct_argmin_i32(const int32_t *x, size_t count, uint64_t *result) {
    return reduct_reduce(REDUCT_ARGMIN, REDUCT_I32, x, NULL, count, result);
}

reduct_status reduct_argmin_i64(const int64_t *x, size_t count, uint64_t *result) {
    return reduct_reduce(REDUCT_ARGMIN, REDUCT_I64, x, NULL, count, result);
}

reduct_status reduct_argmin_u8(const uint8_t *x, size_t count, uint64_t *result) {
    return reduct_reduce(REDUCT_ARGMIN, REDUCT_U8, x, NULL, count, result);
}

reduct_status reduct_argmin_u16(const uint16_t *x, size_t count, uint64_t *result) {
    return reduct_reduce(REDUCT_ARGMIN, REDUCT_U16, x, NULL, count, result);
}

reduct_status reduct_argmin_u32(const uint32_t *x, size_t count, uint64_t *result) {
    return reduct_reduce(REDUCT_ARGMIN, REDUCT_U32, x, NULL, count, result);
}

reduct_status reduct_argmin_u64(const uint64_t *x, size_t count, uint64_t *result) {
    return reduct_reduce(REDUCT_ARGMIN, REDUCT_U64, x, NULL, count, result);
}

reduct_status reduct_argmin_bool(const reduct_bool *x, size_t count, uint64_t *result) {
    return reduct_reduce(REDUCT_ARGMIN, REDUCT_BOOL, x, NULL, count, result);
}

reduct_status reduct_argmax_f64(const double *x, size_t count, uint64_t *result) {
    return reduct_reduce(REDUCT_ARGMAX, REDUCT_F64, x, NULL, count, result);
}

reduct_status reduct_argmax_f32(const float *x, size_t count, uint64_t *result) {
    return reduct_reduce(REDUCT_ARGMAX, REDUCT_F32, x, NULL, count, result);
}

reduct_status reduct_argmax_f16(const reduct_f16 *x, size_t count, uint64_t *result) {
    return reduct_reduce(REDUCT_ARGMAX, REDUCT_F16, x, NULL, count, result);
}

reduct_status reduct_argmax_bf16(const reduct_bf16 *x, size_t count, uint64_t *result) {
    return reduct_reduce(REDUCT_ARGMAX, REDUCT_BF16, x, NULL, count, result);
}

reduct_status reduct_argmax_i8(const int8_t *x, size_t count, uint64_t *result) {
    return reduct_reduce(REDUCT_ARGMAX, REDUCT_I8, x, NULL, count, result);
}

reduct_status reduct_argmax_i16(const int16_t *x, size_t count, uint64_t *result) {
    return reduct_reduce(REDUCT_ARGMAX, REDUCT_I16, x, NULL, count, result);
}

reduct_status reduct_argmax_i32(const int32_t *x, size_t count, uint64_t *result) {
    return reduct_reduce(REDUCT_ARGMAX, REDUCT_I32, x, NULL, count, result);
}

reduct_status reduct_argmax_i64(const int64_t *x, size_t count, uint64_t *result) {
    return reduct_reduce(REDUCT_ARGMAX, REDUCT_I64, x, NULL, count, result);
}

reduct_status reduct_argmax_u8(const uint8_t *x, size_t count, uint64_t *result) {
    return reduct_reduce(REDUCT_ARGMAX, REDUCT_U8, x, NULL, count, result);
}

reduct_status reduct_argmax_u16(const uint16_t *x, size_t count, uint64_t *result) {
    return reduct_reduce(REDUCT_ARGMAX, REDUCT_U16, x, NULL, count, result);
}

reduct_status reduct_argmax_u32(const uint32_t *x, size_t count, uint64_t *result) {
    return reduct_reduce(REDUCT_ARGMAX, REDUCT_U32, x, NULL, count, result);
}

reduct_status reduct_argmax_u64(const uint64_t *x, size_t count, uint64_t *result) {
    return reduct_reduce(REDUCT_ARGMAX, REDUCT_U64, x, NULL, count, result);
}

reduct_status reduct_argmax_bool(const reduct_bool *x, size_t count, uint64_t *result) {
    return reduct_reduce(REDUCT_ARGMAX, REDUCT_BOOL, x, NULL, count, result);
}

reduct_status reduct_product_f64(const double *x, size_t count, double *result) {
    return reduct_reduce(REDUCT_PRODUCT, REDUCT_F64, x, NULL, count, result);
}

reduct_status reduct_product_f32(const float *x, size_t count, float *result) {
    return reduct_reduce(REDUCT_PRODUCT, REDUCT_F32, x, NULL, count, result);
}

reduct_status reduct_product_f16(const reduct_f16 *x, size_t count, reduct_f16 *result) {
    return reduct_reduce(REDUCT_PRODUCT, REDUCT_F16, x, NULL, count, result);
}

reduct_status reduct_product_bf16(const reduct_bf16 *x, size_t count, reduct_bf16 *result) {
    return reduct_reduce(REDUCT_PRODUCT, REDUCT_BF16, x, NULL, count, result);
}

reduct_status reduct_product_i8(const int8_t *x, size_t count, int64_t *result) {
    return reduct_reduce(REDUCT_PRODUCT, REDUCT_I8, x, NULL, count, result);
}

reduct_status reduct_product_i16(const int16_t *x, size_t count, int64_t *result) {
    return reduct_reduce(REDUCT_PRODUCT, REDUCT_I16, x, NULL, count, result);
}

reduct_status reduct_product_i32(const int32_t *x, size_t count, int64_t *result) {
    return reduct_reduce(REDUCT_PRODUCT, REDUCT_I32, x, NULL, count, result);
}

reduct_status reduct_product_i64(const int64_t *x, size_t count, int64_t *result) {
    return reduct_reduce(REDUCT_PRODUCT, REDUCT_I64, x, NULL, count, result);
}

reduct_status reduct_product_u8(const uint8_t *x, size_t count, uint64_t *result) {
    return reduct_reduce(REDUCT_PRODUCT, REDUCT_U8, x, NULL, count, result);
}

reduct_status reduct_product_u16(const uint16_t *x, size_t count, uint64_t *result) {
    return reduct_reduce(REDUCT_PRODUCT, REDUCT_U16, x, NULL, count, result);
}

reduct_status reduct_product_u32(const uint32_t *x, size_t count, uint64_t *result) {
    return reduct_reduce(REDUCT_PRODUCT, REDUCT_U32, x, NULL, count, result);
}

reduct_status reduct_product_u64(const uint64_t *x, size_t count, uint64_t *result) {
    return reduct_reduce(REDUCT_PRODUCT, REDUCT_U64, x, NULL, count, result);
}

reduct_status reduct_product_bool(const reduct_bool *x, size_t count, uint64_t *result) {
    return reduct_reduce(REDUCT_PRODUCT, REDUCT_BOOL, x, NULL, count, result);
}

reduct_status reduct_count_f64(const double *x, size_t count, uint64_t *result) {
    return reduct_reduce(REDUCT_COUNT, REDUCT_F64, x, NULL, count, result);
}

reduct_status reduct_count_f32(const float *x, size_t count, uint64_t *result) {
    return reduct_reduce(REDUCT_COUNT, REDUCT_F32, x, NULL, count, result);
}

reduct_status reduct_count_f16(const reduct_f16 *x, size_t count, uint64_t *result) {
    return reduct_reduce(REDUCT_COUNT, REDUCT_F16, x, NULL, count, result);
}

reduct_status reduct_count_bf16(const reduct_bf16 *x, size_t count, uint64_t *result) {
    return reduct_reduce(REDUCT_COUNT, REDUCT_BF16, x, NULL, count, result);
}

reduct_status reduct_count_i8(const int8_t *x, size_t count, uint64_t *result) {
    return reduct_reduce(REDUCT_COUNT, REDUCT_I8, x, NULL, count, result);
}

reduct_status reduct_count_i16(const int16_t *x, size_t count, uint64_t *result) {
    return reduct_reduce(REDUCT_COUNT, REDUCT_I16, x, NULL, count, result);
}

reduct_status reduct_count_i32(const int32_t *x, size_t count, uint64_t *result) {
    return reduct_reduce(REDUCT_COUNT, REDUCT_I32, x, NULL, count, result);
}

reduct_status reduct_count_i64(const int64_t *x, size_t count, uint64_t *result) {
    return reduct_reduce(REDUCT_COUNT, REDUCT_I64, x, NULL, count, result);
}

reduct_status reduct_count_u8(const uint8_t *x, size_t count, uint64_t *result) {
    return reduct_reduce(REDUCT_COUNT, REDUCT_U8, x, NULL, count, result);
}

reduct_status reduct_count_u16(const uint16_t *x, size_t count, uint64_t *result) {
    return reduct_reduce(REDUCT_COUNT, REDUCT_U16, x, NULL, count, result);
}

reduct_status reduct_count_u32(const uint32_t *x, size_t count, uint64_t *result) {
    return reduct_reduce(REDUCT_COUNT, REDUCT_U32, x, NULL, count, result);
}

reduct_status reduct_count_u64(const uint64_t *x, size_t count, uint64_t *result) {
    return reduct_reduce(REDUCT_COUNT, REDUCT_U64, x, NULL, count, result);
}

reduct_status reduct_count_bool(const reduct_bool *x, size_t count, uint64_t *result) {
    return reduct_reduce(REDUCT_COUNT, REDUCT_BOOL, x, NULL, count, result);
}

reduct_status reduct_count_nonzero_f64(const double *x, size_t count, uint64_t *result) {
    return reduct_reduce(REDUCT_COUNT_NONZERO, REDUCT_F64, x, NULL, count, result);
}

reduct_status reduct_count_nonzero_f32(const float *x, size_t count, uint64_t *result) {
    return reduct_reduce(REDUCT_COUNT_NONZERO, REDUCT_F32, x, NULL, count, result);
}

reduct_status reduct_count_nonzero_f16(const reduct_f16 *x, size_t count, uint64_t *result) {
    return reduct_reduce(REDUCT_COUNT_NONZERO, REDUCT_F16, x, NULL, count, result);
}

reduct_status reduct_count_nonzero_bf16(const reduct_bf16 *x, size_t count, uint64_t *result) {
    return reduct_reduce(REDUCT_COUNT_NONZERO, REDUCT_BF16, x, NULL, count, result);
}

reduct_status reduct_count_nonzero_i8(const int8_t *x, size_t count, uint64_t *result) {
    return reduct_reduce(REDUCT_COUNT_NONZERO, REDUCT_I8, x, NULL, count, result);
}

reduct_status reduct_count_nonzero_i16(const int16_t *x, size_t count, uint64_t *result) {
    return reduct_reduce(REDUCT_COUNT_NONZERO, REDUCT_I16, x, NULL, count, result);
}

reduct_status reduct_count_nonzero_i32(const int32_t *x, size_t count, uint64_t *result) {
    return reduct_reduce(REDUCT_COUNT_NONZERO, REDUCT_I32, x, NULL, count, result);
}

reduct_status reduct_count_nonzero_i64(const int64_t *x, size_t count, uint64_t *result) {
    return reduct_reduce(REDUCT_COUNT_NONZERO, REDUCT_I64, x, NULL, count, result);
}

reduct_status reduct_count_nonzero_u8(const uint8_t *x, size_t count, uint64_t *result) {
    return reduct_reduce(REDUCT_COUNT_NONZERO, REDUCT_U8, x, NULL, count, result);
}

reduct_status reduct_count_nonzero_u16(const uint16_t *x, size_t count, uint64_t *result) {
    return reduct_reduce(REDUCT_COUNT_NONZERO, REDUCT_U16, x, NULL, count, result);
}

reduct_status reduct_count_nonzero_u32(const uint32_t *x, size_t count, uint64_t *result) {
    return reduct_reduce(REDUCT_COUNT_NONZERO, REDUCT_U32, x, NULL, count, result);
}

reduct_status reduct_count_nonzero_u64(const uint64_t *x, size_t count, uint64_t *result) {
    return reduct_reduce(REDUCT_COUNT_NONZERO, REDUCT_U64, x, NULL, count, result);
}

reduct_status reduct_count_nonzero_bool(const reduct_bool *x, size_t count, uint64_t *result) {
    return reduct_reduce(REDUCT_COUNT_NONZERO, REDUCT_BOOL, x, NULL, count, result);
}

reduct_status reduct_any_f64(const double *x, size_t count, reduct_bool *result) {
    return reduct_reduce(REDUCT_ANY, REDUCT_F64, x, NULL, count, result);
}

reduct_status reduct_any_f32(const float *x, size_t count, reduct_bool *result) {
    return reduct_reduce(REDUCT_ANY, REDUCT_F32, x, NULL, count, result);
}

reduct_status reduct_any_f16(const reduct_f16 *x, size_t count, reduct_bool *result) {
    return reduct_reduce(REDUCT_ANY, REDUCT_F16, x, NULL, count, result);
}

reduct_status reduct_any_bf16(const reduct_bf16 *x, size_t count, reduct_bool *result) {
    return reduct_reduce(REDUCT_ANY, REDUCT_BF16, x, NULL, count, result);
}

reduct_status reduct_any_i8(const int8_t *x, size_t count, reduct_bool *result) {
    return reduct_reduce(REDUCT_ANY, REDUCT_I8, x, NULL, count, result);
}

reduct_status reduct_any_i16(const int16_t *x, size_t count, reduct_bool *result) {
    return reduct_reduce(REDUCT_ANY, REDUCT_I16, x, NULL, count, result);
}

reduct_status reduct_any_i32(const int32_t *x, size_t count, reduct_bool *result) {
    return reduct_reduce(REDUCT_ANY, REDUCT_I32, x, NULL, count, result);
}

reduct_status reduct_any_i64(const int64_t *x, size_t count, reduct_bool *result) {
    return reduct_reduce(REDUCT_ANY, REDUCT_I64, x, NULL, count, result);
}

reduct_status reduct_any_u8(const uint8_t *x, size_t count, reduct_bool *result) {
    return reduct_reduce(REDUCT_ANY, REDUCT_U8, x, NULL, count, result);
}

reduct_status reduct_any_u16(const uint16_t *x, size_t count, reduct_bool *result) {
    return reduct_reduce(REDUCT_ANY, REDUCT_U16, x, NULL, count, result);
}

reduct_status reduct_any_u32(const uint32_t *x, size_t count, reduct_bool *result) {
    return reduct_reduce(REDUCT_ANY, REDUCT_U32, x, NULL, count, result);
}

reduct_status reduct_any_u64(const uint64_t *x, size_t count, reduct_bool *result) {
    return reduct_reduce(REDUCT_ANY, REDUCT_U64, x, NULL, count, result);
}

reduct_status reduct_any_bool(const reduct_bool *x, size_t count, reduct_bool *result) {
    return reduct_reduce(REDUCT_ANY, REDUCT_BOOL, x, NULL, count, result);
}

reduct_status reduct_all_f64(const double *x, size_t count, reduct_bool *result) {
    return reduct_reduce(REDUCT_ALL, REDUCT_F64, x, NULL, count, result);
}

reduct_status reduct_all_f32(const float *x, size_t count, reduct_bool *result) {
    return reduct_reduce(REDUCT_ALL, REDUCT_F32, x, NULL, count, result);
}

reduct_status reduct_all_f16(const reduct_f16 *x, size_t count, reduct_bool *result) {
    return reduct_reduce(REDUCT_ALL, REDUCT_F16, x, NULL, count, result);
}

reduct_status reduct_all_bf16(const reduct_bf16 *x, size_t count, reduct_bool *result) {
    return reduct_reduce(REDUCT_ALL, REDUCT_BF16, x, NULL, count, result);
}

reduct_status reduct_all_i8(const int8_t *x, size_t count, reduct_bool *result) {
    return reduct_reduce(REDUCT_ALL, REDUCT_I8, x, NULL, count, result);
}

reduct_status reduct_all_i16(const int16_t *x, size_t count, reduct_bool *result) {
    return reduct_reduce(REDUCT_ALL, REDUCT_I16, x, NULL, count, result);
}

reduct_status reduct_all_i32(const int32_t *x, size_t count, reduct_bool *result) {
    return reduct_reduce(REDUCT_ALL, REDUCT_I32, x, NULL, count, result);
}

reduct_status reduct_all_i64(const int64_t *x, size_t count, reduct_bool *result) {
    return reduct_reduce(REDUCT_ALL, REDUCT_I64, x, NULL, count, result);
}

reduct_status reduct_all_u8(const uint8_t *x, size_t count, reduct_bool *result) {
    return reduct_reduce(REDUCT_ALL, REDUCT_U8, x, NULL, count, result);
}

reduct_status reduct_all_u16(const uint16_t *x, size_t count, reduct_bool *result) {
    return reduct_reduce(REDUCT_ALL, REDUCT_U16, x, NULL, count, result);
}

reduct_status reduct_all_u32(const uint32_t *x, size_t count, reduct_bool *result) {
    return reduct_reduce(REDUCT_ALL, REDUCT_U32, x, NULL, count, result);
}

reduct_status reduct_all_u64(const uint64_t *x, size_t count, reduct_bool *result) {
    return reduct_reduce(REDUCT_ALL, REDUCT_U64, x, NULL, count, result);
}

reduct_status reduct_all_bool(const reduct_bool *x, size_t count, reduct_bool *result) {
    return reduct_reduce(REDUCT_ALL, REDUCT_BOOL, x, NULL, count, result);
}

reduct_status reduct_and_i8(const int8_t *x, size_t count, int8_t *result) {
    return reduct_reduce(REDUCT_AND, REDUCT_I8, x, NULL, count, result);
}

reduct_status reduct_and_i16(const int16_t *x, size_t count, int16_t *result) {
    return reduct_reduce(REDUCT_AND, REDUCT_I16, x, NULL, count, result);
}

reduct_status reduct_and_i32(const int32_t *x, size_t count, int32_t *result) {
    return reduct_reduce(REDUCT_AND, REDUCT_I32, x, NULL, count, result);
}

reduct_status reduct_and_i64(const int64_t *x, size_t count, int64_t *result) {
    return reduct_reduce(REDUCT_AND, REDUCT_I64, x, NULL, count, result);
}

reduct_status reduct_and_u8(const uint8_t *x, size_t count, uint8_t *result) {
    return reduct_reduce(REDUCT_AND, REDUCT_U8, x, NULL, count, result);
}

reduct_status reduct_and_u16(const uint16_t *x, size_t count, uint16_t *result) {
    return reduct_reduce(REDUCT_AND, REDUCT_U16, x, NULL, count, result);
}

reduct_status reduct_and_u32(const uint32_t *x, size_t count, uint32_t *result) {
    return reduct_reduce(REDUCT_AND, REDUCT_U32, x, NULL, count, result);
}

reduct_status reduct_and_u64(const uint64_t *x, size_t count, uint64_t *result) {
    return reduct_reduce(REDUCT_AND, REDUCT_U64, x, NULL, count, result);
}

reduct_status reduct_and_bool(const reduct_bool *x, size_t count, reduct_bool *result) {
    return reduct_reduce(REDUCT_AND, REDUCT_BOOL, x, NULL, count, result);
}

reduct_status reduct_or_i8(const int8_t *x, size_t count, int8_t *result) {
    return reduct_reduce(REDUCT_OR, REDUCT_I8, x, NULL, count, result);
}

reduct_status reduct_or_i16(const int16_t *x, size_t count, int16_t *result) {
    return reduct_reduce(REDUCT_OR, REDUCT_I16, x, NULL, count, result);
}

reduct_status reduct_or_i32(const int32_t *x, size_t count, int32_t *result) {
    return reduct_reduce(REDUCT_OR, REDUCT_I32, x, NULL, count, result);
}

reduct_status reduct_or_i64(const int64_t *x, size_t count, int64_t *result) {
    return reduct_reduce(REDUCT_OR, REDUCT_I64, x, NULL, count, result);
}

reduct_status reduct_or_u8(const uint8_t *x, size_t count, uint8_t *result) {
    return reduct_reduce(REDUCT_OR, REDUCT_U8, x, NULL, count, result);
}

reduct_status reduct_or_u16(const uint16_t *x, size_t count, uint16_t *result) {
    return reduct_reduce(REDUCT_OR, REDUCT_U16, x, NULL, count, result);
}

reduct_status reduct_or_u32(const uint32_t *x, size_t count, uint32_t *result) {
    return reduct_reduce(REDUCT_OR, REDUCT_U32, x, NULL, count, result);
}

reduct_status reduct_or_u64(const uint64_t *x, size_t count, uint64_t *result) {
    return reduct_reduce(REDUCT_OR, REDUCT_U64, x, NULL, count, result);
}

reduct_status reduct_or_bool(const reduct_bool *x, size_t count, reduct_bool *result) {
    return reduct_reduce(REDUCT_OR, REDUCT_BOOL, x, NULL, count, result);
}

reduct_status reduct_xor_i8(const int8_t *x, size_t count, int8_t *result) {
    return reduct_reduce(REDUCT_XOR, REDUCT_I8, x, NULL, count, result);
}

reduct_status reduct_xor_i16(const int16_t *x, size_t count, int16_t *result) {
    return reduct_reduce(REDUCT_XOR, REDUCT_I16, x, NULL, count, result);
}

reduct_status reduct_xor_i32(const int32_t *x, size_t count, int32_t *result) {
    return reduct_reduce(REDUCT_XOR, REDUCT_I32, x, NULL, count, result);
}

reduct_status reduct_xor_i64(const int64_t *x, size_t count, int64_t *result) {
    return reduct_reduce(REDUCT_XOR, REDUCT_I64, x, NULL, count, result);
}

reduct_status reduct_xor_u8(const uint8_t *x, size_t count, uint8_t *result) {
    return reduct_reduce(REDUCT_XOR, REDUCT_U8, x, NULL, count, result);
}

reduct_status reduct_xor_u16(const uint16_t *x, size_t count, uint16_t *result) {
    return reduct_reduce(REDUCT_XOR, REDUCT_U16, x, NULL, count, result);
}

reduct_status reduct_xor_u32(const uint32_t *x, size_t count, uint32_t *result) {
    return reduct_reduce(REDUCT_XOR, REDUCT_U32, x, NULL, count, result);
}

reduct_status reduct_xor_u64(const uint64_t *x, size_t count, uint64_t *result) {
    return reduct_reduce(REDUCT_XOR, REDUCT_U64, x, NULL, count, result);
}

reduct_status reduct_xor_bool(const reduct_bool *x, size_t count, reduct_bool *result) {
    return reduct_reduce(REDUCT_XOR, REDUCT_BOOL, x, NULL, count, result);
}

reduct_status reduct_minmax_f64(const double *x, size_t count, double result[2]) {
    return reduct_reduce(REDUCT_MINMAX, REDUCT_F64, x, NULL, count, result);
}

reduct_status reduct_minmax_f32(const float *x, size_t count, float result[2]) {
    return reduct_reduce(REDUCT_MINMAX, REDUCT_F32, x, NULL, count, result);
}

reduct_status reduct_minmax_f16(const reduct_f16 *x, size_t count, reduct_f16 result[2]) {
    return reduct_reduce(REDUCT_MINMAX, REDUCT_F16, x, NULL, count, result);
}

reduct_status reduct_minmax_bf16(const reduct_bf16 *x, size_t count, reduct_bf16 result[2]) {
    return reduct_reduce(REDUCT_MINMAX, REDUCT_BF16, x, NULL, count, result);
}

reduct_status reduct_minmax_i8(const int8_t *x, size_t count, int8_t result[2]) {
    return reduct_reduce(REDUCT_MINMAX, REDUCT_I8, x, NULL, count, result);
}

reduct_status reduct_minmax_i16(const int16_t *x, size_t count, int16_t result[2]) {
    return reduct_reduce(REDUCT_MINMAX, REDUCT_I16, x, NULL, count, result);
}

reduct_status reduct_minmax_i32(const int32_t *x, size_t count, int32_t result[2]) {
    return reduct_reduce(REDUCT_MINMAX, REDUCT_I32, x, NULL, count, result);
}

reduct_status reduct_minmax_i64(const int64_t *x, size_t count, int64_t result[2]) {
    return reduct_reduce(REDUCT_MINMAX, REDUCT_I64, x, NULL, count, result);
}

reduct_status reduct_minmax_u8(const uint8_t *x, size_t count, uint8_t result[2]) {
    return reduct_reduce(REDUCT_MINMAX, REDUCT_U8, x, NULL, count, result);
}

reduct_status reduct_minmax_u16(const uint16_t *x, size_t count, uint16_t result[2]) {
    return reduct_reduce(REDUCT_MINMAX, REDUCT_U16, x, NULL, count, result);
}

reduct_status reduct_minmax_u32(const uint32_t *x, size_t count, uint32_t result[2]) {
    return reduct_reduce(REDUCT_MINMAX, REDUCT_U32, x, NULL, count, result);
}

reduct_status reduct_minmax_u64(const uint64_t *x, size_t count, uint64_t result[2]) {
    return reduct_reduce(REDUCT_MINMAX, REDUCT_U64, x, NULL, count, result);
}

reduct_status reduct_minmax_bool(const reduct_bool *x, size_t count, reduct_bool result[2]) {
    return reduct_reduce(REDUCT_MINMAX, REDUCT_BOOL, x, NULL, count, result);
}

reduct_status reduct_ptp_f64(const double *x, size_t count, double *result) {
    return reduct_reduce(REDUCT_PTP, REDUCT_F64, x, NULL, count, result);
}

reduct_status reduct_ptp_f32(const float *x, size_t count, float *result) {
    return reduct_reduce(REDUCT_PTP, REDUCT_F32, x, NULL, count, result);
}

reduct_status reduct_ptp_f16(const reduct_f16 *x, size_t count, reduct_f16 *result) {
    return reduct_reduce(REDUCT_PTP, REDUCT_F16, x, NULL, count, result);
}

reduct_status reduct_ptp_bf16(const reduct_bf16 *x, size_t count, reduct_bf16 *result) {
    return reduct_reduce(REDUCT_PTP, REDUCT_BF16, x, NULL, count, result);
}

reduct_status reduct_ptp_i8(const int8_t *x, size_t count, uint8_t *result) {
    return reduct_reduce(REDUCT_PTP, REDUCT_I8, x, NULL, count, result);
}

reduct_status reduct_ptp_i16(const int16_t *x, size_t count, uint16_t *result) {
    return reduct_reduce(REDUCT_PTP, REDUCT_I16, x, NULL, count, result);
}

reduct_status reduct_ptp_i32(const int32_t *x, size_t count, uint32_t *result) {
    return reduct_reduce(REDUCT_PTP, REDUCT_I32, x, NULL, count, result);
}

reduct_status reduct_ptp_i64(const int64_t *x, size_t count, uint64_t *result) {
    return reduct_reduce(REDUCT_PTP, REDUCT_I64, x, NULL, count, result);
}

reduct_status reduct_ptp_u8(const uint8_t *x, size_t count, uint8_t *result) {
    return reduct_reduce(REDUCT_PTP, REDUCT_U8, x, NULL, count, result);
}

reduct_status reduct_ptp_u16(const uint16_t *x, size_t count, uint16_t *result) {
    return reduct_reduce(REDUCT_PTP, REDUCT_U16, x, NULL, count, result);
}

reduct_status reduct_ptp_u32(const uint32_t *x, size_t count, uint32_t *result) {
    return reduct_reduce(REDUCT_PTP, REDUCT_U32, x, NULL, count, result);
}

reduct_status reduct_ptp_u64(const uint64_t *x, size_t count, uint64_t *result) {
    return reduct_reduce(REDUCT_PTP, REDUCT_U64, x, NULL, count, result);
}

reduct_status reduct_ptp_bool(const reduct_bool *x, size_t count, reduct_bool *result) {
    return reduct_reduce(REDUCT_PTP, REDUCT_BOOL, x, NULL, count, result);
}

reduct_status reduct_weighted_mean_f64(const double *x, const double *y, size_t count, double *result) {
    return reduct_reduce(REDUCT_WEIGHTED_MEAN, REDUCT_F64, x, y, count, result);
}

reduct_status reduct_weighted_mean_f32(const float *x, const float *y, size_t count, float *result) {
    return reduct_reduce(REDUCT_WEIGHTED_MEAN, REDUCT_F32, x, y, count, result);
}

reduct_status reduct_weighted_mean_f16(const reduct_f16 *x, const reduct_f16 *y, size_t count, reduct_f16 *result) {
    return reduct_reduce(REDUCT_WEIGHTED_MEAN, REDUCT_F16, x, y, count, result);
}

reduct_status reduct_weighted_mean_bf16(const reduct_bf16 *x, const reduct_bf16 *y, size_t count, reduct_bf16 *result) {
    return reduct_reduce(REDUCT_WEIGHTED_MEAN, REDUCT_BF16, x, y, count, result);
}

reduct_status reduct_weighted_mean_i8(const int8_t *x, const int8_t *y, size_t count, double *result) {
    return reduct_reduce(REDUCT_WEIGHTED_MEAN, REDUCT_I8, x, y, count, result);
}

reduct_status reduct_weighted_mean_i16(const int16_t *x, const int16_t *y, size_t count, double *result) {
    return reduct_reduce(REDUCT_WEIGHTED_MEAN, REDUCT_I16, x, y, count, result);
}

reduct_status reduct_weighted_mean_i32(const int32_t *x, const int32_t *y, size_t count, double *result) {
    return reduct_reduce(REDUCT_WEIGHTED_MEAN, REDUCT_I32, x, y, count, result);
}

reduct_status reduct_weighted_mean_i64(const int64_t *x, const int64_t *y, size_t count, double *result) {
    return reduct_reduce(REDUCT_WEIGHTED_MEAN, REDUCT_I64, x, y, count, result);
}

reduct_status reduct_weighted_mean_u8(const uint8_t *x, const uint8_t *y, size_t count, double *result) {
    return reduct_reduce(REDUCT_WEIGHTED_MEAN, REDUCT_U8, x, y, count, result);
}

reduct_status reduct_weighted_mean_u16(const uint16_t *x, const uint16_t *y, size_t count, double *result) {
    return reduct_reduce(REDUCT_WEIGHTED_MEAN, REDUCT_U16, x, y, count, result);
}

reduct_status reduct_weighted_mean_u32(const uint32_t *x, const uint32_t *y, size_t count, double *result) {
    return reduct_reduce(REDUCT_WEIGHTED_MEAN, REDUCT_U32, x, y, count, result);
}

reduct_status reduct_weighted_mean_u64(const uint64_t *x, const uint64_t *y, size_t count, double *result) {
    return reduct_reduce(REDUCT_WEIGHTED_MEAN, REDUCT_U64, x, y, count, result);
}

reduct_status reduct_weighted_mean_bool(const reduct_bool *x, const reduct_bool *y, size_t count, double *result) {
    return reduct_reduce(REDUCT_WEIGHTED_MEAN, REDUCT_BOOL, x, y, count, result);
}
