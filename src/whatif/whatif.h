/* parsrec whatif: what becomes of sales when the assortment changes.
 *
 * The answer is a sheet of numbers, pr_estimate, addressed by five indices (pr_estimate_of):
 *
 *   scenario   a change of the assortment: what leaves the shelf, what is added (shelf.h)
 *   question   selection compares past baskets without what leaves with all baskets: what counting
 *              shows, and not an effect. Re-choice is the effect: what the same shoppers buy when
 *              it is gone
 *   estimator  how the number is found. rollout draws whole baskets from the model, removes what
 *              leaves and refills (rollout.h); expected and top10 walk along test baskets and sum
 *              the model's probabilities or its ten best items (test_walk.c); counted counts past
 *              baskets and needs no model, but answers selection only
 *   group      of users
 *   line       what a row of a table is about. The first lines, the bins, partition the catalogue:
 *              every item is in exactly one bin, its category. Lines after the bins were named by
 *              the caller (an item, a category that is no bin) or are new items; they overlap with
 *              bins (shelf.h)
 *
 * From data to sheet, in the order of whatif.c: words of the options become lines, scenarios,
 * groups and the cohort; past baskets are counted (past_sales.c); every model is asked once for all
 * scenarios (rollout.c, test_walk.c), and fills one pr_sales_set per estimator; estimates.c turns
 * sums into sales per basket, calibrated to the past, and draws users (and models) again for
 * intervals; whatif_rows.c chooses the lines to show. On synthetic data the truth is simulated
 * (true_sales.c) and every estimator compared with it.
 *
 * Why sums and not baskets are kept: intervals need the same estimate from a thousand resamples of
 * users. Sums by user cell (sales.h) make a resample a weighted sum; nothing is drawn again.
 *
 * Invariants. Units are per basket. `past` and the estimator's own `before` are different levels:
 * calibration moves an estimate to the level of the past, and `raw` leaves it. Sums of one table
 * have the same cells and lines as all others. NaN is "not answered".
 *
 * Memory and threads. One thread calls pr_whatif, which makes a pool for its passes. Sums over
 * baskets are added on the calling thread in a fixed order, and a resample or a test set is one
 * task, so results do not depend on the number of threads. The answer owns its memory, outlives the
 * data set and, once made, is only read. lines.data and the directory still point into the data
 * set, so reports must not use them; what reports need of it, such as the number of items, is
 * copied. */
#ifndef PR_WHATIF_H
#define PR_WHATIF_H

#include <assert.h>
#include <math.h>

#include "base/writer.h"
#include "eval/user_groups.h"
#include "model/model.h"
#include "synth/truth.h"
#include "whatif/cross_effects.h"

/* One number of the sheet. low and high bound `after`, change_low and change_high bound `change`,
 * which is what tables and charts state: users who buy much make both before and after larger, so
 * that `after` alone is less certain than the change. */
typedef struct pr_estimate {
    double before, after, low, high;
    double change, change_low, change_high;
} pr_estimate;

/* Not answered. */
static inline pr_estimate pr_estimate_unknown(void)
{
    return (pr_estimate){NAN, NAN, NAN, NAN, NAN, NAN, NAN};
}

/* Everything on the shelf together, per basket, by the estimator that the tables show. */
typedef struct pr_total {
    pr_estimate units, money; /* money: NaN where there are no prices */
} pr_total;

/* Empty slots per basket and what fills them (estimates.c, sum_slots). There are two estimates of
 * what a bin refills, by the model and by the past, and a mixture of both. */
typedef struct pr_slots {
    double slots;               /* that are empty, at the level of the past */
    double calibrated, slopes;  /* sums over the bins that stay: by the model, by the past */
    double scale;               /* of the mixture, so that all bins together fill just the slots */
    double size, size_variance; /* items of past baskets: mean and variance */
} pr_slots;

/* How an estimator does against the truth, over the bins that stay. */
typedef struct pr_agreement {
    double rank;     /* Spearman's correlation of estimated and true changes */
    double points;   /* mean absolute error of the change, percentage points */
    double error;    /* mean absolute error of `after`, as a share: MAPE */
    double floor;    /* the noise floor beside it */
    double test;     /* MAPE against the one test set; selection only */
    double coverage; /* share of intervals that contain the expected sales */
} pr_agreement;

/* What happens to `bin` when `drop` (an index of pr_cross_sums.drop) is dropped. */
typedef struct pr_cross_effect {
    uint32_t group, drop, bin;
    double change[PR_QUESTIONS];
    double beyond; /* selection, beyond what baskets without the dropped bin do as a whole */
    double weight; /* that against chance for sales of this size: effects are ranked by it */
} pr_cross_effect;

enum {
    PR_CROSS_EFFECTS_MOST = 12, /* reported per group */
    /* The weight of the model against the past, in units. Past and model count alike where, if two
     * things were independent, past baskets with the one would hold this many units of the
     * other. */
    PR_PRIOR_UNITS = 20, /* for how often they are bought together */
    PR_PRIOR_SLOPE = 50, /* for what is bought instead, where the past says less */
};

struct parsrec_whatif_answer {
    pr_directory directory;
    pr_lines lines;
    pr_scenarios scenarios;
    pr_user_groups groups;
    pr_cohort cohort;
    bool asked[PR_QUESTIONS];
    parsrec_estimator estimator; /* that the tables show */
    parsrec_missing missing;
    double interval;
    bool raw;
    bool synthetic; /* the truth is known; the past then ends before the test sessions */
    size_t model_count, draws, resamples;
    uint64_t seed;

    pr_sales_set past, test; /* counted (past_sales.c) */
    pr_sales *by_size; /* [scenarios]: past baskets where something is missing, units times size */
    double *sizes;     /* [groups, 2]: mean and variance of the items of past baskets */
    size_t items;      /* of the data, which reports outlive */
    double *sold;      /* [groups, items]: past baskets with the item */
    double *price;     /* [items], NaN where unknown; NULL: the data have no prices */
    pr_slots *fills;   /* see pr_slots_of */
    bool *single;      /* [lines]: past baskets had them at most once, or nearly so */
    pr_sales_set *sales;    /* see pr_sales_of */
    pr_cross_sums cross;    /* over all models */
    pr_basket_facts *facts; /* [groups, scenarios] */
    pr_true_sales truth;

    pr_estimate *estimates;         /* see pr_estimate_of */
    pr_total *totals;               /* [scenarios, PR_QUESTIONS, groups] */
    bool *watched;                  /* [scenarios, lines] */
    pr_agreement *agreement;        /* see pr_agreement_of; NULL without truth */
    pr_cross_effect *cross_effects; /* [cross_effect_count], by group, strongest first */
    size_t cross_effect_count;
    char *command, *data_name; /* may be NULL */
    char checksum[17];
    double seconds;
    pr_region region; /* holds all arrays and texts but those of directory and groups */
};

typedef parsrec_whatif_answer pr_whatif_result;

/* `answer` is zeroed, and to be cleared also on failure. The models must all be of these data. */
parsrec_status pr_whatif(pr_whatif_result *answer, const pr_model *const *models,
                         size_t model_count, const pr_dataset *data,
                         const parsrec_whatif_options *options, const parsrec_hooks *hooks,
                         parsrec_error *err);
void pr_whatif_clear(pr_whatif_result *answer);

static inline pr_estimate *pr_estimate_of(const pr_whatif_result *a, size_t scenario,
                                          size_t question, size_t estimator, size_t group,
                                          size_t line)
{
    assert(scenario < a->scenarios.count && question < PR_QUESTIONS && estimator < PR_ESTIMATORS);
    assert(group < a->cohort.group_count && line < a->lines.count);
    size_t at = (scenario * PR_QUESTIONS + question) * PR_ESTIMATORS + estimator;
    return &a->estimates[(at * a->cohort.group_count + group) * a->lines.count + line];
}

static inline pr_total *pr_total_of(const pr_whatif_result *a, size_t scenario, size_t question,
                                    size_t group)
{
    assert(scenario < a->scenarios.count && question < PR_QUESTIONS);
    assert(group < a->cohort.group_count);
    return &a->totals[(scenario * PR_QUESTIONS + question) * a->cohort.group_count + group];
}

static inline pr_agreement *pr_agreement_of(const pr_whatif_result *a, size_t scenario,
                                            size_t question, size_t estimator, size_t group)
{
    assert(a->agreement != NULL && scenario < a->scenarios.count && question < PR_QUESTIONS);
    assert(estimator < PR_ESTIMATORS && group < a->cohort.group_count);
    size_t at = (scenario * PR_QUESTIONS + question) * PR_ESTIMATORS + estimator;
    return &a->agreement[at * a->cohort.group_count + group];
}

static inline pr_slots *pr_slots_of(const pr_whatif_result *a, size_t model, size_t scenario,
                                    size_t group)
{
    assert(model < a->model_count && scenario < a->scenarios.count);
    assert(group < a->cohort.group_count);
    return &a->fills[(model * a->scenarios.count + scenario) * a->cohort.group_count + group];
}

/* Not for PARSREC_COUNTED, whose sales are a->past. */
static inline pr_sales_set *pr_sales_of(const pr_whatif_result *a, size_t model, size_t estimator)
{
    _Static_assert(PARSREC_COUNTED == PR_ESTIMATORS - 1, "estimators by a model come first");
    assert(model < a->model_count && estimator < PR_ESTIMATORS && estimator != PARSREC_COUNTED);
    return &a->sales[model * (PR_ESTIMATORS - 1) + estimator];
}

/* Whether the scenario itself removes the line, or a part of it: its sales are then no effect. */
static inline bool pr_line_dropped(const pr_whatif_result *a, size_t scenario, size_t line)
{
    return a->scenarios.list[scenario].state[line] != PR_SHELF_ALL;
}

/* ---- past_sales.c ---- */

/* Counts every session of the groups' users into a->past, and the test sessions into a->test: all
 * of them before, by selection those without what is missing after. On synthetic data the test
 * sessions are not part of the past, so that estimates can be compared with them. Counting cannot
 * answer re-choice; its tables stay zero. Also fills a->by_size, a->sizes, a->single and
 * a->sold. */
parsrec_status pr_past_sales(pr_whatif_result *a, const pr_dataset *data, size_t last,
                             parsrec_error *err);
/* Prices from the items' feature `price` or from synthetic data; data without prices are fine. */
parsrec_status pr_whatif_prices(pr_whatif_result *a, const pr_truth *truth, parsrec_error *err);
/* The mean price of a line's items as past baskets held them; `scenario` SIZE_MAX: of all its
 * items, else of those that stay. An item without a price counts as 0, and a line that was not sold
 * costs 0. NaN if the data have no prices. */
double pr_line_price(const pr_whatif_result *a, size_t scenario, size_t group, size_t line);
/* The share of past sales whose price is known. */
double pr_priced_share(const pr_whatif_result *a, size_t group);
/* What leaves, per basket before it does: units, and money, which is NaN without prices. False if
 * nothing leaves. */
bool pr_leaving(const pr_whatif_result *a, size_t scenario, size_t group, double *units,
                double *money);
/* The money of an estimate of units, by the mean prices before and after. */
pr_estimate pr_money_of(const pr_estimate *units, double price_before, double price_after);

/* ---- estimates.c ---- */

/* The estimates of all lines, without intervals, from the sales. */
parsrec_status pr_whatif_estimate(pr_whatif_result *a, parsrec_error *err);
/* Intervals of the lines that are watched, or of all where they are few; and the totals with
 * theirs. */
parsrec_status pr_whatif_intervals(pr_whatif_result *a, pr_pool *pool, const parsrec_hooks *hooks,
                                   parsrec_error *err);

/* ---- cross_effects.c, true_sales.c ---- */

/* The strongest cross effects. */
parsrec_status pr_whatif_cross_effects(pr_whatif_result *a, parsrec_error *err);
/* How well the estimators do, where the truth is known. */
parsrec_status pr_whatif_judge(pr_whatif_result *a, parsrec_error *err);

/* ---- whatif_rows.c ---- */

/* Marks new items and the lines in named[count], or, if count is 0, those that change most. */
parsrec_status pr_whatif_watch(pr_whatif_result *a, const size_t *named, size_t count,
                               parsrec_error *err);
/* The lines to show of a scenario, in order of the change in the first group's units; returns how
 * many. `list` has room for all lines. */
size_t pr_shown_lines(size_t *list, const pr_whatif_result *a, size_t scenario);
/* Questions in the order of reports: the effect first, then what selection compares. */
extern const size_t pr_question_order[PR_QUESTIONS];

/* ---- reports ---- */

const char *pr_total_name(const pr_whatif_result *a); /* "all categories" */
void pr_whatif_csv(pr_writer *out, const pr_whatif_result *a);
parsrec_status pr_whatif_json(pr_writer *out, const pr_whatif_result *a, bool rows_only,
                              parsrec_error *err);
/* PARSREC_TEXT_PLAIN, PARSREC_TEXT_TERMINAL or PARSREC_TEXT_HTML. */
parsrec_status pr_whatif_write(pr_writer *out, const pr_whatif_result *a, parsrec_text_kind kind,
                               parsrec_error *err);
/* The chart of a scenario and question for one group: into a page, or to a file. */
parsrec_status pr_whatif_chart(pr_writer *page, const char *path, const pr_whatif_result *a,
                               size_t scenario, size_t question, size_t group, parsrec_error *err);

#endif
