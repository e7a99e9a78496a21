/* Measurements for the public. */
#include <stdio.h>
#include <string.h>

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

/* The settings a run is measured with: the paper's, or a kind's own. */
static parsrec_status settings(pr_config *config, const char *model, const char *const *set,
                               size_t set_count, parsrec_error *err)
{
    PR_TRY(pr_model_defaults(config, model, err));
    if (strcmp(model, "parsrec") == 0)
        PR_TRY(pr_config_preset(config, "paper", err));
    for (size_t i = 0; i < set_count; i++)
        PR_TRY(pr_config_assign(config, set[i], err));
    return pr_model_check(model, config, err);
}

parsrec_status parsrec_bench_train(const parsrec_data *data, const char *model, double seconds,
                                   unsigned threads, const char *const *set, size_t set_count,
                                   parsrec_train_speed *speed, const parsrec_hooks *hooks,
                                   parsrec_error *err)
{
    if (data == NULL || speed == NULL || !(seconds > 0))
        return pr_fail(err, PARSREC_E_ARGUMENT, "parsrec_bench_train needs data and a time");
    pr_config config;
    pr_bench_train_result r;
    model = model != NULL ? model : "parsrec";
    PR_TRY(settings(&config, model, set, set_count, err));
    PR_TRY(pr_bench_train(&r, data, model, &config, seconds, threads, hooks, err));
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
