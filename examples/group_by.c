/* SELECT shop, SUM(amount), AVG(amount) ... GROUP BY shop, over the last hour of a stream of sales, some of which are cancelled.
 * Keys get numbers, a table adds each sale to its shop, and takes it out again when it has become too old or was cancelled. Sums
 * are exact: what is left has the bits of a query over the sales that are left, however many came and went. */
#include <reduct/reduct.h>

#include <stdio.h>
#include <stdlib.h>

enum { HOUR = 3600, SALES = 100000, SHOPS = 8, CANCELLED = 97 };

struct sales {
    uint64_t shop[SALES]; /* any numbers */
    double amount[SALES];
    uint32_t group[SALES]; /* of its shop */
    int time[SALES];       /* seconds, ascending */
};
static struct sales sales;

static void or_exit(reduct_status status, const reduct_error *error) {
    if (status != REDUCT_OK) {
        fprintf(stderr, "%s: %s\n", reduct_status_text(status), error->message);
        exit(1);
    }
}

/* Amounts of cents and of millions, some of them paid back: no sum of doubles keeps them all. */
static void sell(void) {
    uint64_t state = 1;
    for (int i = 0; i < SALES; i++) {
        state = state * 6364136223846793005 + 1442695040888963407;
        sales.shop[i] = 1000003 * (state >> 40) % SHOPS + 77;
        sales.amount[i] = (double)(int64_t)((state >> 33) % 2000001 - 1000000) * (state >> 61 ? 0.01 : 1e9);
        sales.time[i] = i / 4;
    }
}

/* Adds sales `first` to `end` - 1 to a table, or takes them out. */
static void move(reduct_table *table, int first, int end, int out) {
    reduct_error error = {0};
    const reduct_table_batch batch = {.x = sales.amount + first,
                                      .count = (uint64_t)(end - first),
                                      .indices = sales.group + first,
                                      .index = REDUCT_U32};
    or_exit(out ? reduct_table_remove(table, &batch, &error) : reduct_table_add(table, &batch, &error), &error);
}

/* The same shop's sales one by one. */
static void query(uint32_t group, int first, int end, double *sum, double *mean) {
    static double amount[SALES];
    size_t count = 0;
    for (int i = first; i < end; i++)
        if (sales.group[i] == group && i % CANCELLED != 0)
            amount[count++] = sales.amount[i];
    or_exit(reduct_sum_f64(amount, count, sum), &(reduct_error){.message = "sum"});
    or_exit(reduct_mean_f64(amount, count, mean), &(reduct_error){.message = "mean"});
}

int main(void) {
    const reduct_reduction reductions[] = {{.op = REDUCT_SUM, .element = REDUCT_F64},
                                           {.op = REDUCT_MEAN, .element = REDUCT_F64}};
    reduct_error error = {0};
    reduct_table *table;
    reduct_keys *keys;
    int first = 0, differ = 0;
    sell();
    or_exit(reduct_keys_create(REDUCT_U64, &keys, &error), &error);
    or_exit(
        reduct_table_create(&(reduct_table_options){.reductions = reductions, .reduction_count = 2}, &table, &error),
        &error);
    for (int i = 0; i < SALES; i++) {
        or_exit(reduct_keys_add(keys, sales.shop + i, 1, REDUCT_U32, sales.group + i, &error), &error);
        if (reduct_keys_count(keys) > reduct_table_groups(table))
            or_exit(reduct_table_resize(table, reduct_keys_count(keys), &error), &error);
        move(table, i, i + 1, 0);
        if (i % CANCELLED == 0) /* a retraction */
            move(table, i, i + 1, 1);
        for (; sales.time[first] <= sales.time[i] - HOUR; first++) /* what leaves the window */
            if (first % CANCELLED != 0)
                move(table, first, first + 1, 1);
    }
    printf("sales of the last hour, %d of %d\n%8s %8s %24s %24s\n", SALES - first, SALES, "shop", "count", "sum",
           "mean");
    for (uint32_t group = 0; group < reduct_keys_count(keys); group++) {
        double sum, mean, expected_sum, expected_mean;
        uint64_t shop;
        or_exit(reduct_keys_get(keys, group, 1, &shop, &error), &error);
        or_exit(reduct_table_result(table, 0, REDUCT_DEFAULT, group, 1, &sum, NULL, &error), &error);
        or_exit(reduct_table_result(table, 1, REDUCT_DEFAULT, group, 1, &mean, NULL, &error), &error);
        query(group, first, SALES, &expected_sum, &expected_mean);
        differ += sum != expected_sum || mean != expected_mean;
        printf("%8llu %8llu %24.17g %24.17g\n", (unsigned long long)shop,
               (unsigned long long)reduct_table_count(table, 0, group), sum, mean);
    }
    printf("%s\n", differ ? "these are not the sums of what is left" : "the same bits as a query over what is left");
    reduct_table_destroy(table);
    reduct_keys_destroy(keys);
    return differ != 0;
}
