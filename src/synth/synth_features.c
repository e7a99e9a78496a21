/* Features, informative and not: each value is a function of the seed and of what it belongs to. */
#include "synth/synth.h"

#include <math.h>
#include <stdio.h>

#include "base/memory.h"

enum { SIGNS = 12, WEATHERS = 4, COLOURS = 6 };

/* All that a value can depend on. */
typedef struct facts {
    const pr_baskets *baskets;
    const pr_market *market;
    const pr_choice *choice;
    uint32_t groups;
} facts;

/* The value of one thing; `draw` has the numbers of its place for the column. */
typedef double value_of(const facts *f, pr_stream *draw, size_t user, size_t thing);

/* One in ten is unknown. */
static bool unknown(pr_stream *draw)
{
    return pr_stream_below(draw, 10) == 0;
}

/* ---- informative ---- */

static double income(const facts *f, pr_stream *draw, size_t user, size_t thing)
{
    (void)thing;
    double value = 30 + 10 * (f->baskets->group[user] + pr_stream_normal(draw));
    return unknown(draw) ? (double)NAN : value;
}

/* One in ten is any group. */
static double segment(const facts *f, pr_stream *draw, size_t user, size_t thing)
{
    (void)thing;
    uint32_t other = pr_stream_below(draw, f->groups);
    double group = pr_stream_below(draw, 10) == 0 ? (double)other : (double)f->baskets->group[user];
    return unknown(draw) ? -1 : group;
}

static double occasion(const facts *f, pr_stream *draw, size_t user, size_t session)
{
    (void)draw;
    size_t trip = (size_t)f->baskets->times[session];
    return (double)pr_draw_occasion(f->choice, user, trip);
}

static double brand(const facts *f, pr_stream *draw, size_t user, size_t item)
{
    (void)draw, (void)user;
    return f->market->brand[item];
}

static double price(const facts *f, pr_stream *draw, size_t user, size_t item)
{
    (void)draw, (void)user;
    return f->market->price[item];
}

/* ---- uninformative ---- */

static double normal(const facts *f, pr_stream *draw, size_t user, size_t thing)
{
    (void)f, (void)user, (void)thing;
    double value = pr_stream_normal(draw);
    return unknown(draw) ? (double)NAN : value;
}

static double any_of(pr_stream *draw, uint32_t words)
{
    double word = pr_stream_below(draw, words);
    return unknown(draw) ? -1 : word;
}

static double sign(const facts *f, pr_stream *draw, size_t user, size_t thing)
{
    (void)f, (void)user, (void)thing;
    return any_of(draw, SIGNS);
}

static double weather(const facts *f, pr_stream *draw, size_t user, size_t thing)
{
    (void)f, (void)user, (void)thing;
    return any_of(draw, WEATHERS);
}

static double colour(const facts *f, pr_stream *draw, size_t user, size_t thing)
{
    (void)f, (void)user, (void)thing;
    return any_of(draw, COLOURS);
}

/* ---- the columns, each table's by name ---- */

static const struct column {
    pr_feature_of of;
    parsrec_synth_features kind;
    const char *name;
    size_t words; /* 0: numbers; SIZE_MAX: the groups' names */
    value_of *value;
} columns[] = {
    {PR_OF_USER, PARSREC_FEATURES_SIGNAL, "income", 0, income},
    {PR_OF_USER, PARSREC_FEATURES_SIGNAL, "segment", SIZE_MAX, segment},
    {PR_OF_USER, PARSREC_FEATURES_NOISE, "shoe_size", 0, normal},
    {PR_OF_USER, PARSREC_FEATURES_NOISE, "star_sign", SIGNS, sign},
    {PR_OF_SESSION, PARSREC_FEATURES_NOISE, "hour", 0, normal},
    {PR_OF_SESSION, PARSREC_FEATURES_SIGNAL, "occasion", PR_SYNTH_OCCASIONS, occasion},
    {PR_OF_SESSION, PARSREC_FEATURES_NOISE, "weather", WEATHERS, weather},
    {PR_OF_ITEM, PARSREC_FEATURES_SIGNAL, "brand", PR_SYNTH_BRANDS, brand},
    {PR_OF_ITEM, PARSREC_FEATURES_NOISE, "colour", COLOURS, colour},
    {PR_OF_ITEM, PARSREC_FEATURES_SIGNAL, "price", 0, price},
    {PR_OF_ITEM, PARSREC_FEATURES_NOISE, "weight", 0, normal},
};
enum { COLUMNS = sizeof columns / sizeof *columns };

/* ---- making them ---- */

static size_t rows_of(const facts *f, pr_feature_of of)
{
    if (of == PR_OF_ITEM)
        return f->market->categories * f->market->products;
    return of == PR_OF_USER ? f->baskets->users : f->baskets->sessions;
}

/* brand0, brand1, ...; or the names of the groups. */
static parsrec_status make_words(pr_intern *words, const struct column *c, const pr_intern *groups,
                                 parsrec_error *err)
{
    size_t count = c->words == SIZE_MAX ? groups->count : c->words;
    for (size_t i = 0; i < count; i++) {
        char text[32];
        uint32_t number;
        int length = snprintf(text, sizeof text, "%s%zu", c->name, i);
        pr_slice word =
            c->words == SIZE_MAX ? pr_intern_name(groups, i) : (pr_slice){text, (size_t)length};
        PR_TRY(pr_intern_add(words, word, &number, err));
    }
    pr_intern_seal(words);
    return PARSREC_OK;
}

static void fill(float *number, int32_t *code, size_t which, const facts *f, uint64_t seed)
{
    const struct column *c = &columns[which];
    static const int purposes[] = {PR_SYNTH_USER_FEATURE, PR_SYNTH_SESSION_FEATURE,
                                   PR_SYNTH_ITEM_FEATURE};
    pr_rng rng = pr_rng_make(seed, (uint64_t)purposes[c->of]);
    size_t things = c->of == PR_OF_ITEM ? rows_of(f, PR_OF_ITEM) : f->baskets->users;
    for (size_t i = 0; i < things; i++) {
        int64_t first = c->of == PR_OF_SESSION ? f->baskets->user_offsets[i] : (int64_t)i;
        int64_t end = c->of == PR_OF_SESSION ? f->baskets->user_offsets[i + 1] : first + 1;
        for (int64_t row = first; row < end; row++) {
            uint32_t trip = c->of == PR_OF_SESSION ? (uint32_t)f->baskets->times[row] : 0;
            pr_stream draw = pr_stream_at(&rng, (uint32_t)i, trip, (uint32_t)which);
            double value = c->value(f, &draw, i, (size_t)row);
            if (number != NULL)
                number[row] = (float)value;
            else
                code[row] = (int32_t)value;
        }
    }
}

static parsrec_status add(pr_synth_columns *out, size_t which, const facts *f,
                          const pr_intern *groups, uint64_t seed, parsrec_error *err)
{
    const struct column *c = &columns[which];
    size_t at = out->count[c->of]++, rows = rows_of(f, c->of);
    pr_feature_column *feature = &out->list[c->of][at];
    float *number = c->words == 0 ? pr_alloc(rows, sizeof *number) : NULL;
    int32_t *code = c->words > 0 ? pr_alloc(rows, sizeof *code) : NULL;
    *feature =
        (pr_feature_column){.name = (char *)(uintptr_t)c->name, .number = number, .code = code};
    if (number == NULL && code == NULL)
        return pr_fail_memory(err);
    fill(number, code, which, f, seed);
    if (code == NULL)
        return PARSREC_OK;
    PR_TRY(make_words(&out->words[c->of][at], c, groups, err));
    feature->values = pr_intern_view(&out->words[c->of][at]);
    return PARSREC_OK;
}

parsrec_status pr_synth_columns_make(pr_synth_columns *out, const parsrec_synth_options *options,
                                     const pr_baskets *baskets, const pr_market *market,
                                     const pr_choice *choice, const pr_intern *groups,
                                     parsrec_error *err)
{
    facts f = {baskets, market, choice, (uint32_t)groups->count};
    *out = (pr_synth_columns){0};
    for (size_t i = 0; i < COLUMNS; i++)
        if ((options->features & columns[i].kind) != 0)
            PR_TRY(add(out, i, &f, groups, options->seed, err));
    return PARSREC_OK;
}

void pr_synth_columns_free(pr_synth_columns *c)
{
    for (int of = 0; of < PR_FEATURE_TABLES; of++)
        for (size_t i = 0; i < c->count[of]; i++) {
            pr_free((void *)(uintptr_t)c->list[of][i].number);
            pr_free((void *)(uintptr_t)c->list[of][i].code);
            pr_intern_free(&c->words[of][i]);
        }
    *c = (pr_synth_columns){0};
}

void pr_synth_columns_view(pr_dataset *data, pr_synth_columns *c)
{
    for (int of = 0; of < PR_FEATURE_TABLES; of++) {
        data->features[of] = c->list[of];
        data->feature_count[of] = c->count[of];
    }
}
