/* Options are checked, the market and the groups drawn, the baskets made and all of it written. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/files.h"
#include "base/memory.h"
#include "base/status.h"
#include "base/threads.h"
#include "synth/synth.h"
#include "synth/truth.h"

/* ---- options ---- */

static parsrec_status in_range(const char *name, uint64_t value, uint64_t most, parsrec_error *err)
{
    if (value >= 1 && value <= most)
        return PARSREC_OK;
    return pr_fail(err, PARSREC_E_ARGUMENT, "%s must be from 1 to %llu, not %llu", name,
                   (unsigned long long)most, (unsigned long long)value);
}

/* Asked of the machine first, because Linux hands out memory it does not have. */
static parsrec_status check_memory(const parsrec_synth_options *o, parsrec_error *err)
{
    long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
    double have = pages > 0 && page > 0 ? (double)pages * (double)page : 0;
    double categories = (double)o->categories, products = (double)o->products;
    double need = pr_baskets_bytes(o) + 16 * categories * products * (products + 1) +
                  32 * categories * categories + 32 * (double)o->users;
    if (have > 0 && need > have)
        return pr_fail(err, PARSREC_E_LIMIT,
                       "synthesis of this size needs about %.1f GB of memory and this machine has "
                       "%.1f GB; ask for fewer users, sessions or products",
                       need / 1e9, have / 1e9);
    return PARSREC_OK;
}

static parsrec_status check_options(const char *out_path, const parsrec_synth_options *o,
                                    parsrec_error *err)
{
    if (out_path == NULL && o->csv_path == NULL)
        return pr_fail(err, PARSREC_E_ARGUMENT,
                       "nothing to write: name a data-set file, a CSV file or both");
    if (out_path != NULL && o->csv_path != NULL && strcmp(out_path, o->csv_path) == 0)
        return pr_fail(err, PARSREC_E_ARGUMENT,
                       "%s: the data set and the CSV cannot go to the same file", out_path);
    PR_TRY(in_range("users", o->users, PARSREC_SYNTH_USERS_MOST, err));
    PR_TRY(in_range("sessions", o->sessions, PARSREC_SYNTH_SESSIONS_MOST, err));
    PR_TRY(in_range("categories", o->categories, PARSREC_SYNTH_CATEGORIES_MOST, err));
    PR_TRY(in_range("products", o->products, PARSREC_SYNTH_PRODUCTS_MOST, err));
    if (pr_size_law_of(o->size_rule) == NULL)
        return pr_fail(err, PARSREC_E_ARGUMENT, "size rule %d is not known", (int)o->size_rule);
    if ((unsigned)o->features > PARSREC_FEATURES_ALL)
        return pr_fail(err, PARSREC_E_ARGUMENT, "features %d are not known", (int)o->features);
    return check_memory(o, err);
}

/* ---- names ---- */

/* prefix0, prefix1, ... */
static parsrec_status number_names(pr_intern *names, const char *prefix, size_t count,
                                   parsrec_error *err)
{
    for (size_t i = 0; i < count; i++) {
        char text[32];
        uint32_t number;
        int length = snprintf(text, sizeof text, "%s%zu", prefix, i);
        PR_TRY(pr_intern_add(names, (pr_slice){text, (size_t)length}, &number, err));
    }
    pr_intern_seal(names);
    return PARSREC_OK;
}

/* ---- actions as CSV, written by hand because printf would take longer than the drawing ---- */

enum { DIGITS = 20 };

static char *put_number(char *at, uint64_t value)
{
    char digits[DIGITS], *first = digits + DIGITS;
    do {
        *--first = (char)('0' + value % 10);
        value /= 10;
    } while (value > 0);
    size_t count = (size_t)(digits + DIGITS - first);
    memcpy(at, first, count);
    return at + count;
}

static parsrec_status write_session(pr_atomic_file *file, const pr_dataset *data, size_t user,
                                    size_t session, parsrec_error *err)
{
    char row[5 * DIGITS + 8];
    uint64_t time = (uint64_t)data->times[session];
    char *item = put_number(row, user); /* "user,user-time,time," begins every row */
    *item++ = ',';
    item = put_number(item, user);
    *item++ = '-';
    item = put_number(item, time);
    *item++ = ',';
    item = put_number(item, time);
    *item++ = ',';
    for (int64_t a = data->session_offsets[session]; a < data->session_offsets[session + 1]; a++) {
        char *end = put_number(item, (uint64_t)data->action_items[a]);
        *end++ = '\n';
        PR_TRY(pr_atomic_write(file, row, (size_t)(end - row), err));
    }
    return PARSREC_OK;
}

static parsrec_status write_csv(pr_atomic_file *file, const pr_dataset *data,
                                const parsrec_hooks *hooks, parsrec_error *err)
{
    static const char header[] = "user,session,time,item\n";
    PR_TRY(pr_atomic_write(file, header, strlen(header), err));
    for (size_t u = 0; u < data->users; u++) {
        if (u % 256 == 0)
            PR_TRY(pr_progress(hooks, "writing CSV", "users", u, data->users, err));
        for (int64_t s = data->user_offsets[u]; s < data->user_offsets[u + 1]; s++)
            PR_TRY(write_session(file, data, u, (size_t)s, err));
    }
    return PARSREC_OK;
}

/* ---- the run ---- */

typedef struct synthesis {
    const parsrec_synth_options *options;
    pr_groups groups;
    pr_pool *pool;
    pr_market market;
    pr_choice choice;
    pr_baskets baskets;
    pr_intern users, items, categories;
    pr_synth_columns columns;
    int32_t *item_category, *category_parent;
    char *source;
} synthesis;

static void release(synthesis *s)
{
    pr_groups_free(&s->groups);
    pr_pool_free(s->pool);
    pr_market_free(&s->market);
    pr_choice_free(&s->choice);
    pr_baskets_free(&s->baskets);
    pr_intern_free(&s->users);
    pr_intern_free(&s->items);
    pr_intern_free(&s->categories);
    pr_synth_columns_free(&s->columns);
    pr_free(s->item_category);
    pr_free(s->category_parent);
    pr_free(s->source);
}

static parsrec_status draw(synthesis *s, const char *out_path, const parsrec_hooks *hooks,
                           parsrec_error *err)
{
    const parsrec_synth_options *o = s->options;
    if (o->groups_path != NULL)
        PR_TRY(pr_groups_load(&s->groups, o->groups_path, (size_t)o->categories, err));
    else
        PR_TRY(pr_groups_builtin(&s->groups, (size_t)o->categories, err));
    PR_TRY(pr_pool_new(&s->pool, o->threads, err));
    PR_TRY(pr_market_draw(&s->market, o, s->pool, err));
    PR_TRY(pr_choice_init(&s->choice, o, s->groups.sigma, s->groups.count, err));
    return pr_baskets_draw(&s->baskets, o, &s->groups, &s->market, &s->choice, out_path != NULL,
                           out_path != NULL ? out_path : o->csv_path, s->pool, hooks, err);
}

static parsrec_status describe(synthesis *s, parsrec_error *err)
{
    size_t categories = s->market.categories, items = categories * s->market.products;
    PR_TRY(number_names(&s->users, "", s->baskets.users, err));
    PR_TRY(number_names(&s->items, "", items, err));
    PR_TRY(number_names(&s->categories, "C", categories, err));
    s->item_category = pr_alloc(items, sizeof *s->item_category);
    s->category_parent = pr_alloc(categories, sizeof *s->category_parent);
    s->source = pr_truth_source(s->options);
    if (s->item_category == NULL || s->category_parent == NULL || s->source == NULL)
        return pr_fail_memory(err);
    for (size_t i = 0; i < items; i++)
        s->item_category[i] = (int32_t)(i / s->market.products);
    for (size_t c = 0; c < categories; c++)
        s->category_parent[c] = -1;
    return pr_synth_columns_make(&s->columns, s->options, &s->baskets, &s->market, &s->choice,
                                 &s->groups.names, err);
}

static pr_dataset dataset_view(const synthesis *s)
{
    static const int64_t none[1] = {0};
    const pr_baskets *b = &s->baskets;
    return (pr_dataset){
        .users = b->users,
        .sessions = b->sessions,
        .items = s->items.count,
        .actions = b->actions,
        .user_offsets = b->user_offsets,
        .session_offsets = b->session_offsets,
        .action_items = b->items,
        .times = b->times,
        .time_kind = PARSREC_TIME_ORDINAL,
        .user_keys = pr_intern_view(&s->users),
        .item_keys = pr_intern_view(&s->items),
        .item_names = {"", none, 0},
        .categories = s->categories.count,
        .category_names = pr_intern_view(&s->categories),
        .category_parent = s->category_parent,
        .item_category = s->item_category,
        .source = s->source,
        .views = b->views,
        .view_count = PR_BASKET_FILES,
    };
}

static parsrec_status save(const synthesis *s, const pr_dataset *data, const char *path,
                           parsrec_error *err)
{
    pr_truth truth = {
        .users = data->users,
        .items = data->items,
        .groups = s->groups.count,
        .categories = s->market.categories,
        .products = s->market.products,
        .group_names = pr_intern_view(&s->groups.names),
        .group = s->baskets.group,
        .sigma = s->groups.sigma,
        .alpha = s->choice.alpha,
        .base_utility = s->baskets.base,
        .price = s->market.price,
        .base_price = s->market.base_price,
        .product_correlation = s->market.correlation,
    };
    pr_tensor tensors[PR_TRUTH_MOST_TENSORS];
    return pr_dataset_save(data, tensors, pr_truth_tensors(&truth, tensors), path, err);
}

/* The CSV appears after the data set is safe, so that a failure leaves neither. */
static parsrec_status write_files(synthesis *s, const char *out_path, pr_atomic_file **csv,
                                  const parsrec_hooks *hooks, parsrec_error *err)
{
    pr_dataset data = dataset_view(s);
    pr_synth_columns_view(&data, &s->columns);
    if (*csv != NULL) {
        PR_TRY(write_csv(*csv, &data, hooks, err));
        PR_TRY(pr_atomic_flush(*csv, err));
    }
    if (out_path != NULL)
        PR_TRY(save(s, &data, out_path, err));
    pr_atomic_file *complete = *csv;
    *csv = NULL;
    return complete != NULL ? pr_atomic_commit(complete, err) : PARSREC_OK;
}

parsrec_synth_options parsrec_synth_default(void)
{
    return (parsrec_synth_options){
        .users = 1024, .sessions = 100, .categories = 20, .products = 100, .seed = 1};
}

parsrec_status parsrec_synth(const char *out_path, const parsrec_synth_options *options,
                             parsrec_synth_report *report, const parsrec_hooks *hooks,
                             parsrec_error *err)
{
    parsrec_synth_options defaults = parsrec_synth_default();
    parsrec_synth_report unseen;
    options = options != NULL ? options : &defaults;
    report = report != NULL ? report : &unseen;
    PR_TRY(check_options(out_path, options, err));
    synthesis s = {.options = options};
    pr_atomic_file *csv = NULL;
    parsrec_status status;
    if (options->csv_path != NULL)
        PR_TRY_GOTO(pr_atomic_open(&csv, options->csv_path, err));
    PR_TRY_GOTO(draw(&s, out_path, hooks, err));
    PR_TRY_GOTO(describe(&s, err));
    PR_TRY_GOTO(write_files(&s, out_path, &csv, hooks, err));
    *report = (parsrec_synth_report){.users = s.baskets.users,
                                     .sessions = s.baskets.sessions,
                                     .items = s.items.count,
                                     .actions = s.baskets.actions,
                                     .groups = s.groups.count};
done:
    pr_atomic_abort(csv);
    release(&s);
    return status;
}
