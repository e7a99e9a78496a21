/* Training: epochs over shuffled batches, validation after each, the best model kept, and
 * checkpoints from which a run resumes bit for bit.
 *
 *   train.c         parsrec_train: options become a plan; the model, its log and its learning curves
 *   train_setup.h   everything a run holds, taken before the first batch
 *   train_loop.c    the run itself (this header)
 *   checkpoint.h    the state of a run in one file
 *   file_check.c    parsrec_file_check: any file that parsrec writes
 *   run_record.h    what was trained, on what and how far: MODEL.log, as compare and tune read it
 *   memory_plan.h   how much memory a run takes, and what of it lies in files
 *   average.h       the average of late weights, which is validated and kept instead of the weights
 *   mixing.h        the last steps: network and counts are mixed, and counts are brought up to date
 *   bench_train.c   parsrec_bench_training: the same model and batches, timed, without a run
 *
 * Life cycle of a run: the plan is checked against the data or the checkpoint; settings that depend
 * on the data are settled; the model is outlined and its memory estimated before any is taken; then
 * epoch after epoch: arrange the batches, learn, validate, save, stop early or go to the next; at
 * the end a copy of the best weights learns on from the validation sessions too; the best weights
 * are mixed with counts, and give way to that copy; and counts take in the validation sessions.
 *
 * Invariants. A run is a function of data, settings and seed: neither the number of threads nor an
 * interruption changes a bit of the model. This holds because a random draw depends on seed and
 * place only, so that a checkpoint needs no generator state, and because a batch that was begun is
 * learnt from as a whole: runs stop between batches. A state with a number that is not finite never
 * replaces a good checkpoint. A batch allocates nothing.
 *
 * Threads. One thread calls pr_train and runs the loop; listener and hooks are called on it.
 * Batches and validation divide their work among the threads of the pool. Data, plan and pool are
 * borrowed.
 *
 * With ranks (ranks/ranks.h) every process has the data, the position, and the model with its
 * moments but for the rows of users, which each has for some of them (model/user_rows.h). Batches
 * and validation are divided; the mix and what is counted again are done by all alike. Only rank 0
 * has hooks, decides when to stop and when to save, and writes files; the others hand in what they
 * have for them. */
#ifndef PR_TRAIN_H
#define PR_TRAIN_H

#include "base/status.h"
#include "data/dataset.h"
#include "eval/evaluation.h"
#include "model/trainer.h"
#include "train/mixing.h"

typedef struct pr_train_plan {
    const char *kind; /* of model; this, config and seed are the checkpoint's in a resumed run */
    pr_config config;
    uint64_t seed;
    size_t patience;           /* epochs without a better validation before stopping; 0: never */
    double checkpoint_seconds; /* between checkpoints within an epoch */
    const char *checkpoint;    /* path; NULL: none are written */
    const char *resume;        /* checkpoint to resume from, or NULL; with it: */
    const char *const *set;    /* "key=value": what to change of the checkpoint's settings */
    size_t set_count, epochs;  /* 0 epochs: as the checkpoint; patience 0 likewise */
    pr_ranks *ranks;           /* that train together; NULL: one process */
    uint64_t max_memory;       /* bytes; with storage */
    pr_storage *storage;       /* where blocks lie, chosen by the run; NULL: in memory, unlimited */
} pr_train_plan;

/* What is known of a finished epoch. */
typedef struct pr_epoch_result {
    uint32_t number; /* from 1 */
    double loss;     /* of a predicted item, mean over the epoch; which loss, the settings say */
    pr_scores valid; /* all zero when no user can be validated */
    double next, basket; /* NDCG@10 by these protocols, if the best epoch depends on them; else 0 */
    double seconds;      /* of learning, in this process; 0 for an epoch learnt before a resume */
    double items_per_s;  /* likewise */
    bool earlier;        /* learnt before the run was resumed */
} pr_epoch_result;

typedef struct pr_train_result {
    pr_model *model;         /* the best one; owned by the result */
    pr_user_rows *user_rows; /* with ranks, of the model; likewise */
    /* With newest = on, if it was: weights that do not know the validation sessions. Exchanged with
     * the model's (mixing.h), they make the model that can be compared on these sessions. */
    pr_aside aside;
    pr_epoch_result *epochs;
    size_t epoch_count, epoch_capacity;
    uint32_t best_epoch; /* its number */
    const char *best_by; /* the measure that chose it; "" when nobody can be validated */
    bool stopped_early;
    double memory, memory_least; /* estimates in bytes: all in memory, and as little as it can be */
} pr_train_result;

/* Who is informed of a run; both functions may be NULL. */
typedef struct pr_train_listener {
    void *context;
    /* Everything is set up; the model has the kind and settings in force. */
    void (*begin)(void *context, const pr_model *model, uint64_t seed);
    /* After each epoch, once it is saved; after a resume first for those learnt before. */
    void (*epoch)(void *context, const pr_epoch_result *epoch);
} pr_train_listener;

/* Trains on the sessions that are neither validation nor test. `result` is initialised here, and
 * empty unless the status is OK; the caller frees it. When the progress hook asks to stop, a
 * checkpoint is written and the status is E_STOPPED. When a number is not finite or the loss is
 * hopeless, the status is E_DIVERGED and the checkpoint is the last good one. With ranks, all of
 * them call it. */
parsrec_status pr_train(pr_train_result *result, const pr_dataset *data, const pr_train_plan *plan,
                        pr_pool *pool, const pr_train_listener *listener,
                        const parsrec_hooks *hooks, parsrec_error *err);
void pr_train_result_free(pr_train_result *result); /* a zeroed one is fine */

/* The kind of model that options ask for. */
static inline const char *pr_train_kind(const parsrec_train_options *options)
{
    return options->model != NULL ? options->model : "parsrec";
}

/* The settings in force: the kind's own, then preset, config file, `set` and epochs. */
parsrec_status pr_train_settings(pr_config *config, const parsrec_train_options *options,
                                 parsrec_error *err);

/* About how many bytes a training takes, without the data and the program itself. */
parsrec_status pr_train_bytes(double *bytes, const char *kind, const pr_config *config,
                              const pr_dataset *data, unsigned threads, parsrec_error *err);

/* How the best epoch is chosen. `best = protocols`: the mean NDCG@10 of the three protocols.
 * `best = remaining`: Sess-Prec@10, as the reference does. Where validation is by the rule `next`,
 * because no basket has two items: its NDCG@10. */
enum { PR_CHOICE_CUTOFF = 2 }; /* the index of @10 among the cutoffs */
static inline pr_measure_id pr_choice_measure(const pr_rule *rule)
{
    return rule == &pr_rule_next ? PR_NDCG : PR_SESS_PREC;
}
static inline bool pr_choice_by_protocols(const pr_config *config, const pr_rule *rule)
{
    return config->best == PR_BEST_PROTOCOLS && rule != &pr_rule_next;
}
static inline double pr_epoch_merit(const pr_epoch_result *epoch, const pr_config *config,
                                    const pr_rule *rule)
{
    const size_t k = PR_CHOICE_CUTOFF;
    if (pr_choice_by_protocols(config, rule))
        return (epoch->valid.value[PR_ALL][PR_NDCG][k] + epoch->next + epoch->basket) / 3;
    return epoch->valid.value[PR_ALL][pr_choice_measure(rule)][k];
}

#endif
