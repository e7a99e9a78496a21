/* Steps of few rows by what a model has ready. Rows of an explanation leave one thing out each and are alike for most of
 * the way: rows in the same state are worked out once, and part when they no longer are. */
#include <string.h>

#include "model/parsrec/parsrec_state.h"

static pr_real *joint_of(const pr_arnn_state *s, size_t r)
{
    return s->joint + r * (s->net.d.dv + s->net.d.dq);
}

/* Rows that speak for themselves and of which something is not done yet; NULL: all such. */
static pr_arnn_rows rows_to_do(const pr_scorer *session, const bool *done)
{
    pr_arnn_state *s = session->own;
    size_t count = 0;
    for (size_t r = 0; r < session->active; r++)
        if (s->twin[r] == r && (done == NULL || !done[r]))
            s->list[count++] = r;
    return (pr_arnn_rows){s->list, count, s->room};
}

static bool alike(const pr_start *a, const pr_start *b)
{
    return a->user == b->user && pr_arnn_same_past(a, b);
}

void pr_arnn_quick_begin(pr_scorer *session, const pr_start *starts, bool known)
{
    pr_arnn_state *s = session->own;
    bool features = s->net.d.inputs->count > 0; /* may differ from row to row */
    for (size_t r = 0; r < session->active; r++) {
        s->twin[r] = r > 0 && !features && alike(&starts[r], &starts[r - 1]) ? s->twin[r - 1] : r;
        s->looked[r] = s->moved[r] = false;
    }
    if (known)
        return;
    pr_arnn_rows rows = rows_to_do(session, NULL);
    pr_arnn_quick_user(&s->net, s->ready, &rows);
    if (s->lately.slots > 0)
        pr_arnn_kept_learn(&s->lately, starts->alike, s->net.t.ucell, s->net.t.z);
}

static void look(pr_scorer *session, size_t r)
{
    pr_arnn_state *s = session->own;
    if (!s->looked[r])
        pr_arnn_quick_look(&s->net, s->ready, r, joint_of(s, r), s->chosen + r * session->capacity,
                           s->keys[r]);
    s->looked[r] = true;
}

void pr_arnn_quick_moves(pr_scorer *session)
{
    pr_arnn_state *s = session->own;
    pr_arnn_rows rows = rows_to_do(session, s->moved);
    if (rows.count == 0)
        return;
    for (size_t i = 0; i < rows.count; i++)
        s->moved[rows.list[i]] = true;
    if (s->lately.slots > 0 && pr_arnn_kept_next(&s->lately, s->hidden))
        return;
    for (size_t i = 0; i < rows.count; i++)
        look(session, rows.list[i]);
    pr_arnn_quick_move(&s->net, s->ready, &rows, s->hidden, s->joint);
    if (s->lately.slots > 0)
        pr_arnn_kept_follow(&s->lately, s->hidden);
}

/* The row takes over what was worked out for its twin. */
static void part(pr_arnn_state *s, size_t r)
{
    size_t t = s->twin[r], dv = s->net.d.dv, weights = s->net.d.heads * s->net.t.keys;
    pr_real *weight = s->net.t.layer[0].weight;
    memcpy(s->net.t.ucell + r * 2 * dv, s->net.t.ucell + t * 2 * dv, 2 * dv * sizeof(pr_real));
    memcpy(s->net.t.z + r * 2 * dv, s->net.t.z + t * 2 * dv, dv * sizeof(pr_real));
    if (s->looked[t]) {
        memcpy(joint_of(s, r), joint_of(s, t), (dv + s->net.d.dq) * sizeof(pr_real));
        memcpy(weight + r * weights, weight + t * weights, weights * sizeof *weight);
    }
    if (s->moved[t])
        memcpy(s->hidden + r * dv, s->hidden + t * dv, dv * sizeof(pr_real));
    s->looked[r] = s->looked[t];
    s->moved[r] = s->moved[t];
    s->twin[r] = r;
}

void pr_arnn_quick_part(pr_scorer *session, const int32_t *items)
{
    pr_arnn_state *s = session->own;
    for (size_t r = 0; r < session->active; r++)
        if (s->twin[r] != r && (items == NULL || items[r] != items[s->twin[r]]))
            part(s, r);
}

void pr_arnn_quick_run(pr_scorer *session)
{
    pr_arnn_state *s = session->own;
    pr_arnn_quick_part(session, NULL);
    for (size_t r = 0; r < session->active; r++)
        look(session, r);
    pr_arnn_quick_answer(&s->net, s->ready, session->active, s->joint);
    s->ran = true;
}
