/* From ranks to measures: ranks and gains, the table of measures, the sums of a basket, and what
 * each user adds to a measure.
 *
 * A rule (protocol.h) counts the steps of a basket into columns of sums, one number per cutoff, and
 * counts their weight. A measure is one such column, either the total over all baskets divided by
 * their total weight (a mean over steps) or the mean of each basket's own mean (a mean over
 * baskets). All columns are kept three times, once per aspect: over everything, over items that the
 * user had in an earlier session, and over items that are new to the user. */
#ifndef PR_MEASURES_H
#define PR_MEASURES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

/* ---- ranks and gains ---- */

/* Position, from 0, of an item with this score among the others. A tie counts against it, and so
 * does a NaN among the others. */
size_t pr_rank(float score, const float *others, size_t count);

/* Gain of a hit at position `rank`, from 0: 1 / log2(rank + 2), 0 from position k on. k is at
 * least 1. */
double pr_gain(size_t rank, size_t k);

/* The gain of a list that begins with `count` right answers. */
double pr_ideal(size_t count);

/* ---- the table of measures ---- */

enum { PR_CUTOFFS = PARSREC_CUTOFFS_MOST, PR_COLUMNS_MOST = 5 };

/* id, name, name in a table's head, legend, has cutoffs, is split into repeat and new items */
#define PR_MEASURE_MAP(X)                                                                          \
    X(HR, "HR", "HR", "HR@k: share of steps with a hit among the first k.", true, true)            \
    X(NDCG, "NDCG", "N", "N@k: NDCG, hits among the first k with less credit for later places.",   \
      true, true)                                                                                  \
    X(SESS_PREC, "Sess-Prec", "SP",                                                                \
      "SP@k: Sess-Prec, the share of hits of a basket, averaged over baskets.", true, true)        \
    X(MRR, "MRR", "MRR", "MRR: mean of 1 / place.", false, true)                                   \
    X(MRR_AT, "MRR", "MRR", "MRR@k: mean of 1 / place, 0 for places after k.", true, true)         \
    X(RECALL, "Recall", "Rec",                                                                     \
      "Rec@k: Recall, the share of the basket's items among the first k.", true, true)             \
    X(PRECISION, "Precision", "Prec",                                                              \
      "Prec@k: Precision, the share of the first k that are in the basket.", true, false)          \
    X(NDCG_WHOLE, "NDCG-whole", "N-whole",                                                         \
      "N-whole@k: NDCG against an ideal of the whole basket, however large.", true, true)          \
    X(PHR, "PHR", "PHR", "PHR@k: share of baskets with at least one hit among the first k.", true, \
      true)
typedef enum pr_measure_id {
#define PR_MEASURE_ENUM(id, name, brief, legend, at_k, split) PR_##id,
    PR_MEASURE_MAP(PR_MEASURE_ENUM)
#undef PR_MEASURE_ENUM
        PR_MEASURES
} pr_measure_id;

typedef struct pr_measure_info {
    const char *name, *brief, *legend;
    bool at_k, split;
} pr_measure_info;

extern const pr_measure_info pr_measure_table[PR_MEASURES];
/* The first of that name, or NULL. "MRR" with and without cutoff are two measures of one name,
 * which differ in legend and at_k only. */
const pr_measure_info *pr_measure_named(const char *name);

/* "HR@10"; "MRR" has no cutoff. Returns buffer. */
char *pr_measure_title(const parsrec_measure *measure, char *buffer, size_t size);

/* ---- sums of one basket ---- */

/* Everything; what the user had in an earlier session; what is new to the user. */
typedef enum pr_aspect { PR_ALL, PR_REPEAT, PR_FRESH, PR_ASPECTS } pr_aspect;

/* How a rule makes a measure from its sums. */
typedef struct pr_rule_measure {
    pr_measure_id measure;
    uint8_t column;
    bool per_basket; /* the mean of each basket's own mean; else total by total weight */
} pr_rule_measure;

struct pr_eval_protocol;

/* The sums of a basket lie aspect by aspect: first the weight (steps, or 1 for a basket), then the
 * rule's columns of k_count sums each. pr_sums_count is the number of all of them. */
size_t pr_sums_count(const struct pr_eval_protocol *p);
float *pr_sums_column(const struct pr_eval_protocol *p, float *sums, pr_aspect aspect,
                      size_t column);
float *pr_sums_weight(const struct pr_eval_protocol *p, float *sums, pr_aspect aspect);

/* The first columns of every rule. Columns of its own follow. */
enum { PR_COLUMN_HITS, PR_COLUMN_GAIN, PR_COLUMNS_SHARED };

/* Counts one more ranked item: 1 to the weight, and at every cutoff a hit and its gain. */
void pr_sums_rank(const struct pr_eval_protocol *p, float *sums, pr_aspect aspect, size_t rank);

/* ---- sums of all baskets ---- */

/* One evaluated basket. */
typedef struct pr_evaluated {
    uint32_t user, session, size;
    uint32_t steps;  /* of its walk */
    bool unasked;    /* the first step is not counted: nothing is known before it */
    uint32_t others; /* how many items it was ranked against; set by a run */
    float *sums;     /* [pr_sums_count]; set by a run */
} pr_evaluated;

typedef struct pr_scores {
    size_t baskets, steps;
    double weight[PR_ASPECTS]; /* steps of each aspect, or baskets where a basket is one step */
    double value[PR_ASPECTS][PR_MEASURES][PR_CUTOFFS]; /* a measure without cutoff stands at 0 */
} pr_scores;

void pr_scores_sum(pr_scores *scores, const struct pr_eval_protocol *p, const pr_evaluated *baskets,
                   size_t count);

/* ---- what each user adds ---- */

/* Measures of a protocol in the order in which they are reported: those of its rule, each at every
 * cutoff, or once where it has none. */
size_t pr_protocol_measures(const struct pr_eval_protocol *p);
/* Measure number i; sets *k to the number of its cutoff, 0 for one without. */
pr_measure_id pr_protocol_measure(const struct pr_eval_protocol *p, size_t i, size_t *k);

/* Users in ascending order: the same in every evaluation by one protocol. */
typedef struct pr_user_tallies {
    parsrec_share
        *rows; /* [user_count · measures], a user's measures side by side, as in pr_tallies */
    uint32_t *users; /* [user_count]: their numbers */
    size_t user_count, measures;
} pr_user_tallies;

/* From baskets after a run. Free with pr_user_tallies_free, also on failure. */
parsrec_status pr_user_tallies_make(pr_user_tallies *out, const struct pr_eval_protocol *p,
                                    const pr_evaluated *baskets, size_t count, pr_aspect aspect,
                                    parsrec_error *err);
void pr_user_tallies_free(pr_user_tallies *tallies); /* a zeroed one is fine */

#endif
