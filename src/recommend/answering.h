/* A thread's memory for answers, and how a request becomes one. */
#ifndef PR_ANSWERING_H
#define PR_ANSWERING_H

#include "base/json.h"
#include "base/writer.h"
#include "data/live_histories.h"
#include "model/loaded.h"
#include "recommend/reasons.h"
#include "recommend/recommend.h"

struct parsrec_live {
    const parsrec_model *model;
    pr_live_histories *pasts;
};

/* Numbers that a JSON request names, kept from request to request. */
typedef struct pr_number_list {
    int32_t *list;
    size_t count, capacity;
} pr_number_list;

enum { PR_REQUEST_LISTS = 6 };

/* What a request says of its session and its user, in the columns of the model's data set. */
typedef struct pr_given {
    bool taken; /* the memory below */
    pr_feature_column *columns[2];
    float *numbers[2];
    int32_t *codes[2];
} pr_given;

struct parsrec_scratch {
    const parsrec_model *model;
    pr_recommender recommender;
    size_t k_most;            /* 0: any */
    uint8_t *marks;           /* [categories] */
    size_t *shown;            /* [categories]: items of the answer */
    pr_reasons reasons;       /* zeroed until somebody asks why */
    const parsrec_live *live; /* whose pasts the request under way uses; NULL: the model's */
    pr_history_copy past;
    pr_given given;
    /* For requests as JSON: */
    pr_number_list lists[PR_REQUEST_LISTS];
    bool explain;           /* the request asks why */
    bool strict;            /* an item that the model does not know is a mistake */
    const json_t **unknown; /* such items, of the request under way */
    size_t unknown_count, unknown_capacity;
    parsrec_feature *features;
    size_t feature_capacity;
    char *session; /* its open session */
    size_t session_capacity;
    parsrec_hit *hits;
    size_t hit_capacity;
    parsrec_why *whys;
    size_t why_capacity;
    pr_writer text;
};

/* How a request is answered: checks it and bars what its filters do not let through; then how its
 * session begins, and from what source. */
parsrec_status pr_request_prepare(parsrec_scratch *own, const parsrec_request *request,
                                  parsrec_error *err);
parsrec_status pr_request_start(parsrec_scratch *own, const parsrec_request *request,
                                pr_start *start, parsrec_source *source, parsrec_error *err);

/* Puts what the request says in place of what is known; *about then points into own->given. */
parsrec_status pr_request_about(parsrec_scratch *own, const parsrec_request *request,
                                pr_known_features *about, parsrec_error *err);
void pr_given_free(pr_given *given); /* a zeroed one is fine */

/* Whether counts answer in the model's place: not where the model is made of them. */
static inline bool pr_counts_answer(const parsrec_model *model, parsrec_source source)
{
    return source == PARSREC_SOURCE_POPULAR && !model->file.model->kind->popular;
}

/* The public calls, with pasts as own->live says. */
parsrec_status pr_answer_request(parsrec_scratch *own, const parsrec_request *request,
                                 parsrec_hit *hits, size_t capacity, parsrec_answer *answer,
                                 parsrec_error *err);
parsrec_status pr_answer_why(parsrec_scratch *own, const parsrec_request *request,
                             const parsrec_hit *hits, size_t count, parsrec_why *whys,
                             parsrec_error *err);
/* Both, for less than one after the other; whys[] has room for as many as hits[]. */
parsrec_status pr_answer_explained(parsrec_scratch *own, const parsrec_request *request,
                                   parsrec_hit *hits, size_t capacity, parsrec_why *whys,
                                   parsrec_answer *answer, parsrec_error *err);
parsrec_status pr_answer_json(parsrec_scratch *own, const char *request, size_t size,
                              size_t default_k, const char **answer, parsrec_error *err);

/* Writes the answer to a request, and the reasons if it asks for them, into own->text. */
parsrec_status pr_answer_write(parsrec_scratch *own, const json_t *user,
                               const parsrec_request *request, const parsrec_answer *answer,
                               parsrec_error *err);

/* A name, or null where it is empty. NULL when out of memory. */
json_t *pr_name_json(parsrec_name name);
json_t *pr_category_json(const parsrec_model *model, int32_t item); /* the path, or null */
/* The same as text; and an item's reasons as the field `why` of an answer. */
void pr_name_write(pr_writer *out, parsrec_name name);
void pr_why_write(pr_writer *out, const parsrec_model *model, const parsrec_why *why);

#endif
