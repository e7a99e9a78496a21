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
         "made with: above 0 they are bought together more often than by chance."},
    [PR_MAP_ATTENTION] =
        {"attention", "Attention", "share of attention",
         "How the model's attention to the basket is shared out when the item of a row is bought "
         "next, as the paper puts it together. A row sums to 1. What is in many baskets gets much "
         "of it, whatever it has to do with the row."},
    [PR_MAP_EVEN] = {"even", "Attention, equal weights", "share",
                     "The attention map of a model that looks at all items of a basket alike: what "
                     "is left of attention without its weights."},
    [PR_MAP_DROP] = {"drop", "Drop effect", "log of times as likely",
                     "What the model would expect otherwise if the item of a column had not been "
                     "in the basket: "
                     "0.7 means that it makes the row twice as likely as other items do, -0.7 half "
                     "as likely, 0 "
                     "that it does what any item does."},
    [PR_MAP_LIFT] = {"lift", "Lift", "log of the lift",
                     "No model: how often both are in one basket, against how often they would be "
                     "by chance. 0.7 means twice as often, -0.7 half as often."},
    [PR_MAP_EMBEDDING] = {"embedding", "Embedding", "dot product",
                          "Dot products of the rows that the model learnt for items. The same for "
                          "every user: what is used in the same way points in the same direction."},
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

/* ---- lift ---- */

typedef struct counting {
    size_t N, baskets;
    uint64_t *both; /* [N,N] */
    bool *held;     /* [N] */
    uint32_t *list; /* [N] */
} counting;

static void count_basket(counting *c, const int32_t *items, size_t size, const uint32_t *class)
{
    size_t n = 0;
    for (size_t k = 0; k < size; k++) {
        uint32_t i = class[items[k]];
        if (i < c->N && !c->held[i]) {
            c->held[i] = true;
            c->list[n++] = i;
        }
    }
    for (size_t a = 0; a < n; a++)
        for (size_t b = 0; b < n; b++)
            c->both[c->list[a] * c->N + c->list[b]]++;
    for (size_t a = 0; a < n; a++)
        c->held[c->list[a]] = false;
    c->baskets++;
}

static void fill_lift(double *map, const counting *c)
{
    size_t N = c->N;
    for (size_t i = 0; i < N; i++)
        for (size_t j = 0; j < N; j++) {
            double each = (double)c->both[i * N + i] * (double)c->both[j * N + j];
            double expected = each / (double)c->baskets;
            map[i * N + j] = i == j || expected == 0
                                 ? NAN
                                 : log(((double)c->both[i * N + j] + 0.5) / (expected + 0.5));
        }
}

parsrec_status pr_map_lift(double *map, const pr_dataset *data, const pr_axis *axis,
                           const pr_user_group *group, parsrec_error *err)
{
    size_t N = axis->count;
    counting c = {N, 0, pr_alloc_zero(N * N, sizeof *c.both), pr_alloc_zero(N, sizeof *c.held),
                  pr_alloc(N, sizeof *c.list)};
    bool all = c.both != NULL && c.held != NULL && c.list != NULL;
    for (size_t u = 0; all && u < group->count; u++) {
        const int64_t *own = data->user_offsets + group->users[u];
        for (int64_t s = own[0]; s < own[1]; s++) {
            const int64_t *at = data->session_offsets + s;
            count_basket(&c, data->action_items + at[0], (size_t)(at[1] - at[0]), axis->class);
        }
    }
    if (all)
        fill_lift(map, &c);
    pr_free(c.both);
    pr_free(c.held);
    pr_free(c.list);
    return all ? PARSREC_OK : pr_fail_memory(err);
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
