/* An answer as the files of this room share it. */
#ifndef PR_ANSWER_H
#define PR_ANSWER_H

#include "base/writer.h"
#include "eval/user_groups.h"
#include "whatif/rechoice.h"
#include "whatif/true_sales.h"

/* An estimate of one line, for a scenario, question, estimator and group. low and high bound `after`,
 * change_low and change_high bound `change`, which is what tables and charts state: users who buy much
 * make both before and after larger, so that `after` alone is less certain than the change. */
typedef struct pr_estimate {
    double before, after, low, high;
    double change, change_low, change_high;
} pr_estimate;

/* Everything on the shelf together, per basket, by the estimator that the tables show. */
typedef struct pr_total {
    pr_estimate units, money; /* money: NaN where there are no prices */
} pr_total;

/* Empty slots and what fills them, a basket. */
typedef struct pr_slots {
    double slots;               /* that are empty, at the level of the past */
    double lean, growth;        /* sums over the bins that stay, of both ways to fill them ... */
    double scale;               /* ... and what makes their mixture fill just the slots */
    double size, size_variance; /* items of past baskets: mean and variance */
} pr_slots;

/* How an estimator does against the truth, over the bins that stay. */
typedef struct pr_agreement {
    double rank;     /* Spearman's correlation of estimated and true changes */
    double points;   /* mean absolute error of the change, percentage points */
    double error;    /* mean absolute error of `after`, as a share: MAPE */
    double floor;    /* the noise floor beside it */
    double test;     /* MAPE against the one test set; selection alone */
    double coverage; /* share of intervals that hold the expected sales */
} pr_agreement;

/* One pair of the ranking: what happens to `bin` without `hub`. */
typedef struct pr_hanging {
    uint32_t group, hub, bin;
    double change[PR_QUESTIONS];
    double beyond; /* selection, beyond what baskets without the hub do as a whole */
    double weight; /* that against what chance does to sales of this size: what is ranked by */
} pr_hanging;

enum {
    PR_HANGING_MOST = 12, /* pairs told of a group */
    /* Units that the past must have been expected to see of a pair to weigh as much as the model, to say
     * how often they go together, and what comes next, which takes more. */
    PR_PRIOR_UNITS = 20,
    PR_PRIOR_GROWTH = 50,
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
    bool synthetic; /* the truth is known; the past ends before the test sessions then */
    size_t model_count, draws, resamples;
    uint64_t seed;

    pr_book past, test;
    pr_ledger
        *grown;      /* [scenarios]: of past baskets where something is missing, units times size */
    double *sizes;   /* [groups, 2]: mean and variance of the items of past baskets */
    size_t items;    /* of the data, which reports outlive */
    double *sold;    /* [groups, items]: past baskets with the item */
    double *price;   /* [items], NaN where unknown; NULL: the data have no prices */
    pr_slots *fills; /* [models, scenarios, groups] */
    bool *single;    /* [lines]: past baskets had them once at most, or nearly so */
    pr_book *books;  /* [models, PR_ESTIMATORS - 1] */
    pr_spill spill;  /* over all models */
    pr_basket_facts *facts; /* [groups, scenarios] */
    pr_true_sales truth;

    pr_estimate *estimates;  /* see pr_estimate_of */
    pr_total *totals;        /* [scenarios, PR_QUESTIONS, groups] */
    bool *watched;           /* [scenarios, lines] */
    pr_agreement *agreement; /* see pr_agreement_of; NULL without truth */
    pr_hanging *hanging;     /* [hanging_count], by group and question, strongest first */
    size_t hanging_count;
    char *command, *data_name; /* may be NULL */
    char checksum[17];
    double seconds;
};

typedef parsrec_whatif_answer pr_whatif_result;

static inline pr_estimate *pr_estimate_of(const pr_whatif_result *a, size_t scenario,
                                          size_t question, size_t estimator, size_t group,
                                          size_t line)
{
    size_t at = (scenario * PR_QUESTIONS + question) * PR_ESTIMATORS + estimator;
    return &a->estimates[(at * a->cohort.group_count + group) * a->lines.count + line];
}

static inline pr_total *pr_total_of(const pr_whatif_result *a, size_t scenario, size_t question,
                                    size_t group)
{
    return &a->totals[(scenario * PR_QUESTIONS + question) * a->cohort.group_count + group];
}

static inline pr_agreement *pr_agreement_of(const pr_whatif_result *a, size_t scenario,
                                            size_t question, size_t estimator, size_t group)
{
    size_t at = (scenario * PR_QUESTIONS + question) * PR_ESTIMATORS + estimator;
    return &a->agreement[at * a->cohort.group_count + group];
}

static inline pr_slots *pr_slots_of(const pr_whatif_result *a, size_t model, size_t scenario,
                                    size_t group)
{
    return &a->fills[(model * a->scenarios.count + scenario) * a->cohort.group_count + group];
}

static inline pr_book *pr_book_of(const pr_whatif_result *a, size_t model, size_t estimator)
{
    return &a->books[model * (PR_ESTIMATORS - 1) + estimator];
}

/* Whether a line is sold less or not at all by decree: no effect, but the cause. */
static inline bool pr_line_dropped(const pr_whatif_result *a, size_t scenario, size_t line)
{
    return a->scenarios.list[scenario].state[line] != PR_SHELF_ALL;
}

/* ---- estimate.c ---- */

/* Units a basket of one line, before and after, by a ledger each; shares are of baskets. */
typedef struct pr_rates {
    double past, past_kept, past_share; /* all; in baskets where nothing is missing; their share */
    double past_baskets;
    double before, kept, share; /* the same of the estimator */
    double after, refill;       /* after: under the question */
    double like;                /* of a new item: past / model of the bin it joins; else 0 */
    double grown;         /* past: units where something is missing, times items of the basket */
    const pr_slots *fill; /* of re-choice, the whole group's */
    bool whole;           /* the line stays on the shelf */
    bool gone;            /* nothing of it stays */
    bool single;          /* a basket has it once at most */
} pr_rates;

/* Sales before and after from rates, calibrated unless `raw`                  (docs/whatif.md) */
void pr_rates_estimate(double *before, double *after, const pr_rates *r, const pr_whatif_result *a,
                       size_t question, size_t estimator);

/* Empty slots and what fills them, from the rates of all bins; their `fill` becomes f. f->size and
 * f->size_variance are given. */
void pr_slots_sum(pr_slots *f, pr_rates *rates, size_t bins);

/* Whether an estimator has an answer: new items are known to drawn baskets alone, and re-choice is not
 * for counting. */
bool pr_estimator_tells(const pr_whatif_result *a, size_t question, size_t estimator, size_t line);

/* The estimates without intervals, from the books. */
parsrec_status pr_whatif_estimate(pr_whatif_result *a, parsrec_error *err);

/* ---- intervals.c ---- */

/* Of the lines that are watched, or of all where they are few; and the totals with theirs. */
parsrec_status pr_whatif_intervals(pr_whatif_result *a, pr_pool *pool, const parsrec_hooks *hooks,
                                   parsrec_error *err);

/* ---- money.c ---- */

/* Prices from the items' feature `price` or from synthetic data; none is no failure. */
parsrec_status pr_whatif_prices(pr_whatif_result *a, const pr_truth *truth, parsrec_error *err);
/* The mean price that past baskets paid for a line; `scenario` SIZE_MAX: of all its items, else of those
 * that stay. NaN without prices. */
double pr_line_price(const pr_whatif_result *a, size_t scenario, size_t group, size_t line);
/* The share of past sales whose price is known. */
double pr_priced_share(const pr_whatif_result *a, size_t group);
/* What leaves, before: units, and money or NaN. False where nothing leaves. */
bool pr_leaving(const pr_whatif_result *a, size_t scenario, size_t group, double *units,
                double *money);
/* The money of an estimate of units, by the mean prices before and after. */
pr_estimate pr_money_of(const pr_estimate *units, double price_before, double price_after);

/* ---- watch.c ---- */

/* Marks the lines in `named`[count], or those that change most. */
parsrec_status pr_whatif_watch(pr_whatif_result *a, const size_t *named, size_t count,
                               parsrec_error *err);
/* The strongest pairs of the ranking. */
parsrec_status pr_whatif_hanging(pr_whatif_result *a, parsrec_error *err);
/* How well the estimators do, where the truth is known. */
parsrec_status pr_whatif_judge(pr_whatif_result *a, parsrec_error *err);

/* ---- reports ---- */

parsrec_status pr_whatif_table(pr_writer *out, const pr_whatif_result *a, parsrec_error *err);
void pr_whatif_csv(pr_writer *out, const pr_whatif_result *a);
parsrec_status pr_whatif_json(pr_writer *out, const pr_whatif_result *a, bool rows_only,
                              parsrec_error *err);
parsrec_status pr_whatif_html(pr_writer *out, const pr_whatif_result *a, parsrec_error *err);
/* The chart of a scenario and question, one picture a group: into a page, or to a file. */
parsrec_status pr_whatif_chart(pr_writer *page, const char *path, const pr_whatif_result *a,
                               size_t scenario, size_t question, size_t group, parsrec_error *err);
/* The sentence on what a question means, and how the page asks it. */
const char *pr_question_sentence(const pr_whatif_result *a, size_t question);
const char *pr_question_asked(size_t question);
/* Questions in the order of reports: the effect first, then what selection compares. */
extern const size_t pr_question_order[PR_QUESTIONS];
/* What `before` is a mean over, and what prices are known; SIZE_MAX: of every group. */
void pr_write_before(pr_writer *out, const pr_whatif_result *a, size_t group);
/* The largest change among the rows shown whose interval leaves zero out, and what becomes of the whole
 * basket and its money. */
void pr_write_finding(pr_writer *out, const pr_whatif_result *a, size_t scenario, size_t question,
                      size_t group);
/* A share as "+12.3 %", "0.0 %" or, where it is not known, "-". */
enum { PR_PERCENT_BYTES = 32 };
const char *pr_percent_text(char *text, double share);
/* "[+1.2, +3.4]", or "-" where there is no interval. */
const char *pr_range_text(char *text, const pr_estimate *e);
/* The lines to show of a scenario, in order of the change that the first group's units make; returns how
 * many. `list` has room for all lines. */
size_t pr_shown_lines(size_t *list, const pr_whatif_result *a, size_t scenario);
/* "12,345" */
void pr_write_grouped(pr_writer *out, uint64_t value);
const char *pr_total_name(const pr_whatif_result *a); /* "all categories" */

#endif
