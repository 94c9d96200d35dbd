/* The smallest use of the installed library. */
#include <reduct/reduct.h>
#include <stdio.h>

int main(void) {
    const double values[] = {1e100, 1, -1e100};
    double total;
    if (reduct_sum_f64(values, 3, &total) != REDUCT_OK || total != 1)
        return 1;
    printf("reduct %s: %g\n", reduct_version(), total);
    return 0;
}
