/* write_sample FILE: the sample data set as the library writes it, for scripts and fuzz seeds. */
#include <stdio.h>

#include "support/sample_data.h"

int main(int argc, char **argv)
{
    static const float weights[] = {0.5f, -1, 2, 3};
    const pr_tensor truth = {"truth.weights", PR_F32, 2, {2, 2}, weights};
    sample s;
    sample_make(&s);
    parsrec_error err;
    if (argc == 2 && pr_dataset_save(&s.data, &truth, 1, argv[1], &err) == PARSREC_OK)
        return 0;
    fprintf(stderr, "write_sample: %s\n", argc == 2 ? err.message : "usage: write_sample FILE");
    return 1;
}
