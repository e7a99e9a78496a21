/* Rounds, one a seed, so that a long comparison has a complete table early. */
#include "compare/rounds.h"

#include <stdio.h>
#include <string.h>

#include "base/files.h"
#include "base/hooks.h"
#include "base/memory.h"
#include "base/threads.h"
#include "compare/named_hooks.h"

/* ---- the plan ---- */

/* The name of one may be that of another's second seed. */
static parsrec_status check_paths(const parsrec_comparison *c, const pr_contender *r,
                                  parsrec_error *err)
{
    for (const pr_contender *other = c->rows; other < r; other++)
        for (size_t i = 0; i < r->attempt_count; i++)
            for (size_t j = 0; j < other->attempt_count; j++)
                if (r->entry->path == NULL && r->attempts[i].path[0] != '\0' &&
                    strcmp(r->attempts[i].path, other->attempts[j].path) == 0)
                    return pr_fail(err, PARSREC_E_ARGUMENT,
                                   "%s and %s would be the same file, %s; give one another name",
                                   other->entry->name, r->entry->name, r->attempts[i].path);
    return PARSREC_OK;
}

static parsrec_status plan_all(parsrec_comparison *c, const parsrec_data *data,
                               const pr_recipe *recipe, const parsrec_hooks *hooks,
                               parsrec_error *err)
{
    c->rows = pr_alloc_zero(c->list.count, sizeof *c->rows);
    if (c->rows == NULL)
        return pr_fail_memory(err);
    c->count = c->list.count;
    for (size_t row = 0; row < c->count; row++) {
        pr_contender *r = &c->rows[row];
        r->entry = &c->list.entries[row];
        PR_TRY(pr_contender_plan(r, c, data, recipe, hooks, err));
        PR_TRY(check_paths(c, r, err));
    }
    return pr_folder_make(c->folder, err); /* not before all else is known to be right */
}

/* ---- trainings side by side ---- */

typedef struct seed_round {
    parsrec_comparison *c;
    const parsrec_data *data;
    pr_recipe recipe; /* with the threads of one training */
    size_t number;
    size_t *rows; /* that have something to learn in this round */
    char (*names)[PR_ENTRY_NAME + 32];
    size_t count;
} seed_round;

static parsrec_status train_one(void *context, size_t task, const parsrec_hooks *hooks,
                                parsrec_error *err)
{
    const seed_round *all = context;
    const pr_contender *r = &all->c->rows[all->rows[task]];
    const pr_attempt *a = &r->attempts[all->number];
    pr_say(hooks, PARSREC_LOG_INFO, "%s (model %zu of %zu)",
           a->task == PR_CONTENDER_RESUME ? "training goes on" : "training", all->rows[task] + 1,
           all->c->count);
    return pr_contender_train(r, a, all->data, &all->recipe, hooks, err);
}

static const char *name_of(void *context, size_t task)
{
    return ((const seed_round *)context)->names[task];
}

/* Who has something to learn, and how it is called. */
static parsrec_status gather(seed_round *all, parsrec_error *err)
{
    const parsrec_comparison *c = all->c;
    all->rows = pr_alloc(c->count, sizeof *all->rows);
    all->names = pr_alloc(c->count, sizeof *all->names);
    if (all->rows == NULL || all->names == NULL)
        return pr_fail_memory(err);
    for (size_t row = 0; row < c->count; row++) {
        const pr_contender *r = &c->rows[row];
        if (all->number >= r->attempt_count || r->attempts[all->number].task == PR_CONTENDER_READY)
            continue;
        char *name = all->names[all->count];
        snprintf(name, sizeof *all->names, "%s", r->entry->name);
        if (all->recipe.seeds > 1)
            snprintf(name, sizeof *all->names, "%s, seed %llu", r->entry->name,
                     (unsigned long long)r->attempts[all->number].seed);
        all->rows[all->count++] = row;
    }
    return PARSREC_OK;
}

static parsrec_status train_round(parsrec_comparison *c, size_t number, const parsrec_data *data,
                                  const pr_recipe *recipe, unsigned jobs,
                                  const parsrec_hooks *hooks, parsrec_error *err)
{
    char stage[96];
    seed_round all = {.c = c, .data = data, .recipe = *recipe, .number = number};
    parsrec_status status = gather(&all, err);
    snprintf(stage, sizeof stage, "training %zu models", all.count);
    if (recipe->seeds > 1)
        snprintf(stage, sizeof stage, "seed %zu of %llu, training %zu models", number + 1,
                 (unsigned long long)recipe->seeds, all.count);
    pr_queue queue = {.context = &all,
                      .run = train_one,
                      .name = name_of,
                      .jobs = all.count,
                      .workers = jobs,
                      .stage = stage,
                      .counted = "training"};
    if (status == PARSREC_OK)
        status = pr_queue_run(&queue, hooks, err);
    pr_free(all.rows);
    pr_free(all.names);
    return status;
}

/* ---- evaluation ---- */

static parsrec_status evaluate_row(parsrec_comparison *c, size_t row, const parsrec_data *data,
                                   const pr_recipe *recipe, const parsrec_hooks *hooks,
                                   parsrec_error *err)
{
    pr_named_hooks named;
    pr_named_hooks_init(&named, hooks, c->rows[row].entry->name, row + 1, c->count);
    if (c->first == PR_NONE)
        c->first = row;
    return pr_contender_evaluate(c, &c->rows[row], data, recipe, &named.hooks, err);
}

/* `ready`: those that need no training, or else the others. */
static parsrec_status evaluate_round(parsrec_comparison *c, size_t number, bool ready,
                                     const parsrec_data *data, const pr_recipe *recipe,
                                     const parsrec_hooks *hooks, parsrec_error *err)
{
    for (size_t row = 0; row < c->count; row++) {
        const pr_contender *r = &c->rows[row];
        if (number < r->attempt_count && (r->attempts[number].task == PR_CONTENDER_READY) == ready)
            PR_TRY(evaluate_row(c, row, data, recipe, hooks, err));
    }
    return PARSREC_OK;
}

static parsrec_status report(parsrec_comparison *c, parsrec_error *err)
{
    pr_pool *pool;
    PR_TRY(pr_pool_new(&pool, c->eval.threads, err));
    parsrec_status status = pr_comparison_judge(c, pool, err);
    pr_pool_free(pool);
    return status == PARSREC_OK ? pr_comparison_save(c, err) : status;
}

parsrec_status pr_comparison_rounds(parsrec_comparison *c, const parsrec_data *data,
                                    const pr_recipe *recipe, unsigned jobs,
                                    const parsrec_hooks *hooks, parsrec_error *err)
{
    unsigned threads = recipe->threads > 0 ? recipe->threads : pr_cores();
    double largest = 0;
    pr_recipe each = *recipe;
    c->first = PR_NONE;
    PR_TRY(plan_all(c, data, recipe, hooks, err));
    for (size_t row = 0; row < c->count; row++)
        largest = c->rows[row].bytes > largest ? c->rows[row].bytes : largest;
    jobs = pr_queue_workers(jobs, threads, largest);
    each.threads = threads / jobs > 1 ? threads / jobs : 1;
    for (size_t number = 0; number < recipe->seeds; number++) {
        PR_TRY(evaluate_round(c, number, true, data, recipe, hooks, err));
        PR_TRY(train_round(c, number, data, &each, jobs, hooks, err));
        PR_TRY(evaluate_round(c, number, false, data, recipe, hooks, err));
        c->seeds = number + 1;
        PR_TRY(report(c, err));
    }
    return PARSREC_OK;
}
