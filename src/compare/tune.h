/* A search for better settings by successive halving: random trials train for a few epochs, the best part of
 * them for more, and so on. Trials are compared on validation sessions; no test session is looked at. The
 * folder is the only state, as in a comparison: trials are drawn from the seed alone, so the same command
 * finds its own trials again and resumes each from its checkpoint. A finished round is never repeated. */
#ifndef PR_TUNE_H
#define PR_TUNE_H

#include "base/writer.h"
#include "data/dataset.h"
#include "model/config.h"
#include "ranks/ranks.h"
#include "train/run_record.h"

/* ---- what a search may try ---- */

enum { PR_VALUE_SIZE = 64 };

/* One setting that is drawn. */
typedef struct pr_tune_range {
    size_t setting; /* its number in the table of settings */
    const char *key;
    char **words; /* [word_count] of a list; else from low to high */
    size_t word_count;
    double low, high;
    bool log;   /* equal ratios, not equal distances, are equally likely */
    bool whole; /* whole numbers alone */
    char *text; /* that the words point into */
} pr_tune_range;

typedef struct pr_space {
    pr_tune_range *ranges;
    size_t count, capacity;
    const char **fixed; /* "key=value": what the caller sets once and for all */
    size_t fixed_count, fixed_capacity;
} pr_space;

/* Takes "key=a,b,c", "key=low..high" or "key=low..high(log)" as something to draw and "key=value" as fixed;
 * the text of a fixed one is borrowed. Free with pr_space_free, also on failure. */
parsrec_status pr_space_add(pr_space *space, const char *text, parsrec_error *err);
/* The ranges that are worth a try for a kind of model, where the caller names none. */
parsrec_status pr_space_usual(pr_space *space, const char *kind, parsrec_error *err);
void pr_space_free(pr_space *space); /* a zeroed one is fine */

/* The value of one range in one draw of a trial: by seed and place alone. */
void pr_space_draw(char out[PR_VALUE_SIZE], const pr_tune_range *range, uint64_t seed, size_t trial,
                   size_t draw);

/* ---- trials and rounds ---- */

/* One choice of settings and its results so far. */
typedef struct pr_trial {
    char name[32];                   /* "trial-07", its file without .st */
    char path[4096];                 /* of its model */
    char (*values)[PR_VALUE_SIZE];   /* [ranges], as --set takes them */
    char (*set)[PR_VALUE_SIZE + 32]; /* [ranges]: "key=value"; the first trial sets nothing */
    const char **words;              /* all settings: fixed, then `set` */
    size_t word_count;
    pr_run_record record; /* its epochs so far */
    size_t rounds;        /* that it took part in */
    double first;         /* the best value of the first round, which all trials have ... */
    double value;         /* ... and of all its rounds, */
    size_t epoch;         /* which was after this one; 0: nothing is known yet */
} pr_trial;

/* A round: how many trials are trained up to how many epochs. */
typedef struct pr_tune_round {
    size_t epochs, trials;
} pr_tune_round;

enum { PR_ROUNDS_MOST = 32 };

struct parsrec_tuning {
    pr_space space;
    char kind[32];
    pr_trial *trials;
    size_t count;
    size_t *order; /* [count]: trials, the best first: later rounds before earlier, then by value */
    pr_tune_round rounds[PR_ROUNDS_MOST];
    size_t round_count, done; /* rounds that are finished */
    const char *measure;      /* "NDCG@10" */
    size_t held_out; /* newest sessions of a user that are for the test (the setting last) */
    parsrec_split_options split; /* without the file of users, which is in users_path */
    uint64_t seed;
    pr_ranks *ranks;   /* that divide the trials; NULL: none. Rank 0 writes reports */
    char checksum[17]; /* of the data */
    char *data_path, *folder;
    char *command, *preset, *config_path, *users_path; /* may be NULL */
    double began, seconds;
    double bytes; /* that the largest trial takes */
};

/* ---- trials (trials.c) ---- */

/* Draws all trials: the first has the settings as they are, the others differ from each other and are such
 * as the model takes. */
parsrec_status pr_tuning_draw(parsrec_tuning *t, const parsrec_tune_options *o, parsrec_error *err);
/* The options of its training. */
parsrec_train_options pr_trial_order(const parsrec_tuning *t, const pr_trial *trial, size_t epochs,
                                     unsigned threads);
/* Whether such a model can be laid out on these data, and how much memory that takes. */
parsrec_status pr_trial_weigh(parsrec_tuning *t, const pr_trial *trial, const parsrec_data *data,
                              parsrec_error *err);
/* Refuses a model in the folder with other settings, seed or data; with `retrain` removes it. */
parsrec_status pr_trial_look(const parsrec_tuning *t, const pr_trial *trial,
                             const parsrec_data *data, bool retrain, parsrec_error *err);
/* Trains it up to that number of epochs, from its checkpoint if there is one. */
parsrec_status pr_trial_train(const parsrec_tuning *t, const pr_trial *trial,
                              const parsrec_data *data, size_t epochs, unsigned threads,
                              const parsrec_hooks *hooks, parsrec_error *err);
/* Reads its log up to that epoch. */
parsrec_status pr_trial_read(pr_trial *trial, const char *measure, size_t epochs,
                             parsrec_error *err);
void pr_tuning_clear(parsrec_tuning *t);

/* best.conf and the reports into the folder (tune_report.c). */
parsrec_status pr_tuning_save(parsrec_tuning *t, parsrec_error *err);

#endif
