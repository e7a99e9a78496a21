/* Studies of several models on the same data: compare, ablate and tune.
 *
 * A comparison is a table: rows are models (pr_contender), columns are measures. `parsrec compare` takes
 * the rows from a list of models (model_list.h), `parsrec ablate` from a table of changed settings
 * (ablate.c); from there on both are the same code. `parsrec tune` (tune.h) shares the folder of runs and
 * the report document, but compares on validation sessions only.
 *
 * Life cycle of a comparison:
 *   1. begin: options are checked and the columns are chosen, so that a misspelt measure costs nothing;
 *   2. plan: every row gets its attempts, one per seed, and each attempt its task: ready, resume or train.
 *      All that can be refused is refused here, before the first training begins;
 *   3. rounds, one per seed: models that are ready are evaluated, missing ones are trained side by side,
 *      then evaluated. After each round the attempts of a row are pooled, the rows are judged (judge.c),
 *      and the reports are written, so that a long comparison has a complete table early.
 *
 * The folder is the only state. A run that is stopped or killed is repeated by the same command: what is
 * finished is read, what was interrupted resumes from its checkpoint. A file of the wanted name is used only
 * if its run record (train/run_record.h) says that kind, settings, seed and data are the wanted ones;
 * otherwise it is an error, because it may have taken hours, or it is removed with --retrain.
 *
 * Invariants: all attempts are evaluated on the same users in the same order, which is what makes paired
 * tests possible (c->users, checked for each model); results do not depend on the number of jobs or threads;
 * the first `judged` attempts of a row have a report and tallies; rows that know how the data were made
 * (the oracle) are never the best and take part in no test. */
#ifndef PR_COMPARE_H
#define PR_COMPARE_H

#include <assert.h>

#include "base/writer.h"
#include "compare/model_list.h"
#include "eval/significance.h"
#include "ranks/ranks.h"
#include "train/run_record.h"

/* What has to be done for an attempt. */
typedef enum pr_task_kind {
    PR_CONTENDER_READY,  /* a usable file exists, or there is nothing to train */
    PR_CONTENDER_RESUME, /* training was interrupted */
    PR_CONTENDER_TRAIN,  /* no file yet */
} pr_task_kind;

enum { PR_OTHER_PROTOCOLS = PARSREC_PROTOCOLS - 1 };

/* One training of a model, with its own seed. */
typedef struct pr_attempt {
    uint64_t seed;
    char path[4096]; /* of the model file; "" for a model that only counts */
    pr_task_kind task;
    parsrec_eval_report report;
    parsrec_eval_report others[PR_OTHER_PROTOCOLS];
    parsrec_share *tallies; /* [users · measures of the report] */
    pr_run_record record;   /* from the log beside the model; empty without one */
} pr_attempt;

/* What a model costs; 0: not known. */
typedef struct pr_cost {
    double seconds; /* of training or counting, mean over attempts */
    double bytes;   /* of weights or counts, and of an open basket */
    double answers; /* per second, of one thread: the ten best of the catalogue for a known user */
} pr_cost;

/* A row: one model, its attempts and their pooled results. A counting model and a model file have one
 * attempt. */
typedef struct pr_contender {
    const pr_listed_model *entry;
    pr_attempt *attempts;
    size_t attempt_count, judged; /* the first `judged` are evaluated */
    bool ceiling; /* knows how the data were made: shown separately, never the best */
    bool counts;  /* counted from the data, not trained */
    double bytes; /* of memory for one training, estimated */
    size_t
        held_out; /* newest sessions of a user that are left out (the setting last); 0: of a file */
    bool
        gaining; /* validation was best at the last epoch of an attempt, clearly above all before */
    bool learnt; /* learns from the sessions of the table: pr_eval_is_learnt */
    char kind[32];
    uint64_t parameters;
    pr_cost cost;
    parsrec_eval_report report;                     /* means over attempts */
    parsrec_eval_report others[PR_OTHER_PROTOCOLS]; /* the same by other protocols */
    parsrec_share *tallies; /* their sum, [users · measures of the report] */
    pr_interval *intervals; /* over users [measures of the report] */
    pr_interval *spread; /* over seeds [measures of the report]; low and high NaN for one attempt */
    pr_contrast
        versus; /* this model against its reference, by the chosen measure, over users ... */
    double p;   /* ... its p corrected for the number of such tests (Holm) ... */
    pr_interval versus_spread; /* ... and over seeds, as `spread` ... */
    double seed_p;             /* ... with its p if only seeds made the difference; or NaN */
    struct {                   /* validation after each epoch, by pr_validation_measures[0]: */
        double *epoch, *value; /* [count]: mean over attempts, to the end of the shortest */
        size_t count;
        double seconds; /* of training, all attempts */
    } learning;
} pr_contender;

/* A measure as a column of the table. */
typedef struct pr_measure_column {
    size_t measure;      /* of the report */
    char name[32];       /* "Sess-Prec@10" */
    char brief[24];      /* "SP@10" */
    size_t best, second; /* rows, PR_NONE where there are fewer; the ceiling does not compete */
} pr_measure_column;

enum { PR_COLUMNS = PARSREC_MEASURES_MOST };

struct parsrec_comparison {
    pr_model_list list;
    pr_contender *rows;
    size_t count;
    pr_measure_column columns[PR_COLUMNS];
    uint64_t *users; /* evaluated, the same for all */
    size_t user_count, user_capacity;
    size_t first;        /* the row that was evaluated first */
    size_t seeds;        /* rounds completed so far */
    double more_seconds; /* what two more seeds would take; 0 unless that was too long to do it */
    bool ablation;       /* rows are compared with their bases, not with the best */
    size_t column_count, chosen; /* chosen: the column that decides which model is the best */
    parsrec_eval_options eval;
    parsrec_eval_options others[PR_OTHER_PROTOCOLS]; /* further protocols, shown beside */
    size_t other_count;
    parsrec_data_stats stats;
    pr_resampling resampling; /* of intervals ... */
    pr_resampling testing;    /* ... and of tests, which need more: small p need many */
    uint64_t seed;
    char *data_path, *folder, *command; /* command may be NULL */
    bool made_folder;                   /* by this run */
    double began, seconds;              /* of the whole call */
};

/* ---- the run (compare.c) ---- */

/* The two parts of a comparison, around the list of models: `begin` fills a zeroed comparison with all but
 * c->stats and c->list, `run` does everything after they are set. data_path is NULL where a preset makes the
 * data. Free with pr_comparison_clear, also on failure. */
parsrec_status pr_comparison_begin(parsrec_comparison *c, const char *data_path, const char *folder,
                                   const parsrec_compare_options *options, parsrec_error *err);
parsrec_status pr_comparison_run(parsrec_comparison *c, const parsrec_data *data,
                                 const parsrec_compare_options *options, const parsrec_hooks *hooks,
                                 parsrec_error *err);
void pr_comparison_clear(parsrec_comparison *c);

/* ---- judging (judge.c) ---- */

/* The measures of the protocol as columns; `measure` names the chosen one, NULL: NDCG, or else the first
 * measure, at the largest cutoff. */
parsrec_status pr_comparison_columns(parsrec_comparison *c, const char *measure,
                                     parsrec_error *err);
/* Fills best, second, intervals and contrasts from the reports and tallies of the rows. */
parsrec_status pr_comparison_judge(parsrec_comparison *c, pr_pool *pool, parsrec_error *err);

/* The row that is the best by the chosen measure. */
static inline size_t pr_comparison_best(const parsrec_comparison *c)
{
    assert(c->chosen < c->column_count);
    return c->columns[c->chosen].best;
}

/* The row that a row is compared with: the best, or in an ablation its base. PR_NONE: no such row. */
static inline size_t pr_comparison_reference(const parsrec_comparison *c, size_t row)
{
    assert(row < c->count);
    size_t best = pr_comparison_best(c);
    return c->ablation ? c->rows[row].entry->base : row == best ? PR_NONE : best;
}

double pr_cell_value(const parsrec_comparison *c, size_t row, const pr_measure_column *column);
/* 1 for the best and whatever equals it, 2 for the second, 0 for the rest. */
int pr_cell_rank(const parsrec_comparison *c, size_t row, const pr_measure_column *column);

/* Whether a row differs from its reference by more than chance among users and, where there are several,
 * among seeds. */
bool pr_comparison_differs(const pr_contender *row);

/* ---- one model (contender.c) ---- */

/* The functions of a contender read from the options how models are trained; the threads are those of eval.
 *
 * Makes the attempts and finds out what has to be done for each. Changes nothing unless options->retrain. */
parsrec_status pr_contender_plan(pr_contender *r, const parsrec_comparison *c,
                                 const parsrec_data *data, const parsrec_compare_options *options,
                                 const parsrec_hooks *hooks, parsrec_error *err);

/* Trains one attempt, or resumes it. Several may run at the same time. */
parsrec_status pr_contender_train(const pr_contender *r, const pr_attempt *a,
                                  const parsrec_data *data, const parsrec_compare_options *options,
                                  const parsrec_hooks *hooks, parsrec_error *err);

/* Evaluates the next attempt and reads its run record. It must have the users of the model that was
 * evaluated first. */
parsrec_status pr_contender_evaluate(parsrec_comparison *c, pr_contender *r,
                                     const parsrec_data *data,
                                     const parsrec_compare_options *options,
                                     const parsrec_hooks *hooks, parsrec_error *err);

/* Sets bytes and answers (cost.c). */
parsrec_status pr_cost_measure(pr_cost *cost, const parsrec_model *model, parsrec_error *err);

/* Fills report, tallies, spread and learning from the attempts judged so far, of which there is one at
 * least. May be called again after more attempts. */
parsrec_status pr_contender_pool(pr_contender *r, size_t users, double level, parsrec_error *err);
void pr_contender_clear(pr_contender *r);

/* ---- reports ---- */

parsrec_status pr_comparison_write(pr_writer *out, const parsrec_comparison *c,
                                   parsrec_text_kind kind, parsrec_error *err);

/* report.md, .csv, .json and .html into the folder. */
parsrec_status pr_comparison_save(parsrec_comparison *c, parsrec_error *err);

/* The reports as JSON; rows_only: only the array of models. */
parsrec_status pr_comparison_json(pr_writer *out, const parsrec_comparison *c, bool rows_only,
                                  parsrec_error *err);

/* ---- ablation (ablate.c): one part of a model changed at a time ---- */

typedef struct pr_ablation_row {
    const char *name, *settings; /* "key=value:key=value", on top of the base */
} pr_ablation_row;

/* Rows that each change one base. */
typedef struct pr_ablation_group {
    const char *preset; /* as --preset names it */
    const char *base;   /* the name of the row that is the base ... */
    const char *spec;   /* ... and its model, as in a list of models */
    bool categories;    /* are features of items here; else the base shares them already (kin) */
    const pr_ablation_row *rows;
    size_t count;
} pr_ablation_group;

extern const pr_ablation_group pr_ablation_groups[];
extern const size_t pr_ablation_group_count;

/* The list of models that the options stand for, each entry with its base. Rows that need features which
 * the data do not have are left out, with a message. Free with pr_model_list_free, also on failure. */
parsrec_status pr_ablation_list(pr_model_list *list, const parsrec_ablate_options *options,
                                const parsrec_data_stats *stats, const parsrec_hooks *hooks,
                                parsrec_error *err);

#endif
