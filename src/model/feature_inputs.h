/* Which columns of sessions and users a model reads, and where their learnt parameters are. */
#ifndef PR_FEATURE_INPUTS_H
#define PR_FEATURE_INPUTS_H

#include "data/batch.h"
#include "math/shapes.h"
#include "model/config.h"

#define PR_WORD_TABLE "feature.word_emb" /* the parameter with one row per word */

typedef struct pr_feature_input {
    pr_feature_of of; /* users or sessions */
    size_t column;    /* index in its table */
    bool number;
    size_t words; /* number of known words; 0 for a numeric column */
    size_t at;    /* index among the numeric columns; or its row for unknown words, which the known
                * words follow */
} pr_feature_input;

typedef struct pr_feature_inputs {
    pr_feature_input *list;
    size_t count;
    size_t numbers, words; /* how many columns are numeric, and how many are words */
    size_t rows;           /* rows of the word table */
} pr_feature_inputs;

/* The columns that the settings switch on and that the shop has. Free with
 * pr_feature_inputs_free. */
parsrec_status pr_feature_inputs_make(pr_feature_inputs *out, const pr_config *config,
                                      const pr_shop *shop, parsrec_error *err);
void pr_feature_inputs_free(pr_feature_inputs *inputs); /* a zeroed struct is allowed */

/* A number is standardised with a mean and an inverse standard deviation, clamped to
 * PR_INPUT_BOUND, and 0 if missing; a second number is 1 if it is missing. */
enum { PR_INPUT_WIDTH = 2, PR_INPUT_SCALE = 2, PR_INPUT_BOUND = 8 };

/* Reads one session: rows[words] of the word table and values[numbers,2]. scale[numbers,2] has mean
 * and inverse standard deviation. */
void pr_feature_inputs_read(const pr_feature_inputs *inputs, const pr_known_features *known,
                            const pr_real *scale, int32_t *rows, pr_real *values);

#endif
