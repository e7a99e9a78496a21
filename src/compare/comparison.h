/* A comparison as the files of this room share it: rows are models, columns are measures. */
#ifndef PR_COMPARISON_H
#define PR_COMPARISON_H

#include "base/writer.h"
#include "compare/model_list.h"
#include "eval/significance.h"
#include "train/run_record.h"

/* What has to be done for a model. */
typedef enum pr_task_kind {
    PR_CONTENDER_READY,  /* there is a file that can be taken as it is, or nothing to learn */
    PR_CONTENDER_RESUME, /* a training was interrupted */
    PR_CONTENDER_TRAIN,  /* there is nothing yet */
} pr_task_kind;

enum { PR_OTHER_PROTOCOLS = PARSREC_PROTOCOLS - 1 };

/* One training of a model, with a seed of its own. */
typedef struct pr_attempt {
    uint64_t seed;
    char path[4096]; /* of the model; "" for one that only counts */
    pr_task_kind task;
    parsrec_eval_report report;
    parsrec_eval_report others[PR_OTHER_PROTOCOLS];
    parsrec_share *tallies; /* [users · measures of the report] */
    pr_run_record record;   /* by the log beside the model; empty without one */
} pr_attempt;

/* A model: its attempts, of which one that counts or stands in a file has one, and all taken together. */
typedef struct pr_contender {
    const pr_listed_model *entry;
    pr_attempt *attempts;
    size_t attempt_count, judged; /* the first `judged` are evaluated */
    bool ceiling;                 /* knows how the data were made: shown apart, never the best */
    bool counts;                  /* is counted from the data, not learnt */
    double bytes;                 /* that a training takes, about */
    char kind[32];
    uint64_t parameters;
    parsrec_eval_report report;                     /* means over the attempts */
    parsrec_eval_report others[PR_OTHER_PROTOCOLS]; /* the same by other protocols */
    parsrec_share *tallies; /* their sum, [users · measures of the report] */
    pr_interval *intervals; /* over users [measures of the report] */
    pr_interval *spread; /* over seeds [measures of the report]; low and high NaN for one attempt */
    pr_contrast
        versus; /* this model against its reference, by the chosen measure, over users ... */
    double p;   /* ... its p corrected for the number of such tests (Holm) ... */
    pr_interval versus_spread; /* ... and over seeds, as `spread` ... */
    double seed_p; /* ... with the chance of such a difference if only seeds made it; or NaN */
    struct {       /* validation after each epoch, by pr_validation_measures[0]: */
        double *epoch, *value; /* [count]: the mean, as far as all attempts went */
        size_t count;
        double seconds; /* of learning, all attempts together */
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
    size_t first;                /* the row that was evaluated first */
    size_t seeds;                /* attempts of what learns, so far */
    bool ablation;               /* rows are told against their bases, not against the best */
    size_t column_count, chosen; /* chosen: the column that decides which model is the best */
    parsrec_eval_options eval;
    parsrec_eval_options others[PR_OTHER_PROTOCOLS]; /* further protocols, shown beside */
    size_t other_count;
    parsrec_data_stats stats;
    pr_resampling resampling; /* of intervals ... */
    pr_resampling testing;    /* ... and of tests, which need more: p is a count of rare things */
    uint64_t seed;
    char *data_path, *folder, *command; /* command may be NULL */
    double began, seconds;              /* of the whole call */
};

/* ---- judging (judge.c) ---- */

/* The measures of the protocol as columns; `measure` names the chosen one, NULL: NDCG, or else the first
 * measure, at the largest cutoff. Before anything is trained, so that a wrong name costs nothing. */
parsrec_status pr_comparison_columns(parsrec_comparison *c, const char *measure,
                                     parsrec_error *err);
/* Fills best, second, intervals and contrasts from the reports and tallies of the rows. */
parsrec_status pr_comparison_judge(parsrec_comparison *c, pr_pool *pool, parsrec_error *err);

/* The row that is the best by the chosen measure. */
static inline size_t pr_comparison_best(const parsrec_comparison *c)
{
    return c->columns[c->chosen].best;
}

/* The row that a row is told against: the best, or in an ablation the row's base. PR_NONE: it stands for
 * itself. */
static inline size_t pr_comparison_reference(const parsrec_comparison *c, size_t row)
{
    size_t best = pr_comparison_best(c);
    return c->ablation ? c->rows[row].entry->base : row == best ? PR_NONE : best;
}

double pr_cell_value(const parsrec_comparison *c, size_t row, const pr_measure_column *column);
/* 1 for the best and whatever equals it, 2 for the second, 0 for the rest. */
int pr_cell_rank(const parsrec_comparison *c, size_t row, const pr_measure_column *column);

/* Whether a row differs from its reference by more than chance among users and, where there are several,
 * among seeds. */
bool pr_comparison_differs(const pr_contender *row);

/* ---- attempts taken together (pooled.c) ---- */

/* Fills report, tallies, spread and learning from the attempts judged so far. */
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

#endif
