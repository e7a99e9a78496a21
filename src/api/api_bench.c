/* Measurements for the public. */
#include <stdio.h>

#include "data/dataset.h"
#include "math/blas.h"
#include "train/bench_train.h"

_Static_assert(PARSREC_STEP_PARTS == (int)PR_STEP_PARTS,
               "the public count of parts is the true one");

const char *parsrec_step_part(size_t part)
{
    static const char *const names[] = {
#define NAME(name, text) text,
        PR_STEP_PARTS_MAP(NAME)
#undef NAME
    };
    return part < PR_STEP_PARTS ? names[part] : NULL;
}

parsrec_status parsrec_bench_train(const parsrec_data *data, double seconds, unsigned threads,
                                   const char *const *set, size_t set_count,
                                   parsrec_train_speed *speed, const parsrec_hooks *hooks,
                                   parsrec_error *err)
{
    if (data == NULL || speed == NULL || !(seconds > 0))
        return pr_fail(err, PARSREC_E_ARGUMENT, "parsrec_bench_train needs data and a time");
    pr_config config = pr_config_default();
    PR_TRY(pr_config_preset(&config, "paper", err));
    for (size_t i = 0; i < set_count; i++)
        PR_TRY(pr_config_assign(&config, set[i], err));
    PR_TRY(pr_model_check("parsrec", &config, err));
    pr_bench_train_result r;
    PR_TRY(pr_bench_train(&r, data, &config, seconds, threads, hooks, err));
    *speed = (parsrec_train_speed){.items_per_s = r.items_per_s,
                                   .gflops = r.gflops,
                                   .sgemm_gflops = r.sgemm_gflops,
                                   .share = r.share,
                                   .loss = r.loss,
                                   .threads = r.threads};
    for (size_t i = 0; i < PARSREC_STEP_PARTS; i++)
        speed->part_share[i] = r.part_share[i];
    const char *core = pr_blas_core();
    snprintf(speed->kernels, sizeof speed->kernels, "%s", core != NULL ? core : "");
    return PARSREC_OK;
}
