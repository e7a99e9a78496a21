/* Recommendation: the best next items for an open basket, and why.
 *
 * One request passes through these subjects, each a file:
 *
 *   request_json.c   JSON text -> parsrec_request (and batches of them); one table lists the fields
 *   request.c        checks the numbers, turns filters into one mark per item, lays features out
 *   recommend.c      scratch; who asks and from what source; the best k, at most n per category
 *   reasons.c        the same basket with one thing left out at a time: what each is worth
 *   sentence.c       reasons as a sentence
 *   answer_json.c    hits and reasons -> JSON text
 *
 * Around them:
 *
 *   recommend_many.c many requests on all cores, or divided among ranks
 *   live.c           the public calls on live histories (data/histories.h has the histories); what
 *                    is known of a user, and search by text, as JSON
 *   score_speed.c    measures how long an answer takes (parsrec bench)
 *
 * Callers of the library choose where to enter: parsrec_recommend and parsrec_recommend_why take
 * structs with numbers, parsrec_recommend_many calls the first for many users, and
 * parsrec_recommend_json takes text. All call pr_request_prepare, which checks the request, then
 * pr_request_start, which finds the history and fails if the model's data do not have a feature of
 * the request. The code after these two trusts the request; only hits that a caller passes to
 * parsrec_recommend_why are checked later, against the marks.
 *
 * Histories. A request names its live histories (parsrec_request.live) or uses those stored with
 * the model. They are part of the request, not of the scratch, so that a scratch has no mode: two
 * requests in a row may differ in everything but the model.
 *
 * Memory and threads. parsrec_scratch is one thread's working memory for one model; threads share
 * the model, which is read-only, and live histories, which have a lock. An answer from what is
 * stored with the model allocates nothing. The memory for reasons, features, JSON and copies of
 * live histories is allocated when first needed, grows with the largest request seen and stays.
 * Hence an answer in text lives until the next call with its scratch.
 *
 * Marks. barred[item] is 0 for what may be recommended. PR_MASK_BARRED comes from the filters,
 * PR_MASK_PLACED from the basket; reasons need the difference, because an item of the basket that
 * is left out does not become a candidate. pr_request_prepare sets all marks anew. */
#ifndef PR_RECOMMEND_H
#define PR_RECOMMEND_H

#include "base/json.h"
#include "base/writer.h"
#include "data/histories.h"
#include "model/model_file.h"
#include "recommend/reasons.h"

struct parsrec_live {
    const parsrec_model *model;
    pr_live_histories *pasts;
};

/* ---- ranking ---- */

/* Memory of one thread; nothing is allocated after it is made. [V] is a value per item. */
typedef struct pr_recommender {
    pr_scorer *scorer; /* with one row */
    pr_real *scores;   /* [V], by item: set for the items in best[], undefined elsewhere */
    int32_t *best;     /* [V]: items, best first, as many as the last ranking found */
    uint8_t *barred;   /* [V]: PR_MASK_*; 0 may be recommended */
} pr_recommender;

/* For baskets of up to `capacity` items. */
parsrec_status pr_recommender_init(pr_recommender *r, const pr_model *model, size_t capacity,
                                   parsrec_error *err);
void pr_recommender_free(pr_recommender *r); /* a zeroed one is fine */

/* Places the n items of a basket, at most the capacity, each once, and marks them in barred[],
 * which must not have marks of an earlier basket. Then sets best[] to up to k items that are not
 * barred, best first, and scores[item] of each. Returns how many. */
size_t pr_recommend(pr_recommender *r, const pr_start *start, const int32_t *basket, size_t n,
                    size_t k);

/* Marks an item of a basket. Returns false if it was marked before: training baskets hold no item
 * twice, so a repeated item is not placed again. */
static inline bool pr_mark_placed(uint8_t *barred, int32_t item)
{
    if ((barred[item] & PR_MASK_PLACED) != 0)
        return false;
    barred[item] |= PR_MASK_PLACED;
    return true;
}

/* ---- scratch ---- */

/* The features of a request as one row of the feature columns of the model's data set: of users
 * (PR_OF_USER) and of sessions (PR_OF_SESSION). Allocated for the first request that has any. */
typedef struct pr_given_features {
    bool allocated;
    pr_feature_column *columns[2]; /* [columns]: each points to its one value in: */
    float *numbers[2];             /* [columns] */
    int32_t *codes[2];             /* [columns] */
} pr_given_features;

/* A list of items or categories of a JSON request, as the model's numbers. */
typedef struct pr_number_list {
    int32_t *list;
    size_t count, capacity;
    bool given; /* the request has the field */
} pr_number_list;

enum { PR_REQUEST_FIELDS = 15 }; /* of a JSON request; request_json.c has the table */

struct parsrec_scratch {
    const parsrec_model *model;
    pr_recommender recommender;
    size_t k_most;        /* the largest k of a request; 0: no limit */
    uint8_t *listed;      /* [categories]: of a filter, whether it lists them or one above them */
    size_t *shown;        /* [categories]: items of the answer so far */
    pr_reasons reasons;   /* zeroed until a request asks for them */
    pr_history_copy past; /* of the last request with live histories */
    pr_given_features given;
    /* For requests as JSON: */
    pr_number_list lists[PR_REQUEST_FIELDS]; /* by field; empty for fields that are no lists */
    parsrec_feature *features;
    size_t feature_capacity;
    char *session; /* name of the open session */
    size_t session_capacity;
    parsrec_hit *hits;
    size_t hit_capacity;
    parsrec_why *whys;
    size_t why_capacity;
    pr_writer user, unknown; /* keys as the request gives them, as JSON: "K02"; "A",17 */
    pr_writer
        ambiguous; /* {"name":"Rye","keys":["A","B"]}, for each name that several items have */
    size_t ambiguous_keys;
    pr_writer text;
};

/* ---- requests ---- */

/* Checks a request and sets barred[] to what its filters bar; no item is marked as placed. */
parsrec_status pr_request_prepare(parsrec_scratch *own, const parsrec_request *request,
                                  parsrec_error *err);
/* Sets how the scorer starts, and all of the answer but its count: the source and the time. To be
 * called after pr_request_prepare. *start points into the request and the scratch. */
parsrec_status pr_request_start(parsrec_scratch *own, const parsrec_request *request,
                                pr_start *start, parsrec_answer *answer, parsrec_error *err);
/* Replaces the features that the request names and keeps the others; *known then points into
 * own->given. Without features in the request *known stays as it is. */
parsrec_status pr_request_features(parsrec_scratch *own, const parsrec_request *request,
                                   pr_known_features *known, parsrec_error *err);
void pr_given_features_free(pr_given_features *given); /* a zeroed one is fine */

/* Whether the model learnt a row for the user. Users known only from other data or from live
 * histories have none. The row of a user without a session in the model's data does not count: it
 * was never trained and has its initial values. */
bool pr_has_own_row(const parsrec_model *model, int32_t user);

/* Whether best sellers answer instead of the model. Not if the model itself ranks by best sellers
 * (`pop`): then the source is the same, but the model has the scores. */
static inline bool pr_counts_answer(const parsrec_model *model, parsrec_source source)
{
    return source == PARSREC_SOURCE_POPULAR && !model->file.model->kind->popular;
}

/* parsrec_recommend and parsrec_recommend_why, in one pass if the model allows it; whys[capacity]
 * is set for the hits. */
parsrec_status pr_recommend_explained(parsrec_scratch *own, const parsrec_request *request,
                                      parsrec_hit *hits, size_t capacity, parsrec_why *whys,
                                      parsrec_answer *answer, parsrec_error *err);

/* ---- JSON ---- */

/* Nobody and nothing left out, so far. */
void pr_answer_restart(parsrec_scratch *own);
/* Notes an item that is left out: the model does not know it, or several items have the name. It is written as
 * `json` where that is not NULL. */
void pr_answer_leave_out(parsrec_scratch *own, const char *word, const char *json);
/* Appends an answer to own->text, with what is in own->user and what was left out; `whys` NULL: without
 * reasons. */
void pr_answer_write(parsrec_scratch *own, const parsrec_request *request,
                     const parsrec_answer *answer, const parsrec_hit *hits,
                     const parsrec_why *whys);
/* Sets a writer back to nothing; its memory stays. */
static inline void pr_writer_restart(pr_writer *writer)
{
    writer->size = 0;
    writer->failed = false;
}

#endif
