/* From feature columns to rows of the word table and standardised numbers. */
#include "model/feature_inputs.h"

#include <math.h>

#include "base/memory.h"

static void add(pr_feature_inputs *t, const pr_shop *shop, pr_feature_of of, size_t column)
{
    const pr_feature_column *f = &shop->features[of][column];
    pr_feature_input *input = &t->list[t->count++];
    *input = (pr_feature_input){.of = of, .column = column, .number = f->number != NULL};
    input->words = input->number ? 0 : f->values.count;
    input->at = input->number ? t->numbers++ : t->rows;
    if (input->number)
        return;
    t->words++;
    t->rows += 1 + input->words;
}

parsrec_status pr_feature_inputs_make(pr_feature_inputs *out, const pr_config *config,
                                      const pr_shop *shop, parsrec_error *err)
{
    const bool on[] = {config->features_user != 0, config->features_session != 0};
    size_t most = shop->feature_count[PR_OF_USER] + shop->feature_count[PR_OF_SESSION];
    *out = (pr_feature_inputs){.list = pr_alloc_zero(most, sizeof *out->list)};
    if (out->list == NULL)
        return pr_fail_memory(err);
    for (int of = PR_OF_USER; of <= PR_OF_SESSION; of++)
        for (size_t i = 0; on[of] && i < shop->feature_count[of]; i++)
            add(out, shop, (pr_feature_of)of, i);
    return PARSREC_OK;
}

void pr_feature_inputs_free(pr_feature_inputs *t)
{
    pr_free(t->list);
    *t = (pr_feature_inputs){0};
}

static void read_number(pr_real *values, const pr_feature_column *f, size_t row,
                        const pr_real *scale)
{
    float x = f != NULL ? f->number[row] : NAN;
    double unit = isfinite(x) ? ((double)x - (double)scale[0]) * (double)scale[1] : 0;
    values[0] = (pr_real)fmin(fmax(unit, -(double)PR_INPUT_BOUND), PR_INPUT_BOUND);
    values[1] = (pr_real)!isfinite(x);
}

void pr_feature_inputs_read(const pr_feature_inputs *t, const pr_known_features *known,
                            const pr_real *scale, int32_t *rows, pr_real *values)
{
    for (size_t i = 0, words = 0; i < t->count; i++) {
        const pr_feature_input *input = &t->list[i];
        const pr_feature_row *from = input->of == PR_OF_USER ? &known->user : &known->session;
        const pr_feature_column *f =
            input->column < from->count ? &from->columns[input->column] : NULL;
        if (input->number) {
            read_number(values + PR_INPUT_WIDTH * input->at, f, from->row,
                        scale + PR_INPUT_SCALE * input->at);
            continue;
        }
        int32_t code = f != NULL ? f->code[from->row] : -1;
        bool is_known = code >= 0 && (size_t)code < input->words;
        rows[words++] = (int32_t)input->at + (is_known ? code + 1 : 0);
    }
}
