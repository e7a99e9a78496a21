/* Who holds which rows of users, visits, and the way of rows into files. */
#include "model/user_rows.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

/* Numbers of a piece on its way to a file. */
enum { PIECE = 1 << 20 };

struct pr_user_rows {
    pr_ranks *ranks;
    unsigned rank, size;
    size_t users, cols;
    uint64_t *wishes; /* rank and user, in that order */
    size_t wish_count, wish_room;
    int32_t *visitors; /* ascending */
    pr_real *visits;   /* their rows */
    size_t visitor_count, visitor_room, visit_room;
    pr_real *sent; /* rows on their way to others */
    size_t sent_room;
    uint64_t posted;
    pr_real *piece; /* [PIECE] or a row: of a file */
};

/* ---- here ---- */

static size_t piece_rows(const pr_user_rows *r)
{
    return PIECE > r->cols ? PIECE / r->cols : 1;
}

parsrec_status pr_user_rows_divide(pr_user_rows **out, pr_model *model, pr_ranks *ranks,
                                   parsrec_error *err)
{
    const pr_param *users = pr_params_users(&model->params);
    *out = NULL;
    assert(model->weights == NULL && model->user_rows == NULL);
    if (ranks == NULL || users == NULL)
        return PARSREC_OK;
    pr_user_rows *r = *out = pr_alloc_zero(1, sizeof *r);
    if (r == NULL)
        return pr_fail_memory(err);
    *r = (pr_user_rows){.ranks = ranks,
                        .rank = parsrec_ranks_rank(ranks),
                        .size = parsrec_ranks_size(ranks),
                        .users = users->rows - 1,
                        .cols = users->cols};
    r->piece = pr_alloc_aligned(piece_rows(r) * r->cols, sizeof *r->piece);
    if (r->piece == NULL)
        return pr_fail_memory(err);
    pr_params_keep_users(&model->params, pr_ranks_begin(r->users, r->size, r->rank),
                         pr_ranks_begin(r->users, r->size, r->rank + 1));
    model->user_rows = r;
    return PARSREC_OK;
}

void pr_user_rows_free(pr_user_rows *r)
{
    if (r == NULL)
        return;
    pr_free(r->wishes);
    pr_free(r->visitors);
    pr_free(r->visits);
    pr_free(r->sent);
    pr_free_aligned(r->piece);
    pr_free(r);
}

static int by_number(const void *left, const void *right)
{
    const int32_t *a = left, *b = right;
    return (*a > *b) - (*a < *b);
}

const pr_real *pr_user_row(const pr_model *model, size_t row)
{
    const pr_param *users = pr_params_users(&model->params);
    const pr_user_rows *r = model->user_rows;
    size_t here = pr_param_row_here(users, row);
    if (here != PR_ROW_ELSEWHERE)
        return model->weights + users->at + here * users->cols;
    int32_t user = (int32_t)row;
    const int32_t *found = bsearch(&user, r->visitors, r->visitor_count, sizeof user, by_number);
    assert(found != NULL);
    return r->visits + (size_t)(found - r->visitors) * r->cols;
}

void pr_user_rows_copy(pr_real *out, const pr_model *model, const int32_t *list, size_t n)
{
    size_t cols = pr_params_users(&model->params)->cols;
    for (size_t i = 0; i < n; i++)
        memcpy(out + i * cols, pr_user_row(model, (size_t)list[i]), cols * sizeof *out);
}

/* ---- visits ---- */

parsrec_status pr_user_rows_want(pr_user_rows *r, unsigned rank, int32_t user, parsrec_error *err)
{
    if (r == NULL || user < 0)
        return PARSREC_OK;
    assert(rank < r->size && (size_t)user < r->users);
    PR_TRY(pr_grow(&r->wishes, &r->wish_room, r->wish_count + 1, sizeof *r->wishes, err));
    r->wishes[r->wish_count++] = (uint64_t)rank << 32 | (uint32_t)user;
    return PARSREC_OK;
}

parsrec_status pr_user_rows_want_all(pr_user_rows *r, int32_t user, parsrec_error *err)
{
    for (unsigned rank = 0; r != NULL && rank < r->size; rank++)
        PR_TRY(pr_user_rows_want(r, rank, user, err));
    return PARSREC_OK;
}

parsrec_status pr_user_rows_reserve(pr_user_rows *r, size_t wishes, size_t visits,
                                    parsrec_error *err)
{
    if (r == NULL)
        return PARSREC_OK;
    PR_TRY(pr_grow(&r->wishes, &r->wish_room, wishes, sizeof *r->wishes, err));
    PR_TRY(pr_grow(&r->visitors, &r->visitor_room, visits, sizeof *r->visitors, err));
    PR_TRY(pr_grow(&r->visits, &r->visit_room, visits * r->cols, sizeof *r->visits, err));
    return pr_grow(&r->sent, &r->sent_room, wishes * r->cols, sizeof *r->sent, err);
}

static int by_wish(const void *left, const void *right)
{
    const uint64_t *a = left, *b = right;
    return (*a > *b) - (*a < *b);
}

static unsigned holder_of(const pr_user_rows *r, uint32_t user)
{
    unsigned holder = (unsigned)((uint64_t)user * r->size / r->users);
    while (user >= pr_ranks_begin(r->users, r->size, holder + 1)) /* the division is rounded down */
        holder++;
    return holder;
}

/* Every wish once, by rank and user. */
static void sort_wishes(pr_user_rows *r)
{
    size_t kept = 0;
    if (r->wish_count > 1)
        qsort(r->wishes, r->wish_count, sizeof *r->wishes, by_wish);
    for (size_t i = 0; i < r->wish_count; i++)
        if (kept == 0 || r->wishes[i] != r->wishes[kept - 1])
            r->wishes[kept++] = r->wishes[i];
    r->wish_count = kept;
}

/* Sorted wishes have the users of one holder side by side, so two ranks need one message. */
parsrec_status pr_user_rows_post(pr_user_rows *r, const pr_model *model, parsrec_error *err)
{
    size_t out = 0, in = 0, bytes;
    if (r == NULL)
        return PARSREC_OK;
    const pr_param *users = pr_params_users(&model->params);
    const pr_real *table = model->weights + users->at;
    bytes = r->cols * sizeof *table;
    sort_wishes(r);
    for (size_t i = 0; i < r->wish_count; i++) {
        unsigned holder = holder_of(r, (uint32_t)r->wishes[i]),
                 rank = (unsigned)(r->wishes[i] >> 32);
        in += rank == r->rank && holder != r->rank;
        out += rank != r->rank && holder == r->rank;
    }
    PR_TRY(pr_grow(&r->visitors, &r->visitor_room, in, sizeof *r->visitors, err));
    PR_TRY(pr_grow(&r->visits, &r->visit_room, in * r->cols, sizeof *r->visits, err));
    PR_TRY(pr_grow(&r->sent, &r->sent_room, out * r->cols, sizeof *r->sent, err));
    in = out = 0;
    for (size_t i = 0, end; i < r->wish_count; i = end) {
        unsigned rank = (unsigned)(r->wishes[i] >> 32),
                 holder = holder_of(r, (uint32_t)r->wishes[i]);
        size_t from = rank == r->rank ? in : out;
        for (end = i; end < r->wish_count; end++) {
            uint32_t user = (uint32_t)r->wishes[end];
            if (r->wishes[end] >> 32 != rank || holder_of(r, user) != holder)
                break;
            if (rank == r->rank && holder != r->rank)
                r->visitors[in++] = (int32_t)user;
            else if (rank != r->rank && holder == r->rank)
                memcpy(r->sent + out++ * r->cols, table + (user - users->first) * r->cols, bytes);
        }
        if (rank == r->rank)
            pr_ranks_receive(r->ranks, holder, r->visits + from * r->cols, (in - from) * bytes);
        else if (holder == r->rank)
            pr_ranks_send(r->ranks, rank, r->sent + from * r->cols, (out - from) * bytes);
    }
    r->visitor_count = in;
    r->wish_count = 0;
    r->posted++;
    return PARSREC_OK;
}

parsrec_status pr_user_rows_bring(pr_user_rows *r, const pr_model *model, parsrec_error *err)
{
    if (r == NULL)
        return PARSREC_OK;
    PR_TRY(pr_user_rows_post(r, model, err));
    return pr_ranks_exchange(r->ranks, err);
}

/* Every rank wants its part of the wishes, and is asked for as many; a piece of a file is there too. */
size_t pr_user_rows_bytes(const pr_user_rows *r, size_t wishes)
{
    if (r == NULL)
        return 0;
    size_t row = r->cols * sizeof *r->visits;
    return wishes * sizeof *r->wishes + 2 * wishes / r->size * row + piece_rows(r) * row;
}

uint64_t pr_user_rows_posted(const pr_user_rows *r)
{
    return r != NULL ? r->posted : 0;
}

/* ---- files ---- */

/* The next rows: some of one holder, or the last one. */
static parsrec_status next_rows(void *context, const void **bytes, size_t *size, parsrec_error *err)
{
    pr_user_rows_reader *f = context;
    pr_user_rows *r = f->rows;
    while (f->next < r->users && f->next >= pr_ranks_begin(r->users, r->size, f->holder + 1))
        f->holder++;
    size_t here = pr_param_row_here(f->users, f->next);
    size_t end = pr_ranks_begin(r->users, r->size, f->holder + 1);
    size_t n = f->next < r->users ? end - f->next : 1;
    n = n < piece_rows(r) ? n : piece_rows(r);
    f->next += n;
    *bytes = here != PR_ROW_ELSEWHERE ? f->here + here * r->cols : r->piece;
    *size = n * r->cols * sizeof *r->piece;
    if (here != PR_ROW_ELSEWHERE)
        return PARSREC_OK;
    pr_ranks_receive(r->ranks, f->holder, r->piece, *size);
    return pr_ranks_exchange(r->ranks, err);
}

pr_tensor_source pr_user_rows_source(pr_user_rows_reader *reader, const pr_model *model,
                                     const pr_real *block)
{
    const pr_param *users = pr_params_users(&model->params);
    *reader =
        (pr_user_rows_reader){.rows = model->user_rows, .users = users, .here = block + users->at};
    return (pr_tensor_source){reader->here, reader, next_rows};
}

parsrec_status pr_user_rows_hand_in(pr_user_rows *r, const pr_model *model, const pr_real *block,
                                    parsrec_error *err)
{
    const pr_param *users = pr_params_users(&model->params);
    for (size_t at = 0, n; at < users->rows - 1; at += n) {
        n = users->rows - 1 - at < piece_rows(r) ? users->rows - 1 - at : piece_rows(r);
        pr_ranks_send(r->ranks, 0, block + users->at + at * r->cols, n * r->cols * sizeof *block);
        PR_TRY(pr_ranks_exchange(r->ranks, err));
    }
    return PARSREC_OK;
}
