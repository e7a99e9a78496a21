/* Which columns a model reads of a session and its user, and where what it has learnt of them is. */
#ifndef PR_TRAITS_H
#define PR_TRAITS_H

#include "data/batch.h"
#include "math/shapes.h"
#include "model/config.h"

#define PR_WORD_TABLE "feature.word_emb" /* the parameter with a row for every word */

typedef struct pr_trait {
    pr_feature_of of; /* users or sessions */
    size_t column;    /* among those of its table */
    bool number;
    size_t words; /* it knows, unless it is a number */
    size_t at; /* its place among numbers; or the row for unknown words, which the others follow */
} pr_trait;

typedef struct pr_traits {
    pr_trait *list;
    size_t count;
    size_t numbers, words; /* so many of them are numbers, and words */
    size_t rows;           /* of the table of words */
} pr_traits;

/* Those that the settings switch on and the shop has. */
parsrec_status pr_traits_make(pr_traits *out, const pr_config *config, const pr_shop *shop,
                              parsrec_error *err);
void pr_traits_free(pr_traits *traits); /* a zeroed one is fine */

/* A number is standardised by a mean and the inverse of a deviation, bounded, and 0 where it is unknown;
 * a second number, 1, says then that it is. */
enum { PR_TRAIT_INPUTS = 2, PR_TRAIT_SCALE = 2, PR_TRAIT_BOUND = 8 };

/* One session: rows[words] of the table of words and inputs[numbers,2]. scale[numbers,2]: mean and inverse
 * of the deviation. */
void pr_traits_read(const pr_traits *traits, const pr_about *about, const pr_real *scale,
                    int32_t *rows, pr_real *inputs);

#endif
