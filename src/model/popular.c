/* pop: the best sellers, the same for everybody. */
#include <string.h>

#include "base/memory.h"
#include "model/counting.h"

enum { USERS_A_ROUND = 65536 };

/* ---- popularity ---- */

parsrec_status pr_popularity_layout(pr_model *model, parsrec_error *err)
{
    return pr_params_add_numbers(&model->params, "popularity", 1, model->items, err);
}

const pr_real *pr_popularity(const pr_model *model)
{
    return pr_model_numbers(model, "popularity");
}

static void count_user(uint64_t *count, const pr_counted *from, size_t user)
{
    const pr_dataset *data = from->data;
    int64_t first = data->session_offsets[data->user_offsets[user]];
    int64_t end = data->session_offsets[pr_counted_end(from, user)];
    for (int64_t a = first; a < end; a++)
        count[data->action_items[a]]++;
}

static parsrec_status count_all(uint64_t *count, const pr_counted *from, parsrec_error *err)
{
    size_t users = from->data->users;
    for (size_t u = 0; u < users; u++) {
        if (u % USERS_A_ROUND == 0)
            PR_TRY(pr_progress(from->hooks, "counting", "users", u, users, err));
        count_user(count, from, u);
    }
    return PARSREC_OK;
}

parsrec_status pr_popularity_count(pr_model *model, const pr_counted *from, parsrec_error *err)
{
    PR_TRY(pr_model_weigh(model, err));
    uint64_t *count = pr_alloc_zero(model->items, sizeof *count); /* floats end at 2^24 */
    if (count == NULL)
        return pr_fail_memory(err);
    pr_real *popularity = pr_model_numbers(model, "popularity");
    parsrec_status status = count_all(count, from, err);
    for (size_t i = 0; i < model->items; i++)
        popularity[i] = (pr_real)count[i];
    pr_free(count);
    return status;
}

/* ---- the kind ---- */

void pr_place_nothing(pr_session *session, const int32_t *items)
{
    (void)session;
    (void)items;
}

static size_t session_bytes(const pr_model *model, size_t rows, size_t capacity)
{
    (void)model;
    (void)rows;
    (void)capacity;
    return 0;
}

static void open(pr_session *session)
{
    (void)session;
}

static void start(pr_session *session, const pr_start *starts)
{
    (void)session;
    (void)starts;
}

static void score_all(pr_session *session, pr_real *scores)
{
    size_t items = session->model->items;
    for (size_t r = 0; r < session->active; r++)
        memcpy(scores + r * items, pr_popularity(session->model), items * sizeof *scores);
}

static void score(pr_session *session, size_t row, const int32_t *items, size_t n, pr_real *scores)
{
    (void)row;
    const pr_real *popularity = pr_popularity(session->model);
    for (size_t i = 0; i < n; i++)
        scores[i] = popularity[items[i]];
}

const pr_model_kind pr_pop = {
    .name = "pop",
    .summary = "how often each item was bought",
    .layout = pr_popularity_layout,
    .count = pr_popularity_count,
    .session_bytes = session_bytes,
    .open = open,
    .start = start,
    .place = pr_place_nothing,
    .score_all = score_all,
    .score = score,
};
