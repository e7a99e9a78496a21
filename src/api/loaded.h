/* A loaded model and a thread's memory for it, as the files of this room share them. */
#ifndef PR_LOADED_H
#define PR_LOADED_H

#include "base/json.h"
#include "data/directory.h"
#include "data/pasts.h"
#include "explain/reasons.h"
#include "model/recommend.h"
#include "train/model_file.h"

struct parsrec_model {
    pr_model_file file;
    bool borrows_data;      /* file.data belongs to the caller */
    pr_directory directory; /* its users go on beyond the model's when pasts were taken */
    pr_pasts pasts;
};

/* Numbers that a JSON request names, kept from request to request. */
typedef struct pr_number_list {
    int32_t *list;
    size_t count, capacity;
} pr_number_list;

enum { PR_REQUEST_LISTS = 6 };

struct parsrec_scratch {
    const parsrec_model *model;
    pr_recommender recommender;
    uint8_t *marks;     /* [categories] */
    pr_reasons reasons; /* zeroed until somebody asks why */
    /* For requests as JSON: */
    pr_number_list lists[PR_REQUEST_LISTS];
    bool explain; /* the request asks why */
    parsrec_hit *hits;
    size_t hit_capacity;
    parsrec_why *whys;
    size_t why_capacity;
    char *text;
    size_t text_size, text_capacity;
};

/* How a request is answered: checks it and bars what its filters do not let through; then how its
 * session begins. */
parsrec_status pr_request_prepare(parsrec_scratch *own, const parsrec_request *request,
                                  parsrec_error *err);
pr_start pr_request_start(const parsrec_model *model, const parsrec_request *request);

/* A name, or null where it is empty; and an item's reasons as the field `why` of an answer. NULL when out
 * of memory. */
json_t *pr_name_json(parsrec_name name);
json_t *pr_why_json(const parsrec_model *model, const parsrec_why *why);

/* E_INPUT unless both have the same users and items under the same numbers. */
parsrec_status pr_same_shop(const pr_dataset *inside, const pr_dataset *data, parsrec_error *err);

#endif
