/* The first program of the README. A plain loop over these numbers prints 0.30000000000000004. */
#include <reduct/reduct.h>

#include <stdio.h>

int main(void) {
    const double values[] = {1e100, 1.0, -1e100, 0.1, 0.2};
    double total;
    reduct_status status = reduct_sum_f64(values, 5, &total);
    if (status != REDUCT_OK) {
        fprintf(stderr, "%s\n", reduct_status_text(status));
        return 1;
    }
    printf("%.17g\n", total); /* 1.3 to the last bit */
    return 0;
}
