/* Tables of bounded size: a million actions, spread over all users, say enough. */
#include "data/basket_order.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/rng.h"
#include "base/xxh3.h"
#include "data/split.h"

enum {
    PAIRS_MOST = 1 << 20,
    SLOTS = 2 * PAIRS_MOST,
    HITS_LEAST = 100, /* of what chance gives: fewer say nothing */
};

/* Fixed pairs are counted among the TOP most frequent items, in CLASSES classes of basket size. */
enum { TOP = 256, CLASSES = 8, BASKET_MOST = 256 };
enum { TOGETHER_LEAST = 10, REPEATED_LEAST = 20, COMPARED_LEAST = 100 };
static const double always = 0.95, sorted_least = 0.75, fixed_least = 0.20, kept_least = 0.80;

enum { BY_NUMBER, BY_KEY, BY_NAME, COLUMNS };

typedef struct counting {
    const pr_dataset *data;
    uint64_t *slots; /* pairs as pair_of has them, never 0; 0: empty */
    int16_t *place;  /* [items]: among the TOP, or -1 */
    uint32_t *table; /* [CLASSES · TOP · TOP]: baskets with row before column */
    double *number;  /* [items]: the key as a number, NaN if it is not one; NULL without keys */
    pr_rng rng;
    pr_order_facts facts;
} counting;

/* ---- neighbours that occur again ---- */

static uint64_t pair_of(int32_t a, int32_t b)
{
    return ((uint64_t)(uint32_t)a << 32 | (uint32_t)b) + 1;
}

static uint64_t *slot_of(const counting *c, uint64_t pair)
{
    size_t at = XXH3_64bits_withSeed(&pair, sizeof pair, pr_name_seed()) % SLOTS;
    while (c->slots[at] != 0 && c->slots[at] != pair)
        at = (at + 1) % SLOTS;
    return &c->slots[at];
}

/* In baskets of two every other item is the neighbour. */
static void compare(counting *c, const int32_t *items, size_t n, uint32_t session)
{
    pr_stream stream = pr_stream_at(&c->rng, session, 0, 0);
    for (size_t i = 0; i + 1 < n && n > 2; i++) {
        size_t other = pr_stream_below(&stream, (uint32_t)n - 1);
        other += other >= i;
        c->facts.pairs++;
        c->facts.neighbours += *slot_of(c, pair_of(items[i], items[i + 1])) != 0;
        c->facts.others += *slot_of(c, pair_of(items[i], items[other])) != 0;
    }
}

/* ---- columns that sort ---- */

/* As most programs sort text for people: letters alike, small or capital. */
static int compare_text(pr_slice a, pr_slice b)
{
    size_t n = a.size < b.size ? a.size : b.size;
    for (size_t i = 0; i < n; i++) {
        int x = tolower((unsigned char)a.bytes[i]), y = tolower((unsigned char)b.bytes[i]);
        if (x != y)
            return x < y ? -1 : 1;
    }
    return (a.size > b.size) - (a.size < b.size);
}

static void note(pr_order_facts *f, size_t column, int order)
{
    f->compared[column] += order != 0;
    f->ascending[column] += order < 0;
}

static void compare_columns(counting *c, const int32_t *items, size_t n)
{
    const pr_dataset *d = c->data;
    for (size_t i = 0; i + 1 < n; i++) {
        size_t a = (size_t)items[i], b = (size_t)items[i + 1];
        if (c->number != NULL)
            note(&c->facts, BY_NUMBER, /* 0 with a NaN */
                 (c->number[a] > c->number[b]) - (c->number[a] < c->number[b]));
        if (d->item_keys.count > 0)
            note(&c->facts, BY_KEY,
                 compare_text(pr_name(&d->item_keys, a), pr_name(&d->item_keys, b)));
        if (d->item_names.count > 0)
            note(&c->facts, BY_NAME,
                 compare_text(pr_name(&d->item_names, a), pr_name(&d->item_names, b)));
    }
}

static parsrec_status read_numbers(counting *c, parsrec_error *err)
{
    const pr_dataset *d = c->data;
    if (d->item_keys.count == 0)
        return PARSREC_OK;
    c->number = pr_alloc(d->items, sizeof *c->number);
    if (c->number == NULL)
        return pr_fail_memory(err);
    for (size_t i = 0; i < d->items; i++)
        if (!pr_parse_f64(pr_name(&d->item_keys, i), &c->number[i]))
            c->number[i] = NAN;
    return PARSREC_OK;
}

/* ---- pairs in a fixed order ---- */

typedef struct ranked {
    int64_t count;
    int32_t item;
} ranked;

static int most_first(const void *left, const void *right)
{
    const ranked *a = left, *b = right;
    if (a->count != b->count)
        return a->count > b->count ? -1 : 1;
    return (a->item > b->item) - (a->item < b->item);
}

static parsrec_status find_top(counting *c, parsrec_error *err)
{
    const pr_dataset *d = c->data;
    ranked *items = pr_alloc_zero(d->items, sizeof *items);
    if (items == NULL)
        return pr_fail_memory(err);
    for (size_t i = 0; i < d->items; i++) {
        items[i].item = (int32_t)i;
        c->place[i] = -1;
    }
    for (size_t a = 0; a < d->actions; a++)
        items[d->action_items[a]].count++;
    qsort(items, d->items, sizeof *items, most_first);
    for (size_t i = 0; i < d->items && i < TOP; i++)
        c->place[items[i].item] = (int16_t)i;
    pr_free(items);
    return PARSREC_OK;
}

static uint32_t *cell(const counting *c, size_t class, size_t first, size_t second)
{
    return &c->table[(class * TOP + first) * TOP + second];
}

/* Baskets of 2 to 3 items are class 0, of 4 to 7 class 1, ... */
static size_t class_of(size_t size)
{
    size_t class = 0;
    while (size >= 4 && class + 1 < CLASSES) {
        size /= 2;
        class ++;
    }
    return class;
}

/* Neighbours are left out: that filters follow coffee is a habit, but a habit does not order what
 * is far away, as a sort leaves it. */
static void count_pairs(counting *c, const int32_t *items, size_t n)
{
    size_t known[BASKET_MOST], count = 0; /* where the TOP items stand */
    for (size_t i = 0; i < n && count < BASKET_MOST; i++)
        if (c->place[items[i]] >= 0)
            known[count++] = i;
    size_t class = class_of(n);
    for (size_t i = 0; i < count; i++)
        for (size_t j = i + 1; j < count; j++)
            if (known[j] > known[i] + 1)
                ++*cell(c, class, (size_t)c->place[items[known[i]]],
                        (size_t)c->place[items[known[j]]]);
}

/* How many pairs n baskets make. */
static uint64_t pairs_of(uint64_t n)
{
    return n > 1 ? n * (n - 1) / 2 : 0;
}

static void judge_pairs(counting *c)
{
    for (size_t class = 0; class < CLASSES; class ++)
        for (size_t i = 0; i < TOP; i++)
            for (size_t j = i + 1; j < TOP; j++) {
                uint64_t one = *cell(c, class, i, j), other = *cell(c, class, j, i);
                double most = (double)(one > other ? one : other), all = (double)(one + other);
                c->facts.frequent += all >= TOGETHER_LEAST;
                c->facts.fixed += all >= TOGETHER_LEAST && most >= always * all;
                c->facts.repeated += all >= 2;
                c->facts.compared_baskets += pairs_of(one + other);
                c->facts.kept += pairs_of(one) + pairs_of(other);
            }
}

/* ---- the walk ---- */

/* Every step-th user, so that all of the data has its say. */
static void count_all(counting *c, size_t last)
{
    const pr_dataset *data = c->data;
    size_t step = (size_t)data->actions / PAIRS_MOST + 1;
    uint64_t left = PAIRS_MOST;
    for (size_t u = 0; u < data->users; u += step)
        for (int64_t s = data->user_offsets[u]; s < pr_split_train_end(data, u, last); s++) {
            const int32_t *items = data->action_items + data->session_offsets[s];
            size_t n = (size_t)(data->session_offsets[s + 1] - data->session_offsets[s]);
            if (n > left)
                return;
            left -= n;
            compare(c, items, n, (uint32_t)s);
            for (size_t i = 0; i + 1 < n; i++) {
                uint64_t pair = pair_of(items[i], items[i + 1]);
                *slot_of(c, pair) = pair;
            }
            compare_columns(c, items, n);
            count_pairs(c, items, n);
        }
}

parsrec_status pr_order_count(pr_order_facts *out, const pr_dataset *data, size_t last,
                              parsrec_error *err)
{
    counting c = {.data = data,
                  .slots = pr_alloc_zero(SLOTS, sizeof *c.slots),
                  .place = pr_alloc(data->items, sizeof *c.place),
                  .table = pr_alloc_zero((size_t)CLASSES * TOP * TOP, sizeof *c.table),
                  .rng = pr_rng_make(1, UINT64_C(0x6F72646572))}; /* "order" */
    parsrec_status status =
        c.slots != NULL && c.place != NULL && c.table != NULL ? PARSREC_OK : pr_fail_memory(err);
    if (status == PARSREC_OK)
        status = find_top(&c, err);
    if (status == PARSREC_OK)
        status = read_numbers(&c, err);
    if (status == PARSREC_OK) {
        count_all(&c, last);
        judge_pairs(&c);
        *out = c.facts;
    }
    pr_free(c.slots);
    pr_free(c.place);
    pr_free(c.table);
    pr_free(c.number);
    return status;
}

/* ---- what it means ---- */

static double share_of_column(const pr_order_facts *f, size_t column)
{
    uint64_t descending = f->compared[column] - f->ascending[column];
    uint64_t most = f->ascending[column] > descending ? f->ascending[column] : descending;
    return f->compared[column] > 0 ? (double)most / (double)f->compared[column] : 0;
}

double pr_order_sorted_share(const pr_order_facts *facts)
{
    double most = 0;
    for (size_t i = 0; i < COLUMNS; i++) {
        double share = share_of_column(facts, i);
        most = share > most ? share : most;
    }
    return most;
}

double pr_order_fixed_share(const pr_order_facts *facts)
{
    return facts->frequent > 0 ? (double)facts->fixed / (double)facts->frequent : 0;
}

double pr_order_kept_share(const pr_order_facts *facts)
{
    return facts->compared_baskets > 0 ? (double)facts->kept / (double)facts->compared_baskets : 0;
}

parsrec_basket_order pr_order_found(const pr_order_facts *facts)
{
    static const parsrec_basket_order kinds[COLUMNS] = {PARSREC_ORDER_NUMBER, PARSREC_ORDER_KEY,
                                                        PARSREC_ORDER_NAME};
    for (size_t i = 0; i < COLUMNS; i++)
        if (facts->compared[i] >= COMPARED_LEAST && share_of_column(facts, i) >= sorted_least)
            return kinds[i];
    if (facts->repeated < REPEATED_LEAST)
        return PARSREC_ORDER_UNKNOWN;
    bool fixed =
        facts->frequent >= PR_ORDER_FREQUENT_LEAST && pr_order_fixed_share(facts) >= fixed_least;
    return fixed || pr_order_kept_share(facts) >= kept_least ? PARSREC_ORDER_FIXED
                                                             : PARSREC_ORDER_FREE;
}

bool pr_order_informative(const pr_order_facts *facts)
{
    return pr_order_found(facts) == PARSREC_ORDER_FREE && facts->others >= HITS_LEAST &&
           facts->neighbours * 5 > facts->others * 6;
}

parsrec_status parsrec_data_order(const parsrec_data *data, parsrec_order_report *report,
                                  parsrec_error *err)
{
    if (data == NULL || report == NULL)
        return pr_fail(err, PARSREC_E_ARGUMENT, "parsrec_data_order needs data and a report");
    pr_order_facts facts;
    PR_TRY(pr_order_count(&facts, data, 1, err));
    *report = (parsrec_order_report){
        .order = pr_order_found(&facts),
        .sorted_share = pr_order_sorted_share(&facts),
        .pairs = facts.frequent,
        .fixed_share = pr_order_fixed_share(&facts),
        .neighbour_ratio =
            facts.others >= HITS_LEAST ? (double)facts.neighbours / (double)facts.others : 0,
        .learnt = pr_order_informative(&facts),
        .enough_pairs = facts.frequent >= PR_ORDER_FREQUENT_LEAST,
        .repeated_pairs = facts.repeated,
        .kept_share = pr_order_kept_share(&facts),
    };
    return PARSREC_OK;
}

/* ---- words ---- */

static const struct {
    const char *name, *text;
} orders[] = {
    [PARSREC_ORDER_UNKNOWN] = {"unknown",
                               "not known: too few pairs of items occur together more than once"},
    [PARSREC_ORDER_FREE] = {"free", "in no fixed order"},
    [PARSREC_ORDER_NUMBER] = {"number", "sorted by product number"},
    [PARSREC_ORDER_KEY] = {"key", "sorted by item key"},
    [PARSREC_ORDER_NAME] = {"name", "sorted by item name"},
    [PARSREC_ORDER_FIXED] = {"fixed", "in one fixed order, as a sort or a hash table leaves them"},
};

const char *parsrec_basket_order_name(parsrec_basket_order order)
{
    return (size_t)order < sizeof orders / sizeof *orders ? orders[order].name : "unknown";
}

const char *parsrec_basket_order_text(parsrec_basket_order order)
{
    return orders[(size_t)order < sizeof orders / sizeof *orders ? order : 0].text;
}
