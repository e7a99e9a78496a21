/* A loaded model and a thread's memory for it, as the files of this room share them. */
#ifndef PR_LOADED_H
#define PR_LOADED_H

#include "data/directory.h"
#include "data/pasts.h"
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
    uint8_t *marks; /* [categories] */
    /* For requests as JSON: */
    pr_number_list lists[PR_REQUEST_LISTS];
    parsrec_hit *hits;
    size_t hit_capacity;
    char *text;
    size_t text_size, text_capacity;
};

#endif
