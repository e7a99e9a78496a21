/* What a model costs: its memory, and how many answers a second it gives. */
#include <string.h>

#include "base/clock.h"
#include "base/memory.h"
#include "compare/compare.h"
#include "model/model_file.h"

enum { ANSWERS_LEAST = 8, ANSWERS_MOST = 4096, BEST = 10 };
static const double SECONDS = 0.25; /* of answers, about */

/* Answers of users spread over all, each with a history and an empty basket, until the time is up. */
static double answers_a_second(const parsrec_model *model, pr_scorer *scorer, pr_real *scores,
                               const uint8_t *barred)
{
    size_t users = model->file.model->users, items = model->file.model->items, count = 0;
    double began = pr_thread_seconds(), now = began;
    while (count < ANSWERS_MOST && (count < ANSWERS_LEAST || now - began < SECONDS)) {
        int32_t best[BEST], user = users > 0 ? (int32_t)(count * 7919 % users) : PR_ANYONE;
        pr_start start = {.user = user};
        if (user >= 0)
            start.history = pr_user_history(&model->pasts, user);
        pr_scorer_start(scorer, &start, 1);
        pr_scorer_best(scorer, barred, items < BEST ? items : BEST, best, scores);
        count++;
        now = pr_thread_seconds();
    }
    return now > began ? (double)count / (now - began) : 0;
}

parsrec_status pr_cost_measure(pr_cost *cost, const parsrec_model *model, parsrec_error *err)
{
    const pr_model *m = model->file.model;
    pr_scorer *scorer;
    PR_TRY(pr_scorer_new(&scorer, m, 1, 1, err));
    uint8_t *barred = pr_alloc_zero(m->items, sizeof *barred);
    pr_real *scores = pr_alloc(m->items, sizeof *scores);
    parsrec_status status = PARSREC_OK;
    if (barred == NULL || scores == NULL)
        status = pr_fail_memory(err);
    else
        cost->answers = answers_a_second(model, scorer, scores, barred);
    cost->bytes = (double)(m->params.size * sizeof(pr_real) + pr_scorer_bytes(m, 1, 1));
    pr_free(barred);
    pr_free(scores);
    pr_scorer_free(scorer);
    return status;
}
