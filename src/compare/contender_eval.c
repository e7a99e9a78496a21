/* One model judged: its report, what each user adds to it, and how it learnt. */
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "compare/contender.h"

/* Collects what each user adds, and checks that every model is judged on the same users. */
typedef struct collector {
    parsrec_comparison *c;
    pr_attempt *attempt;
    size_t count, capacity;
    bool first, failed, other_users;
} collector;

static void on_user(void *context, uint64_t user, const parsrec_share *shares, size_t measures)
{
    collector *to = context;
    parsrec_comparison *c = to->c;
    parsrec_share **rows = &to->attempt->tallies;
    if (to->failed)
        return;
    to->other_users = !to->first && (to->count >= c->user_count || c->users[to->count] != user);
    if (to->other_users ||
        pr_grow(rows, &to->capacity, (to->count + 1) * measures, sizeof **rows, NULL) !=
            PARSREC_OK ||
        (to->first && pr_grow(&c->users, &c->user_capacity, to->count + 1, sizeof *c->users,
                              NULL) != PARSREC_OK)) {
        to->failed = true;
        return;
    }
    for (size_t m = 0; m < measures; m++)
        (*rows)[to->count * measures + m] = (parsrec_share){shares[m].sum, shares[m].weight};
    if (to->first)
        c->users[c->user_count++] = user;
    to->count++;
}

static parsrec_status evaluate_model(parsrec_comparison *c, pr_contender *r, pr_attempt *a,
                                     const parsrec_model *model, const parsrec_data *data,
                                     const parsrec_hooks *hooks, parsrec_error *err)
{
    collector to = {.c = c, .attempt = a, .first = c->user_count == 0};
    parsrec_eval_options options[PARSREC_PROTOCOLS] = {c->eval};
    parsrec_eval_report reports[PARSREC_PROTOCOLS];
    options[0].on_user = on_user;
    options[0].user_context = &to;
    for (size_t i = 0; i < c->other_count; i++)
        options[1 + i] = c->others[i];
    parsrec_model_facts facts;
    parsrec_model_describe(model, &facts);
    snprintf(r->kind, sizeof r->kind, "%s", facts.kind);
    r->parameters = facts.parameters;
    r->ceiling = strcmp(facts.kind, "oracle") == 0;
    PR_TRY(parsrec_eval_several(model, data, options, 1 + c->other_count, reports, hooks, err));
    a->report = reports[0];
    memcpy(a->others, reports + 1, c->other_count * sizeof *a->others);
    if (to.failed && !to.other_users) {
        if (to.first)
            c->user_count = 0; /* not all of them are known */
        return pr_fail_memory(err);
    }
    if (to.other_users || to.count != c->user_count)
        return pr_fail(err, PARSREC_E_INPUT,
                       "%s is evaluated on other users than %s; models that are compared need the "
                       "same setting last and the same users and items",
                       r->entry->name, c->rows[c->first].entry->name);
    return PARSREC_OK;
}

parsrec_status pr_contender_evaluate(parsrec_comparison *c, pr_contender *r,
                                     const parsrec_data *data, const pr_recipe *recipe,
                                     const parsrec_hooks *hooks, parsrec_error *err)
{
    parsrec_model *model;
    parsrec_error why = {0};
    pr_attempt *a = &r->attempts[r->judged];
    parsrec_status status = pr_contender_open(&model, r, a, data, recipe, hooks, &why);
    if (status == PARSREC_OK) {
        status = evaluate_model(c, r, a, model, data, hooks, &why);
        parsrec_model_free(model);
    }
    if (status != PARSREC_OK)
        return pr_fail(err, status, "%s: %s", r->entry->name, why.message);
    if (a->path[0] != '\0')
        PR_TRY(pr_run_record_read(&a->record, a->path, NULL, err));
    r->judged++;
    return PARSREC_OK;
}
