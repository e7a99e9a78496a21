/* From sums to maps, and the two maps that need no tour. */
#include "explain/maps.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

const pr_map_words pr_map_words_of[PR_MAP_KINDS] = {
    [PR_MAP_TRUTH] =
        {"truth", "True covariance", "covariance",
         "The covariance of the wish for two categories that these synthetic data were "
         "made with: above 0 they are bought together more often than by chance.",
         PR_HEAT_PLAIN},
    [PR_MAP_ATTENTION] =
        {"attention", "Attention", "share of attention",
         "How much the model looks at the column while it expects the row, as a share of the row. "
         "Looking is not the same as minding: what is in many baskets gets much of it, whatever it "
         "has to do with the row.",
         PR_HEAT_PERCENT},
    [PR_MAP_EVEN] = {"even", "Attention, equal weights", "share",
                     "The attention map of a model that looks at all items of a basket alike: what "
                     "is left of attention without its weights.",
                     PR_HEAT_PERCENT},
    [PR_MAP_DROP] = {"drop", "Effect on the next item", "times as likely",
                     "How many times as likely the row becomes because the column is in the "
                     "basket: the model is asked again without it. ×2 means twice as likely as "
                     "with other items in the basket, ×0.5 half as likely, ×1 no difference.",
                     PR_HEAT_TIMES},
    [PR_MAP_LIFT] = {"lift", "Bought together", "times as often as by chance",
                     "How many times as often both are in one basket as chance would have it. "
                     "Plain counting, no model.",
                     PR_HEAT_TIMES},
    [PR_MAP_EMBEDDING] = {"embedding", "Likeness to the model", "dot product",
                          "Dot products of what the model learnt of the items. The same for "
                          "everybody: what is used in the same way points in the same direction.",
                          PR_HEAT_PLAIN},
};

static void mean_rows(double *map, const double *sum, const double *rows, size_t N)
{
    for (size_t i = 0; i < N; i++)
        for (size_t j = 0; j < N; j++)
            map[i * N + j] = rows[i] > 0 ? sum[i * N + j] / rows[i] : NAN;
}

void pr_map_attention(double *map, const pr_tour_sums *sums)
{
    mean_rows(map, sums->attention, sums->users_with_row, sums->N);
}

void pr_map_even(double *map, const pr_tour_sums *sums)
{
    mean_rows(map, sums->even, sums->users_with_row, sums->N);
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* What leaving out an item of any other class does to the chances of class i at a stage: the mean over
 * columns without the fifth at either end, so that what is particular to a few does not count. */
static double common_effect(const pr_tour_sums *sums, size_t stage, size_t i)
{
    size_t N = sums->N, n = 0;
    for (size_t j = 0; j < N; j++) {
        size_t at = (stage * N + j) * N + i;
        if (i != j && sums->counted[at] > 0)
            sums->spare[n++] = sums->effect[at] / sums->counted[at];
    }
    qsort(sums->spare, n, sizeof *sums->spare, ascending);
    double sum = 0;
    for (size_t k = n / 5; k < n - n / 5; k++)
        sum += sums->spare[k];
    return n > 0 ? sum / (double)(n - 2 * (n / 5)) : 0;
}

void pr_map_drop(double *map, const pr_tour_sums *sums)
{
    size_t N = sums->N;
    for (size_t i = 0; i < N; i++) {
        double common[PR_TOUR_STAGES];
        for (size_t s = 0; s < PR_TOUR_STAGES; s++)
            common[s] = common_effect(sums, s, i);
        for (size_t j = 0; j < N; j++) {
            double effect = 0, counted = 0;
            for (size_t s = 0; s < PR_TOUR_STAGES; s++) {
                size_t at = (s * N + j) * N + i;
                effect += sums->effect[at] - sums->counted[at] * common[s];
                counted += sums->counted[at];
            }
            map[i * N + j] = counted > 0 ? effect / counted : NAN;
        }
    }
}

void pr_map_lift(double *map, const pr_evidence *e)
{
    size_t N = e->N;
    for (size_t i = 0; i < N; i++)
        for (size_t j = 0; j < N; j++) {
            double each = (double)e->both[i * N + i] * (double)e->both[j * N + j];
            double expected = each / (double)e->baskets;
            map[i * N + j] = i == j || !(expected > 0)
                                 ? (double)NAN
                                 : log(((double)e->both[i * N + j] + 0.5) / (expected + 0.5));
        }
}

/* ---- embedding ---- */

static void mean_vectors(double *mean, const pr_real *table, size_t D, const pr_axis *axis)
{
    memset(mean, 0, axis->count * D * sizeof *mean);
    for (size_t c = 0; c < axis->count; c++) {
        double share = 1 / (double)(axis->offsets[c + 1] - axis->offsets[c]);
        for (size_t k = axis->offsets[c]; k < axis->offsets[c + 1]; k++)
            for (size_t d = 0; d < D; d++)
                mean[c * D + d] += share * (double)table[axis->order[k] * D + d];
    }
}

parsrec_status pr_map_embedding(double *map, const pr_model *model, const pr_axis *axis,
                                parsrec_error *err)
{
    const pr_param *table = pr_params_find(&model->params, "item_emb");
    if (table == NULL)
        return pr_fail(err, PARSREC_E_UNSUPPORTED,
                       "model %s learns no rows of items, so it has no map of embeddings",
                       model->kind->name);
    size_t N = axis->count, D = table->cols;
    double *mean = pr_alloc(N * D, sizeof *mean);
    if (mean == NULL)
        return pr_fail_memory(err);
    mean_vectors(mean, model->weights + table->at, D, axis);
    for (size_t i = 0; i < N; i++)
        for (size_t j = 0; j < N; j++) {
            double sum = 0;
            for (size_t d = 0; d < D; d++)
                sum += mean[i * D + d] * mean[j * D + d];
            map[i * N + j] = sum;
        }
    pr_free(mean);
    return PARSREC_OK;
}
