/* parsrec_recommend_many: parsrec_recommend for many users on all cores.
 *
 * Requests are cut into tasks of a fixed size, tasks into rounds. Between rounds the calling thread
 * reports progress. Every worker has a scratch of its own, and writes only to the rows of hits[]
 * and answers[] of its tasks.
 *
 * With ranks, each process answers one range of the requests and writes to the same rows as one
 * process would; at the end the others send their rows to rank 0. */
#include <math.h>

#include "base/memory.h"
#include "base/status.h"
#include "base/threads.h"
#include "ranks/ranks.h"
#include "recommend/recommend.h"

enum { TASK = 32, ROUND = 64 * TASK }; /* requests */

typedef struct worker {
    parsrec_scratch *own;
    size_t failed; /* the first request that failed here; SIZE_MAX: none */
    parsrec_error error;
} worker;

typedef struct many {
    const parsrec_model *model;
    const parsrec_many *of;
    parsrec_hit *hits;
    parsrec_answer *answers;
    worker *workers;
    unsigned worker_count;
    size_t first, end; /* the requests of this process are first..end-1 */
    size_t from, to;   /* those of this round from..to-1 */
} many;

static void answer_one(many *m, worker *w, size_t i)
{
    const parsrec_many *of = m->of;
    parsrec_request r = *of->request;
    parsrec_error error;
    r.user = of->users != NULL ? of->users[i] : (int32_t)i;
    if (of->basket_offsets != NULL) {
        int64_t begin = of->basket_offsets[i];
        r.basket = (parsrec_numbers){of->basket_items != NULL ? of->basket_items + begin : NULL,
                                     (size_t)(of->basket_offsets[i + 1] - begin)};
    }
    parsrec_hit *hits = m->hits + i * r.k;
    parsrec_status status =
        parsrec_recommend(m->model, w->own, &r, hits, r.k, &m->answers[i], &error);
    if (status != PARSREC_OK) {
        m->answers[i].count = 0;
        if (i < w->failed) {
            w->failed = i;
            w->error = error;
        }
    }
    for (size_t j = m->answers[i].count; j < r.k; j++)
        hits[j] = (parsrec_hit){-1, NAN};
}

static void answer_task(void *context, size_t task, unsigned number)
{
    many *m = context;
    size_t from = m->from + task * TASK, to = from + TASK < m->to ? from + TASK : m->to;
    for (size_t i = from; i < to; i++)
        answer_one(m, &m->workers[number], i);
}

static parsrec_status first_failure(const many *m, parsrec_error *err)
{
    const worker *first = &m->workers[0];
    for (unsigned n = 1; n < m->worker_count; n++)
        if (m->workers[n].failed < first->failed)
            first = &m->workers[n];
    if (first->failed == SIZE_MAX)
        return PARSREC_OK;
    return pr_fail(err, first->error.status, "request %zu: %s", first->failed,
                   first->error.message);
}

static parsrec_status answer_all(many *m, pr_pool *pool, const parsrec_hooks *hooks,
                                 parsrec_error *err)
{
    unsigned ranks = parsrec_ranks_size(m->of->ranks);
    for (m->from = m->first; m->from < m->end; m->from = m->to) {
        m->to = m->end - m->from > ROUND ? m->from + ROUND : m->end;
        /* Other ranks are assumed to be as far as this one. */
        PR_TRY(pr_progress(hooks, "recommending", "requests", (m->from - m->first) * ranks,
                           m->of->count, err));
        pr_pool_run(pool, answer_task, m, (m->to - m->from + TASK - 1) / TASK);
        PR_TRY(first_failure(m, err));
    }
    return PARSREC_OK;
}

/* The size of the longest basket; E_ARGUMENT for offsets that go back. */
static parsrec_status longest_basket(const parsrec_many *of, size_t *most, parsrec_error *err)
{
    *most = of->request->basket.count;
    for (size_t i = 0; of->basket_offsets != NULL && i < of->count; i++) {
        int64_t size = of->basket_offsets[i + 1] - of->basket_offsets[i];
        if (of->basket_offsets[i] < 0 || size < 0 || (size > 0 && of->basket_items == NULL))
            return pr_fail(err, PARSREC_E_ARGUMENT, "request %zu: the offsets of baskets are wrong",
                           i);
        *most = (size_t)size > *most ? (size_t)size : *most;
    }
    if (*most > PARSREC_BASKET_MOST)
        return pr_fail(err, PARSREC_E_LIMIT, "a basket has more than %d items",
                       PARSREC_BASKET_MOST);
    return PARSREC_OK;
}

static parsrec_status make_workers(many *m, const pr_pool *pool, size_t basket, parsrec_error *err)
{
    unsigned count = pr_pool_threads(pool);
    m->workers = pr_alloc_zero(count, sizeof *m->workers);
    if (m->workers == NULL)
        return pr_fail_memory(err);
    for (m->worker_count = 0; m->worker_count < count; m->worker_count++) {
        worker *w = &m->workers[m->worker_count];
        w->failed = SIZE_MAX;
        PR_TRY(parsrec_scratch_new(&w->own, m->model, basket, err));
    }
    return PARSREC_OK;
}

/* Rank 0 receives the rows of all other ranks, which send theirs. */
static parsrec_status gather(const many *m, parsrec_error *err)
{
    pr_ranks *ranks = m->of->ranks;
    size_t k = m->of->request->k, count = m->of->count;
    unsigned rank = parsrec_ranks_rank(ranks), size = parsrec_ranks_size(ranks);
    if (rank > 0) {
        size_t n = m->end - m->first;
        pr_ranks_send(ranks, 0, m->answers + m->first, n * sizeof *m->answers);
        pr_ranks_send(ranks, 0, m->hits + m->first * k, n * k * sizeof *m->hits);
    }
    for (unsigned from = 1; from < size && rank == 0; from++) {
        size_t first = pr_ranks_begin(count, size, from);
        size_t n = pr_ranks_begin(count, size, from + 1) - first;
        pr_ranks_receive(ranks, from, m->answers + first, n * sizeof *m->answers);
        pr_ranks_receive(ranks, from, m->hits + first * k, n * k * sizeof *m->hits);
    }
    return pr_ranks_exchange(ranks, err);
}

parsrec_status parsrec_recommend_many(const parsrec_model *model, const parsrec_many *of,
                                      parsrec_hit *hits, parsrec_answer *answers,
                                      const parsrec_hooks *hooks, parsrec_error *err)
{
    if (model == NULL || of == NULL || of->request == NULL ||
        (of->count > 0 && (hits == NULL || answers == NULL)))
        return pr_fail(err, PARSREC_E_ARGUMENT,
                       "parsrec_recommend_many needs a model, a request and room for the answers");
    size_t basket, tasks = (of->count + TASK - 1) / TASK;
    size_t threads = of->threads > 0 ? of->threads : pr_cores();
    pr_pool *pool = NULL;
    parsrec_status status;
    pr_ranks_work work;
    unsigned rank = parsrec_ranks_rank(of->ranks), size = parsrec_ranks_size(of->ranks);
    many m = {.model = model,
              .of = of,
              .hits = hits,
              .answers = answers,
              .first = pr_ranks_begin(of->count, size, rank),
              .end = pr_ranks_begin(of->count, size, rank + 1)};
    if (of->count == 0)
        return PARSREC_OK;
    PR_TRY(longest_basket(of, &basket, err));
    PR_TRY_GOTO(pr_pool_new(&pool, (unsigned)(threads < tasks ? threads : tasks), err));
    PR_TRY_GOTO(make_workers(&m, pool, basket, err));
    hooks = pr_ranks_work_begin(&work, of->ranks, hooks);
    status = answer_all(&m, pool, hooks, err);
    PR_TRY_GOTO(pr_ranks_work_end(&work, status, err));
    PR_TRY_GOTO(gather(&m, err));
done:
    for (unsigned n = 0; n < m.worker_count; n++)
        parsrec_scratch_free(m.workers[n].own);
    pr_free(m.workers);
    pr_pool_free(pool);
    return status;
}
