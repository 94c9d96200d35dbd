// The public header in C++11, and every function of it in the shared library: taking an address needs the export.
#include <reduct/reduct.h>

#include <cstdio>
#include <vector>

#define ALL(name)                                                                                                      \
    reinterpret_cast<void (*)()>(reduct_sum_##name), reinterpret_cast<void (*)()>(reduct_mean_##name),                 \
        reinterpret_cast<void (*)()>(reduct_var_##name), reinterpret_cast<void (*)()>(reduct_std_##name),              \
        reinterpret_cast<void (*)()>(reduct_sumsq_##name), reinterpret_cast<void (*)()>(reduct_norm1_##name),          \
        reinterpret_cast<void (*)()>(reduct_norm2_##name), reinterpret_cast<void (*)()>(reduct_norminf_##name),        \
        reinterpret_cast<void (*)()>(reduct_rms_##name), reinterpret_cast<void (*)()>(reduct_dot_##name),              \
        reinterpret_cast<void (*)()>(reduct_min_##name), reinterpret_cast<void (*)()>(reduct_max_##name),              \
        reinterpret_cast<void (*)()>(reduct_argmin_##name), reinterpret_cast<void (*)()>(reduct_argmax_##name),        \
        reinterpret_cast<void (*)()>(reduct_product_##name)
#define ONE(name) reinterpret_cast<void (*)()>(name)

static void (*const functions[])() = {
    ALL(f64),
    ALL(f32),
    ALL(i8),
    ALL(i16),
    ALL(i32),
    ALL(i64),
    ALL(u8),
    ALL(u16),
    ALL(u32),
    ALL(u64),
    ONE(reduct_version),
    ONE(reduct_status_text),
    ONE(reduct_type_name),
    ONE(reduct_operator_name),
    ONE(reduct_mode_name),
    ONE(reduct_nan_name),
    ONE(reduct_type_parse),
    ONE(reduct_operator_parse),
    ONE(reduct_mode_parse),
    ONE(reduct_nan_parse),
    ONE(reduct_type_text),
    ONE(reduct_operator_text),
    ONE(reduct_type_size),
    ONE(reduct_type_is_float),
    ONE(reduct_operator_inputs),
    ONE(reduct_reduction_resolve),
    ONE(reduct_plan_create),
    ONE(reduct_plan_destroy),
    ONE(reduct_plan_workspace_size),
    ONE(reduct_plan_result_type),
    ONE(reduct_plan_device),
    ONE(reduct_plan_execute),
    ONE(reduct_accumulator_create),
    ONE(reduct_accumulator_destroy),
    ONE(reduct_accumulator_reset),
    ONE(reduct_accumulator_add),
    ONE(reduct_accumulator_merge),
    ONE(reduct_accumulator_count),
    ONE(reduct_accumulator_result),
    ONE(reduct_accumulator_save),
    ONE(reduct_accumulator_load),
    ONE(reduct_accumulator_reduction),
    ONE(reduct_reduce),
    ONE(reduct_reduce_custom),
};

static bool sums_right() {
    const std::vector<double> values(1000, 0.1);
    double total = 0;
    return reduct_sum_f64(values.data(), values.size(), &total) == REDUCT_OK && total == 100;
}

static bool plans_right() {
    const std::vector<float> values(1000, 2.0F);
    reduct_reduction reduction = {};
    reduction.op = REDUCT_NORM2;
    reduction.element = REDUCT_F32;
    reduct_plan_options options = {};
    options.reductions = &reduction;
    options.reduction_count = 1;
    options.shape.outer = options.shape.inner = 1;
    options.shape.n = values.size();
    options.shape.stride = 1;
    reduct_plan *plan = nullptr;
    if (reduct_plan_create(&options, &plan, nullptr) != REDUCT_OK)
        return false;
    float norm = 0;
    const void *inputs[] = {values.data()};
    void *results[] = {&norm};
    const reduct_status status = reduct_plan_execute(plan, inputs, results, nullptr, nullptr);
    reduct_plan_destroy(plan);
    return status == REDUCT_OK && norm == 63.245552F;
}

int main() {
    for (void (*function)() : functions)
        if (!function)
            return 1;
    if (!sums_right() || !plans_right()) {
        std::fprintf(stderr, "wrong results from C++\n");
        return 1;
    }
    return 0;
}
