/* Learning curves for the public: epochs become columns, columns curves. */
#include "report/api_curves.h"

#include "base/memory.h"
#include "report/curves.h"

enum { MEASURES = 3 };

/* The columns of all epochs, so that each can be a curve. */
typedef struct columns {
    double *block, *number, *loss, *measure[MEASURES];
    pr_curve losses[1], measures[MEASURES];
    pr_panel panels[2];
} columns;

static const char *const measure_names[MEASURES] = {"HR@10", "NDCG@10", "Sess-Prec@10"};

static parsrec_status make_columns(columns *c, const parsrec_epoch *epochs, size_t count,
                                   parsrec_error *err)
{
    c->block = pr_alloc(count * (2 + MEASURES), sizeof *c->block);
    if (c->block == NULL)
        return pr_fail_memory(err);
    c->number = c->block;
    c->loss = c->block + count;
    c->losses[0] = (pr_curve){"training", c->number, c->loss, count};
    for (size_t m = 0; m < MEASURES; m++) {
        c->measure[m] = c->block + (2 + m) * count;
        c->measures[m] = (pr_curve){measure_names[m], c->number, c->measure[m], count};
    }
    for (size_t i = 0; i < count; i++) {
        c->number[i] = epochs[i].number;
        c->loss[i] = epochs[i].loss;
        c->measure[0][i] = epochs[i].hit_rate_10;
        c->measure[1][i] = epochs[i].ndcg_10;
        c->measure[2][i] = epochs[i].session_precision_10;
    }
    c->panels[0] = (pr_panel){"loss of a predicted item", c->losses, 1, NULL};
    c->panels[1] = (pr_panel){"validation", c->measures, MEASURES, NULL};
    return PARSREC_OK;
}

parsrec_status parsrec_curves_text(char **out, const parsrec_epoch *epochs, size_t count,
                                   size_t columns_wide, parsrec_error *err)
{
    if (out == NULL || (epochs == NULL && count > 0))
        return pr_fail(err, PARSREC_E_ARGUMENT, "parsrec_curves_text needs out and epochs");
    columns c;
    *out = NULL;
    PR_TRY(make_columns(&c, epochs, count, err));
    *out = pr_curves_text(&c.panels[1], columns_wide, 10);
    pr_free(c.block);
    return *out != NULL ? PARSREC_OK : pr_fail_memory(err);
}

parsrec_status pr_learning_curves(const parsrec_epoch *epochs, size_t count, const char *png,
                                  const char *svg, parsrec_error *err)
{
    columns c;
    PR_TRY(make_columns(&c, epochs, count, err));
    pr_curves chart = {"Learning curves", "epoch", c.panels, 2};
    parsrec_status status = pr_curves_draw(&chart, png, err);
    if (status == PARSREC_OK)
        status = pr_curves_draw(&chart, svg, err);
    pr_free(c.block);
    return status;
}
