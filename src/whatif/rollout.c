/* Teams of users are drawn side by side, a team a task: its baskets are sorted by size, so that those
 * of a group of rows end together. What a team drew stays in its records until the round is over. */
#include "whatif/rollout.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/rng.h"
#include "data/histories.h"
#include "data/split.h"
#include "whatif/next_chances.h"

enum {
    ROWS = 32,
    TEAMS_A_ROUND = 8,
    TEAM_BASKETS = 128, /* about; a round of teams is as long as progress is silent */
    PURPOSE_SIZE = 0x771F01,
    PURPOSE_ITEM = 0x771F02,
};

/* A basket to draw, and where its record stands in the team's. */
typedef struct job {
    uint32_t user, draw, size;
    uint32_t place;
} job;

/* What a team drew. */
typedef struct team {
    job *jobs;      /* [users · draws], sorted by size */
    size_t *sizes;  /* by place, the users in order and their draws */
    int32_t *items; /* [places, most] */
    float *rest;    /* [places, lines] */
    float *part;    /* [places, scenarios · parts] */
    float *taken;   /* [places, scenarios · adds · most] */
    size_t first_user, users;
} team;

/* Memory of one thread. */
typedef struct desk {
    pr_scorer *session;
    pr_real *scores; /* [ROWS, V] */
} desk;

typedef struct run {
    const pr_rollout *how;
    pr_rng size_rng, item_rng;
    size_t team_users, most;      /* items of a basket */
    size_t part_width, add_width; /* numbers of a record */
    team teams[TEAMS_A_ROUND];
    desk *desks;
    size_t last;
} run;

/* ---- sizes ---- */

/* Of a past session of the user, each as likely as the other. */
static size_t past_size(const run *r, size_t user, size_t draw)
{
    const pr_dataset *data = r->how->data;
    size_t first = (size_t)data->user_offsets[user];
    size_t end = (size_t)pr_split_session(data, user, PR_TEST, r->last);
    pr_stream s = pr_stream_at(&r->size_rng, (uint32_t)user, (uint32_t)draw, 0);
    size_t session = first + pr_stream_below(&s, (uint32_t)(end - first));
    size_t size = (size_t)(data->session_offsets[session + 1] - data->session_offsets[session]);
    return size < r->most ? size : r->most;
}

static size_t largest_past(const pr_rollout *how, size_t last)
{
    size_t most = 1;
    for (size_t i = 0; i < how->cohort->user_count; i++) {
        size_t user = (size_t)how->cohort->users[i];
        int64_t end = pr_split_session(how->data, user, PR_TEST, last);
        for (int64_t s = how->data->user_offsets[user]; s < end; s++) {
            size_t size =
                (size_t)(how->data->session_offsets[s + 1] - how->data->session_offsets[s]);
            most = size > most ? size : most;
        }
    }
    return most < PR_ROLLOUT_ITEMS ? most : PR_ROLLOUT_ITEMS;
}

static int longest_first(const void *a, const void *b)
{
    const job *x = a, *y = b;
    if (x->size != y->size)
        return x->size > y->size ? -1 : 1;
    return x->place < y->place ? -1 : 1;
}

static void plan_team(const run *r, team *t)
{
    size_t place = 0;
    for (size_t i = 0; i < t->users; i++)
        for (size_t draw = 0; draw < r->how->draws; draw++, place++) {
            uint32_t user = (uint32_t)r->how->cohort->users[t->first_user + i];
            t->sizes[place] = past_size(r, user, draw);
            t->jobs[place] =
                (job){user, (uint32_t)draw, (uint32_t)t->sizes[place], (uint32_t)place};
        }
    qsort(t->jobs, place, sizeof *t->jobs, longest_first);
}

/* ---- drawing ---- */

/* New items compete within the category of the item they are like, or, without categories, with
 * everything: the chance that one of them is taken where `item` would have been. */
static void take_new(const run *r, team *t, const job *j, size_t step, int32_t item,
                     const pr_real *chances)
{
    const pr_lines *lines = r->how->lines;
    size_t adds = r->how->scenarios->adds, bin = (size_t)lines->bin_of[item];
    for (size_t s = 0; s < r->how->scenarios->count && adds > 0; s++) {
        const pr_scenario *scenario = &r->how->scenarios->list[s];
        float *taken = t->taken + j->place * r->add_width + s * adds * r->most;
        double rivals = 0, total = 0;
        for (size_t k = 0; k < lines->list[bin].count && !lines->by_item; k++)
            if (!scenario->off[lines->list[bin].items[k]])
                rivals += chances[lines->list[bin].items[k]];
        for (size_t i = 0; i < lines->data->items && lines->by_item; i++)
            if (!scenario->off[i])
                rivals += chances[i];
        for (size_t a = 0; a < adds; a++) {
            int32_t like = lines->list[scenario->adds[a]].items[0];
            bool near = lines->by_item || (size_t)lines->bin_of[like] == bin;
            taken[a * r->most + step] = near ? (float)chances[like] : 0;
            total += near ? chances[like] : 0;
        }
        for (size_t a = 0; a < adds && rivals + total > 0; a++)
            taken[a * r->most + step] /= (float)(rivals + total);
    }
}

static int32_t draw_item(const run *r, team *t, const job *j, size_t step, pr_real *scores)
{
    int32_t *items = t->items + j->place * r->most;
    size_t V = r->how->data->items;
    pr_next_chances(scores, V, items, step);
    pr_bits bits = pr_rng_at(&r->item_rng, j->user, j->draw, (uint32_t)step, 0);
    int32_t item = pr_chances_draw(scores, V, pr_unit53(bits.word[0], bits.word[1]));
    if (item < 0) { /* the catalogue is used up: nothing comes after it either */
        t->sizes[j->place] = step;
        memset(t->rest + j->place * r->how->lines->count, 0,
               r->how->lines->count * sizeof *t->rest);
        memset(t->part + j->place * r->part_width, 0, r->part_width * sizeof *t->part);
        return -1;
    }
    take_new(r, t, j, step, item, scores);
    items[step] = item;
    return item;
}

static void look_further(const run *r, team *t, const job *j, pr_real *scores)
{
    const pr_scenarios *scenarios = r->how->scenarios;
    size_t size = t->sizes[j->place];
    pr_next_chances(scores, r->how->data->items, t->items + j->place * r->most, size);
    pr_chances_lines(t->rest + j->place * r->how->lines->count, r->how->lines, scores);
    for (size_t s = 0; s < scenarios->count; s++)
        pr_chances_parts(t->part + j->place * r->part_width + s * scenarios->parts,
                         &scenarios->list[s], scores);
}

static void draw_rows(const run *r, team *t, desk *own, const job *jobs, size_t rows)
{
    pr_start starts[ROWS];
    int32_t items[ROWS];
    size_t V = r->how->data->items;
    for (size_t i = 0; i < rows; i++) {
        size_t test = (size_t)pr_split_session(r->how->data, jobs[i].user, PR_TEST, r->last);
        starts[i] =
            (pr_start){.user = pr_known_user(r->how->data, jobs[i].user),
                       .history = pr_history_before(r->how->data, jobs[i].user, test),
                       .features = pr_features_of_session(r->how->data, jobs[i].user, test)};
    }
    pr_scorer_start(own->session, starts, rows);
    for (size_t step = 0; step <= jobs[0].size; step++) {
        pr_scorer_score_all(own->session, own->scores);
        for (size_t i = 0; i < rows; i++) {
            pr_real *scores = own->scores + i * V;
            items[i] = -1;
            if (step < t->sizes[jobs[i].place])
                items[i] = draw_item(r, t, &jobs[i], step, scores);
            else if (step == t->sizes[jobs[i].place])
                look_further(r, t, &jobs[i], scores);
        }
        if (step < jobs[0].size)
            pr_scorer_place(own->session, items);
    }
}

static void draw_team(void *context, size_t task, unsigned worker)
{
    run *r = context;
    team *t = &r->teams[task];
    size_t count = t->users * r->how->draws;
    plan_team(r, t);
    for (size_t first = 0; first < count; first += ROWS)
        draw_rows(r, t, &r->desks[worker], t->jobs + first,
                  count - first < ROWS ? count - first : ROWS);
}

static void hand_over(const run *r, const team *t,
                      void (*sink)(void *context, const pr_drawn *basket), void *context)
{
    for (size_t place = 0; place < t->users * r->how->draws; place++) {
        pr_drawn basket = {
            .user = (size_t)r->how->cohort->users[t->first_user + place / r->how->draws],
            .size = t->sizes[place],
            .most = r->most,
            .items = t->items + place * r->most,
            .rest = t->rest + place * r->how->lines->count,
            .part = t->part + place * r->part_width,
            .taken = t->taken + place * r->add_width,
        };
        sink(context, &basket);
    }
}

/* ---- memory ---- */

static parsrec_status reserve(run *r, unsigned threads, parsrec_error *err)
{
    size_t places = r->team_users * r->how->draws;
    r->desks = pr_alloc_zero(threads, sizeof *r->desks);
    if (r->desks == NULL)
        return pr_fail_memory(err);
    for (unsigned i = 0; i < threads; i++) {
        PR_TRY(pr_scorer_new(&r->desks[i].session, r->how->model, ROWS, r->most, err));
        r->desks[i].scores = pr_alloc_aligned(ROWS * r->how->data->items, sizeof(pr_real));
        if (r->desks[i].scores == NULL)
            return pr_fail_memory(err);
    }
    for (size_t i = 0; i < TEAMS_A_ROUND; i++) {
        team *t = &r->teams[i];
        t->jobs = pr_alloc(places, sizeof *t->jobs);
        t->sizes = pr_alloc(places, sizeof *t->sizes);
        t->items = pr_alloc(places, r->most * sizeof *t->items);
        t->rest = pr_alloc(places, r->how->lines->count * sizeof *t->rest);
        t->part = pr_alloc(places, r->part_width * sizeof *t->part);
        t->taken = pr_alloc_zero(places, r->add_width * sizeof *t->taken);
        if (t->jobs == NULL || t->sizes == NULL || t->items == NULL || t->rest == NULL ||
            t->part == NULL || t->taken == NULL)
            return pr_fail_memory(err);
    }
    return PARSREC_OK;
}

static void release(run *r, unsigned threads)
{
    for (unsigned i = 0; r->desks != NULL && i < threads; i++) {
        pr_scorer_free(r->desks[i].session);
        pr_free_aligned(r->desks[i].scores);
    }
    pr_free(r->desks);
    for (size_t i = 0; i < TEAMS_A_ROUND; i++) {
        pr_free(r->teams[i].jobs);
        pr_free(r->teams[i].sizes);
        pr_free(r->teams[i].items);
        pr_free(r->teams[i].rest);
        pr_free(r->teams[i].part);
        pr_free(r->teams[i].taken);
    }
}

static parsrec_status run_rounds(run *r, pr_pool *pool,
                                 void (*sink)(void *context, const pr_drawn *basket), void *context,
                                 const parsrec_hooks *hooks, parsrec_error *err)
{
    size_t users = r->how->cohort->user_count;
    for (size_t first = 0; first < users;) {
        size_t teams = 0;
        PR_TRY(pr_progress(hooks, "drawing baskets", "users", first, users, err));
        for (; teams < TEAMS_A_ROUND && first < users; teams++) {
            team *t = &r->teams[teams];
            t->first_user = first;
            t->users = users - first < r->team_users ? users - first : r->team_users;
            first += t->users;
        }
        pr_pool_run(pool, draw_team, r, teams);
        for (size_t i = 0; i < teams; i++)
            hand_over(r, &r->teams[i], sink, context);
    }
    return PARSREC_OK;
}

parsrec_status pr_rollout_run(const pr_rollout *how, pr_pool *pool,
                              void (*sink)(void *context, const pr_drawn *basket), void *context,
                              const parsrec_hooks *hooks, parsrec_error *err)
{
    run *r = pr_alloc_zero(1, sizeof *r);
    if (r == NULL)
        return pr_fail_memory(err);
    r->how = how;
    r->last = (size_t)how->model->config.last;
    r->size_rng = pr_rng_make(how->seed, PURPOSE_SIZE);
    r->item_rng = pr_rng_make(how->seed, PURPOSE_ITEM);
    r->team_users = how->draws < TEAM_BASKETS ? TEAM_BASKETS / how->draws : 1;
    r->most = largest_past(how, r->last);
    r->part_width = how->scenarios->count * how->scenarios->parts;
    r->add_width = how->scenarios->count * how->scenarios->adds * r->most;
    parsrec_status status = reserve(r, pr_pool_threads(pool), err);
    if (status == PARSREC_OK)
        status = run_rounds(r, pool, sink, context, hooks, err);
    release(r, pr_pool_threads(pool));
    pr_free(r);
    return status;
}
