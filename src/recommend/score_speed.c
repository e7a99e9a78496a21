/* How long one recommendation takes: the public call, one thread, users in turn. */
#include <stdlib.h>

#include "base/clock.h"
#include "base/memory.h"
#include "base/status.h"
#include "base/text.h"
#include "recommend/recommend.h"

enum {
    CALLS_MOST = 1 << 20, /* in one measurement */
    CALLS_LEAST = 64,     /* however long they take */
    REPORT_EVERY = 256,   /* calls between two reports of progress */
};

typedef struct bench {
    const parsrec_model *model;
    const parsrec_hooks *hooks;
    parsrec_scratch *own;
    parsrec_hit *hits;
    parsrec_why *whys;
    double *times; /* [CALLS_MOST], in microseconds */
    size_t basket, k;
} bench;

static parsrec_status make_bench(bench *b, parsrec_error *err)
{
    bool anybody = false; /* request_of looks for a user with a history */
    for (size_t u = 0; u < b->model->pasts.users && !anybody; u++)
        anybody = pr_user_history(&b->model->pasts, (int32_t)u).count > 0;
    if (!anybody)
        return pr_fail(err, PARSREC_E_INPUT, "no user of the model has bought anything to ask for");
    b->hits = pr_alloc(b->k, sizeof *b->hits);
    b->whys = pr_alloc(b->k, sizeof *b->whys);
    b->times = pr_alloc(CALLS_MOST, sizeof *b->times);
    if (b->hits == NULL || b->whys == NULL || b->times == NULL)
        return pr_fail_memory(err);
    return parsrec_scratch_new(&b->own, b->model, b->basket, err);
}

static void free_bench(bench *b)
{
    parsrec_scratch_free(b->own);
    pr_free(b->hits);
    pr_free(b->whys);
    pr_free(b->times);
}

/* A request of one user after the other, with the whole history. The basket is the beginning of one
 * of the user's sessions, another one each time it is the user's turn: so no cache has the basket,
 * while the start of the user may be cached. */
static parsrec_request request_of(const bench *b, size_t number)
{
    const pr_histories *pasts = &b->model->pasts;
    parsrec_request r = parsrec_request_default();
    size_t user = number % pasts->users;
    while (pr_user_history(pasts, (int32_t)user).count == 0)
        user = (user + 1) % pasts->users;
    pr_history past = pr_user_history(pasts, (int32_t)user);
    const int64_t *open = past.sessions + number / pasts->users % past.session_count;
    size_t size = (size_t)(open[1] - open[0]);
    r.user = (int32_t)user;
    r.k = b->k;
    r.basket = (parsrec_numbers){past.items + (open[0] - past.sessions[0]),
                                 size < b->basket ? size : b->basket};
    return r;
}

/* Makes one request and notes how long the answer took or, with `why`, how long the reasons took
 * that follow it. */
static parsrec_status ask(bench *b, size_t number, bool why, parsrec_error *err)
{
    parsrec_answer answer;
    parsrec_request r = request_of(b, number);
    double begin = pr_now();
    PR_TRY(parsrec_recommend(b->model, b->own, &r, b->hits, b->k, &answer, err));
    if (why) {
        begin = pr_now();
        PR_TRY(parsrec_recommend_why(b->model, b->own, &r, b->hits, answer.count, b->whys, err));
    }
    b->times[number] = 1e6 * (pr_now() - begin);
    return PARSREC_OK;
}

/* Makes requests for that long; sets *calls to how many. */
static parsrec_status ask_for(bench *b, double seconds, bool why, size_t *calls, parsrec_error *err)
{
    double begin = pr_now();
    size_t n = 0;
    for (; n < CALLS_LEAST || (pr_now() - begin < seconds && n < CALLS_MOST); n++) {
        if (n % REPORT_EVERY == 0)
            PR_TRY(pr_progress(b->hooks, why ? "explaining" : "recommending", "calls", n, 0, err));
        PR_TRY(ask(b, n, why, err));
    }
    *calls = n;
    return PARSREC_OK;
}

static parsrec_status measure(bench *b, double seconds, parsrec_score_speed *speed,
                              parsrec_error *err)
{
    size_t calls;
    PR_TRY(ask_for(b, 0, false, &calls, err)); /* fills the caches; not counted */
    PR_TRY(ask_for(b, 0.75 * seconds, false, &calls, err));
    double sum = 0;
    for (size_t i = 0; i < calls; i++)
        sum += b->times[i];
    qsort(b->times, calls, sizeof *b->times, pr_ascending_f64);
    *speed = (parsrec_score_speed){.calls = calls,
                                   .mean = sum / (double)calls,
                                   .median = b->times[calls / 2],
                                   .p99 = b->times[calls - 1 - calls / 100]};
    PR_TRY(ask_for(b, 0.25 * seconds, true, &calls, err));
    qsort(b->times, calls, sizeof *b->times, pr_ascending_f64);
    speed->why_median = b->times[calls / 2];
    return PARSREC_OK;
}

parsrec_status parsrec_bench_score(const parsrec_model *model, size_t basket, size_t k,
                                   double seconds, parsrec_score_speed *speed,
                                   const parsrec_hooks *hooks, parsrec_error *err)
{
    if (model == NULL || speed == NULL || !(seconds > 0) || basket == 0 || k == 0 ||
        basket > PARSREC_BASKET_MOST || k > model->file.data->items)
        return pr_fail(err, PARSREC_E_ARGUMENT,
                       "parsrec_bench_score needs a model, a basket of at most %d items, k of at "
                       "most all items, and a time",
                       PARSREC_BASKET_MOST);
    bench b = {.model = model, .hooks = hooks, .basket = basket, .k = k};
    parsrec_status status = make_bench(&b, err);
    if (status == PARSREC_OK)
        status = measure(&b, seconds, speed, err);
    free_bench(&b);
    return status;
}
