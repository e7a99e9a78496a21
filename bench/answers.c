/* How long an answer takes in a large catalogue, and whether it is that of scoring everything.
 *   answers MODEL TIMED COMPARED
 * Known users with 30 to 50 past items, three of the items of one of their sessions in the basket, the ten best:
 * TIMED requests are timed after a hundred that are not. COMPARED requests, every second one with items that are
 * excluded, are asked once for ten items and once for enough that the whole catalogue is scored: the first ten must
 * be the same items with the same bits. Prints one line: items, median and p99 in
 * microseconds, compared, different, and the median of the reasons for ten items. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "model/parsrec/parsrec_scorer.h"
#include "recommend/recommend.h"

enum { K = 10, BASKET = 3, LEAST = 30, MOST = 50, EXCLUDED = 1000, WARM = 100, WHYS = 25 };
enum { MANY = PR_ARNN_LIKELY }; /* more than half of it: the best are not searched for */

static uint64_t state = 88172645463325252u;

static uint64_t draw(uint64_t below)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state % below;
}

static void need(parsrec_status status, const parsrec_error *err)
{
    if (status == PARSREC_OK)
        return;
    fprintf(stderr, "answers: %s\n", err->message);
    exit(1);
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

typedef struct question {
    const parsrec_model *model;
    int32_t excluded[EXCLUDED];
    parsrec_request request;
} question;

/* Another user with a past of the right length, and the beginning of one of the user's own baskets. */
static void ask_next(question *q, bool excludes)
{
    size_t items = parsrec_model_size(q->model, PARSREC_ITEM);
    const pr_histories *pasts = &q->model->pasts;
    pr_history past;
    q->request = parsrec_request_default();
    do {
        q->request.user = (int32_t)draw(pasts->users);
        past = pr_user_history(pasts, q->request.user);
    } while (past.count < LEAST || past.count > MOST);
    const int64_t *open = past.sessions + draw(past.session_count);
    size_t size = (size_t)(open[1] - open[0]);
    q->request.k = K;
    q->request.basket =
        (parsrec_numbers){past.items + (open[0] - past.sessions[0]), size < BASKET ? size : BASKET};
    for (size_t i = 0; i < EXCLUDED; i++)
        q->excluded[i] = (int32_t)draw(items);
    if (excludes)
        q->request.exclude = (parsrec_numbers){q->excluded, EXCLUDED};
}

/* The reasons for an answer's items, after the first one, which takes memory. */
static double explain(question *q, parsrec_scratch *own)
{
    parsrec_error err;
    parsrec_answer answer;
    parsrec_hit hits[K];
    static parsrec_why whys[K];
    double times[WHYS];
    for (size_t i = 0; i < WHYS + 1; i++) {
        ask_next(q, false);
        need(parsrec_recommend(q->model, own, &q->request, hits, K, &answer, &err), &err);
        double began = now();
        need(parsrec_recommend_why(q->model, own, &q->request, hits, answer.count, whys, &err),
             &err);
        if (i > 0)
            times[i - 1] = now() - began;
    }
    qsort(times, WHYS, sizeof *times, ascending);
    return times[WHYS / 2];
}

int main(int argc, char **argv)
{
    parsrec_error err;
    parsrec_model *model;
    parsrec_scratch *own;
    parsrec_answer answer, all;
    parsrec_hit hits[K];
    if (argc != 4) {
        fputs("usage: answers MODEL TIMED COMPARED\n", stderr);
        return 2;
    }
    size_t timed = strtoul(argv[2], NULL, 10), compared = strtoul(argv[3], NULL, 10), differ = 0;
    need(parsrec_model_load(&model, argv[1], &err), &err);
    need(parsrec_scratch_new(&own, model, BASKET, &err), &err);
    size_t items = parsrec_model_size(model, PARSREC_ITEM);
    double *times = malloc((timed + 1) * sizeof *times);
    size_t many = items < MANY ? items : MANY;
    parsrec_hit *every = malloc(many * sizeof *every);
    static question q;
    q.model = model;
    for (size_t i = 0; i < WARM + timed; i++) {
        ask_next(&q, false);
        double began = now();
        need(parsrec_recommend(model, own, &q.request, hits, K, &answer, &err), &err);
        if (i >= WARM)
            times[i - WARM] = now() - began;
    }
    for (size_t i = 0; i < compared; i++) {
        ask_next(&q, i % 2 == 1);
        need(parsrec_recommend(model, own, &q.request, hits, K, &answer, &err), &err);
        q.request.k = many;
        need(parsrec_recommend(model, own, &q.request, every, many, &all, &err), &err);
        differ += answer.count != K || memcmp(hits, every, sizeof hits) != 0;
    }
    qsort(times, timed, sizeof *times, ascending);
    printf("%zu %.1f %.1f %zu %zu %.0f\n", items, times[timed / 2], times[timed - 1 - timed / 100],
           compared, differ, explain(&q, own));
    free(times);
    free(every);
    parsrec_scratch_free(own);
    parsrec_model_free(model);
    return differ > 0;
}
