/* Which columns a model reads of a session and its user, and where what it has learnt of them is. */
#ifndef PR_FEATURE_INPUTS_H
#define PR_FEATURE_INPUTS_H

#include "data/batch.h"
#include "math/shapes.h"
#include "model/config.h"

#define PR_WORD_TABLE "feature.word_emb" /* the parameter with a row for every word */

typedef struct pr_feature_input {
    pr_feature_of of; /* users or sessions */
    size_t column;    /* among those of its table */
    bool number;
    size_t words; /* it knows, unless it is a number */
    size_t at; /* its place among numbers; or the row for unknown words, which the others follow */
} pr_feature_input;

typedef struct pr_feature_inputs {
    pr_feature_input *list;
    size_t count;
    size_t numbers, words; /* so many of them are numbers, and words */
    size_t rows;           /* of the table of words */
} pr_feature_inputs;

/* Those that the settings switch on and the shop has. */
parsrec_status pr_feature_inputs_make(pr_feature_inputs *out, const pr_config *config,
                                      const pr_shop *shop, parsrec_error *err);
void pr_feature_inputs_free(pr_feature_inputs *inputs); /* a zeroed one is fine */

/* A number is standardised by a mean and the inverse of a deviation, bounded, and 0 where it is unknown;
 * a second number, 1, says then that it is. */
enum { PR_INPUT_WIDTH = 2, PR_INPUT_SCALE = 2, PR_INPUT_BOUND = 8 };

/* One session: rows[words] of the table of words and values[numbers,2]. scale[numbers,2]: mean and inverse
 * of the deviation. */
void pr_feature_inputs_read(const pr_feature_inputs *inputs, const pr_known_features *known,
                            const pr_real *scale, int32_t *rows, pr_real *values);

#endif
