/* How models are judged: which sessions, against which items, by which rule, and what is measured
 * (docs/evaluation.md). A rule is one function over a step; adding one is a file and a line in
 * protocol.c. */
#ifndef PR_PROTOCOL_H
#define PR_PROTOCOL_H

#include "data/split.h"
#include "eval/candidates.h"

enum { PR_CUTOFFS = 8, PR_COLUMNS_MOST = 5 };

/* name, at each cutoff or once, told of repeat and new items too */
#define PR_MEASURE_MAP(X)                   \
    X(HR, "HR", true, true)                 \
    X(NDCG, "NDCG", true, true)             \
    X(SESS_PREC, "Sess-Prec", true, true)   \
    X(MRR, "MRR", false, true)              \
    X(RECALL, "Recall", true, true)         \
    X(PRECISION, "Precision", true, false)  \
    X(NDCG_WHOLE, "NDCG-whole", true, true) \
    X(PHR, "PHR", true, true)
typedef enum pr_measure_id {
#define PR_MEASURE_ENUM(id, name, at_k, split) PR_##id,
    PR_MEASURE_MAP(PR_MEASURE_ENUM)
#undef PR_MEASURE_ENUM
        PR_MEASURES
} pr_measure_id;

const char *pr_measure_name(pr_measure_id measure);
bool pr_measure_at_k(pr_measure_id measure);
bool pr_measure_split(pr_measure_id measure);

/* Everything, and apart what the user had in an earlier session and what is new to the user. */
typedef enum pr_aspect { PR_ALL, PR_REPEAT, PR_FRESH, PR_ASPECTS } pr_aspect;

/* How a measure comes out of the sums of baskets: the column's total by the total weight, or the mean
 * of each basket's own mean. */
typedef struct pr_measure_rule {
    pr_measure_id measure;
    uint8_t column;
    bool per_basket;
} pr_measure_rule;

typedef struct pr_step pr_step;

typedef struct pr_rule {
    const char *name, *summary;
    size_t smallest; /* baskets with fewer items are left out */
    bool one_step;   /* the whole basket at once; else a step for each item */
    size_t columns;
    const pr_measure_rule *measures;
    size_t measure_count;
    /* Counts one step into the basket's sums and returns the place, in the basket, of the item that
     * comes into it next. */
    size_t (*count)(const pr_step *step, float *sums);
} pr_rule;

extern const pr_rule pr_remaining, pr_next, pr_basket_list;
/* All of them, ending with NULL. */
extern const pr_rule *const pr_rules[];
const pr_rule *pr_rule_find(const char *name); /* or NULL */

typedef struct pr_eval_protocol {
    const pr_rule *rule;
    pr_split_part part;
    size_t held;       /* test sessions of a user that training left out: the setting `last` */
    size_t last;       /* how many of them are evaluated */
    const bool *users; /* [users]: who is evaluated; NULL: everybody who can be */
    size_t negatives; /* items drawn to rank a basket's own items against; 0: the whole catalogue */
    const pr_candidate_source *source; /* of these items; NULL: all alike */
    bool exclude_seen;                 /* items that the user had before leave the ranking */
    uint64_t seed;                     /* of the candidates */
    size_t place_k;       /* the best remaining item is placed when it ranks among so many */
    size_t k[PR_CUTOFFS]; /* cutoffs reported, k_count of them */
    size_t k_count;
} pr_eval_protocol;

/* Any remaining item counts; 100 negatives, place 10, k = 1, 5, 10. */
pr_eval_protocol pr_protocol_paper(pr_split_part part);

/* ---- one step, as a rule sees it ---- */

struct pr_step {
    const pr_eval_protocol *protocol;
    size_t number;       /* of the step, from 0 */
    size_t size;         /* items of the basket */
    const bool *taken;   /* [size]: placed already */
    const bool *seen;    /* [size]: in an earlier session of the user */
    const float *mine;   /* [size]: scores; -INFINITY: not recommended at all */
    const float *theirs; /* [their_count]: of the items they are ranked against */
    size_t their_count;
    const size_t *above; /* [size]: instead of theirs, how many rank above; or NULL */
};

/* How many of the others rank above own item i; SIZE_MAX for one that is not recommended. */
size_t pr_step_above(const pr_step *step, size_t i);

static inline bool pr_step_has(const pr_step *step, pr_aspect aspect, size_t i)
{
    return aspect == PR_ALL || step->seen[i] == (aspect == PR_REPEAT);
}

/* ---- sums of one basket ---- */

/* For each aspect its weight (steps, or 1 for a basket), then columns of k_count sums. */
static inline size_t pr_sums_stride(const pr_eval_protocol *p)
{
    return 1 + p->rule->columns * p->k_count;
}
static inline size_t pr_sums_count(const pr_eval_protocol *p)
{
    return PR_ASPECTS * pr_sums_stride(p);
}
static inline float *pr_sums_column(const pr_eval_protocol *p, float *sums, pr_aspect aspect,
                                    size_t column)
{
    return sums + aspect * pr_sums_stride(p) + 1 + column * p->k_count;
}
static inline float *pr_sums_weight(const pr_eval_protocol *p, float *sums, pr_aspect aspect)
{
    return sums + aspect * pr_sums_stride(p);
}

/* Counts one more ranked item: weight, hit (column 0) and gain (column 1) at every cutoff. */
void pr_sums_rank(const pr_eval_protocol *p, float *sums, pr_aspect aspect, size_t rank);

#endif
