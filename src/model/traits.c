/* From columns to rows of a table and standardised numbers. */
#include "model/traits.h"

#include <math.h>

#include "base/memory.h"

static void add(pr_traits *t, const pr_shop *shop, pr_feature_of of, size_t column)
{
    const pr_feature_column *f = &shop->features[of][column];
    pr_trait *trait = &t->list[t->count++];
    *trait = (pr_trait){.of = of, .column = column, .number = f->number != NULL};
    trait->words = trait->number ? 0 : f->values.count;
    trait->at = trait->number ? t->numbers++ : t->rows;
    if (trait->number)
        return;
    t->words++;
    t->rows += 1 + trait->words;
}

parsrec_status pr_traits_make(pr_traits *out, const pr_config *config, const pr_shop *shop,
                              parsrec_error *err)
{
    const bool on[] = {config->features_user != 0, config->features_session != 0};
    size_t most = shop->feature_count[PR_OF_USER] + shop->feature_count[PR_OF_SESSION];
    *out = (pr_traits){.list = pr_alloc_zero(most, sizeof *out->list)};
    if (out->list == NULL)
        return pr_fail_memory(err);
    for (int of = PR_OF_USER; of <= PR_OF_SESSION; of++)
        for (size_t i = 0; on[of] && i < shop->feature_count[of]; i++)
            add(out, shop, (pr_feature_of)of, i);
    return PARSREC_OK;
}

void pr_traits_free(pr_traits *t)
{
    pr_free(t->list);
    *t = (pr_traits){0};
}

static void read_number(pr_real *inputs, const pr_feature_column *f, size_t row,
                        const pr_real *scale)
{
    float x = f != NULL ? f->number[row] : NAN;
    double unit = isfinite(x) ? ((double)x - (double)scale[0]) * (double)scale[1] : 0;
    inputs[0] = (pr_real)fmin(fmax(unit, -(double)PR_TRAIT_BOUND), PR_TRAIT_BOUND);
    inputs[1] = (pr_real)!isfinite(x);
}

void pr_traits_read(const pr_traits *t, const pr_about *about, const pr_real *scale, int32_t *rows,
                    pr_real *inputs)
{
    for (size_t i = 0, words = 0; i < t->count; i++) {
        const pr_trait *trait = &t->list[i];
        const pr_facts *facts = trait->of == PR_OF_USER ? &about->user : &about->session;
        const pr_feature_column *f =
            trait->column < facts->count ? &facts->columns[trait->column] : NULL;
        if (trait->number) {
            read_number(inputs + PR_TRAIT_INPUTS * trait->at, f, facts->row,
                        scale + PR_TRAIT_SCALE * trait->at);
            continue;
        }
        int32_t code = f != NULL ? f->code[facts->row] : -1;
        bool known = code >= 0 && (size_t)code < trait->words;
        rows[words++] = (int32_t)trait->at + (known ? code + 1 : 0);
    }
}
