/* A memory of pairs: classes, priors by maximum likelihood, and what a basket makes of them. */
#include "model/pairs.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "math/wide.h"

/* ---- the likelihood of a user's lift ----
 *
 * Of a user's s sessions a contain one class, b the other and x both. With a lift l the four cells
 * of that table are expected to be m = l a b / s, a - m, b - m and s - a - b + m, and the log
 * likelihood of l is the sum of observed count times log of expected. (s - 1) / s makes its variance
 * the one that x has when a and b are given. */

typedef struct table {
    pr_real sessions, a, b, both;
} table;

/* Ratios of a user's lift to everybody's: 2^-1.5 to 2^1.5, and a lane that is never used. */
static const pr_real ratios[PR_PAIR_PRIOR] = {
    (pr_real)0.35355339, (pr_real)0.5, (pr_real)0.70710678, (pr_real)1,
    (pr_real)1.41421356, (pr_real)2,   (pr_real)2.82842712, (pr_real)1};

/* likelihood[PR_PAIR_PRIOR] of each ratio, the largest being 1. False if the table says nothing: a
 * margin leaves no choice. */
static bool likelihoods(pr_real *likelihood, const table *t, pr_real lift)
{
    const pr_real edge = (pr_real)0.05; /* of a cell, at least */
    pr_real s = t->sessions, rest = s - t->a - t->b;
    pr_real least = (rest < 0 ? -rest : 0) + edge;
    pr_real most = (t->a < t->b ? t->a : t->b) - edge;
    pr_real expected = lift * t->a * t->b / s;
    if (!(most - least > edge))
        return false;
    pr_real log_of[PR_PAIR_PRIOR], top;
    for (size_t i = 0; i < PR_PAIR_PRIOR; i++) {
        pr_real m = expected * ratios[i];
        m = m < least ? least : m > most ? most : m;
        log_of[i] = (t->both * pr_ln(m) + (t->a - t->both) * pr_ln(t->a - m) +
                     (t->b - t->both) * pr_ln(t->b - m) + (rest + t->both) * pr_ln(rest + m)) *
                    (s - 1) / s;
    }
    top = log_of[0];
    for (size_t i = 1; i < PR_PAIR_RATIOS; i++)
        top = log_of[i] > top ? log_of[i] : top;
    for (size_t i = 0; i < PR_PAIR_PRIOR; i++)
        likelihood[i] = pr_exp(log_of[i] - top);
    return true;
}

/* log of the mean ratio under the posterior over the mean under the prior. */
static pr_real log_ratio(const pr_real *prior, const table *t)
{
    pr_real likelihood[PR_PAIR_PRIOR], mean = 0, total = 0, before = 0, all = 0;
    if (!likelihoods(likelihood, t, pr_exp(prior[0])))
        return 0;
    for (size_t i = 0; i < PR_PAIR_RATIOS; i++) {
        pr_real w = prior[1 + i], posterior = w * likelihood[i];
        mean += posterior * ratios[i];
        total += posterior;
        before += w * ratios[i];
        all += w;
    }
    /* Far from all ratios that have a weight, nothing is left in single precision. */
    return total > (pr_real)1e-30 ? pr_ln(mean * all / (total * before)) : 0;
}

/* ---- classes ---- */

static size_t depth_of(const pr_category_tree *tree, int32_t category)
{
    size_t depth = 0;
    while ((category = tree->parent[category]) >= 0)
        depth++;
    return depth;
}

/* The category itself or the one above it at this depth. */
static int32_t at_depth(const pr_category_tree *tree, int32_t category, size_t depth)
{
    for (size_t d = depth_of(tree, category); d > depth; d--)
        category = tree->parent[category];
    return category;
}

/* Numbers the categories that items have at a depth; returns how many. number[categories]. */
static size_t number_level(uint32_t *number, const pr_category_tree *tree, size_t V, size_t depth)
{
    size_t count = 0;
    for (size_t c = 0; c < tree->categories; c++)
        number[c] = UINT32_MAX;
    for (size_t v = 0; v < V; v++)
        if (tree->item_category[v] >= 0) {
            uint32_t *n = &number[at_depth(tree, tree->item_category[v], depth)];
            if (*n == UINT32_MAX)
                *n = (uint32_t)count++;
        }
    return count;
}

/* The deepest level of the tree that has at most `classes` categories is used; items have no class
 * where even the top has more. Returns how many classes there are. */
static parsrec_status choose_classes(const pr_pair_memory *pairs, size_t *count,
                                     const pr_category_tree *tree, parsrec_error *err)
{
    size_t depth = 0, found = 0;
    *count = 0;
    for (size_t v = 0; v < pairs->items; v++)
        pairs->class_of[v] = (uint32_t)pairs->classes;
    if (tree->categories == 0)
        return PARSREC_OK;
    uint32_t *number = pr_alloc(tree->categories, sizeof *number);
    if (number == NULL)
        return pr_fail_memory(err);
    for (size_t c = 0; c < tree->categories; c++) {
        size_t d = depth_of(tree, (int32_t)c);
        depth = d > depth ? d : depth;
    }
    while ((found = number_level(number, tree, pairs->items, depth)) > pairs->classes && depth > 0)
        depth--;
    for (size_t v = 0; found <= pairs->classes && v < pairs->items; v++)
        if (tree->item_category[v] >= 0)
            pairs->class_of[v] = number[at_depth(tree, tree->item_category[v], depth)];
    *count = found <= pairs->classes ? found : 0;
    pr_free(number);
    return PARSREC_OK;
}

/* ---- priors ---- */

enum {
    USERS_MOST = 4096, /* more say nothing new about how users spread */
    SESSIONS_MOST = UINT16_MAX,
    ROUNDS = 30, /* of expectation and maximisation */
    CHANCE = 5,  /* co-purchases by chance that everybody's lift is shrunk by */
};

typedef struct counting {
    const pr_pair_memory *pairs;
    size_t users, count; /* of classes */
    uint16_t *sessions;  /* [users] */
    uint16_t *bought;    /* [count,users] */
    uint16_t *both;      /* [pairs,users] */
    pr_real *work;       /* [threads,users,PR_PAIR_PRIOR] */
    bool *personal;      /* [pairs] */
} counting;

static uint64_t classes_in(const uint32_t *class_of, size_t classes, const int32_t *items, size_t n)
{
    uint64_t set = 0;
    for (size_t i = 0; i < n; i++)
        if (class_of[items[i]] < classes)
            set |= UINT64_C(1) << class_of[items[i]];
    return set;
}

static size_t lowest(uint64_t set)
{
    return (size_t)__builtin_ctzll(set);
}

static void count_session(counting *c, size_t user, uint64_t set)
{
    c->sessions[user]++;
    for (uint64_t left = set; left != 0; left &= left - 1) {
        size_t a = lowest(left);
        c->bought[a * c->users + user]++;
        for (uint64_t below = set & ((UINT64_C(1) << a) - 1); below != 0; below &= below - 1)
            c->both[pr_pair_row(a, lowest(below)) * c->users + user]++;
    }
}

/* Users with two sessions or more, evenly spread over all of them. */
static void count_users(counting *c, const pr_counted *from, const uint32_t *chosen)
{
    const pr_dataset *data = from->data;
    for (size_t i = 0; i < c->users; i++) {
        int64_t first = data->user_offsets[chosen[i]], end = pr_counted_end(from, chosen[i]);
        if (end - first > SESSIONS_MOST)
            first = end - SESSIONS_MOST;
        for (int64_t s = first; s < end; s++) {
            int64_t at = data->session_offsets[s];
            size_t n = (size_t)(data->session_offsets[s + 1] - at);
            count_session(
                c, i,
                classes_in(c->pairs->class_of, c->pairs->classes, data->action_items + at, n));
        }
    }
}

static table table_of(const counting *c, size_t a, size_t b, size_t user)
{
    return (table){c->sessions[user], c->bought[a * c->users + user],
                   c->bought[b * c->users + user], c->both[pr_pair_row(a, b) * c->users + user]};
}

/* The weights of the ratios that make the users' tables most likely, and by how much, in log
 * likelihood, over a lift that is the same for all. */
static double fit_weights(pr_real *weights, const pr_real *likelihood, size_t users)
{
    enum { ALIKE = PR_PAIR_RATIOS / 2 };
    double w[PR_PAIR_RATIOS], gain = 0;
    for (size_t k = 0; k < PR_PAIR_RATIOS; k++)
        w[k] = 1.0 / PR_PAIR_RATIOS;
    for (size_t round = 0; round < ROUNDS; round++) {
        double share[PR_PAIR_RATIOS] = {0};
        gain = 0;
        for (size_t u = 0; u < users; u++) {
            const pr_real *l = likelihood + u * PR_PAIR_PRIOR;
            double own[PR_PAIR_RATIOS], total = 0;
            for (size_t k = 0; k < PR_PAIR_RATIOS; k++)
                total += own[k] = w[k] * (double)l[k];
            for (size_t k = 0; k < PR_PAIR_RATIOS; k++)
                share[k] += own[k] / total;
            if (round + 1 == ROUNDS)
                gain += log(total) - log(fmax((double)l[ALIKE], 1e-30));
        }
        for (size_t k = 0; k < PR_PAIR_RATIOS; k++)
            w[k] = share[k] / (double)users;
    }
    for (size_t k = 0; k < PR_PAIR_RATIOS; k++)
        weights[k] = (pr_real)w[k];
    return gain;
}

static void count_pair(const counting *c, size_t a, size_t b, pr_real *likelihood)
{
    double both = 0, expected = 0;
    size_t used = 0;
    for (size_t u = 0; u < c->users; u++) {
        table t = table_of(c, a, b, u);
        if (t.a == 0 || t.b == 0)
            continue;
        both += (double)t.both;
        expected += (double)t.a * (double)t.b / (double)t.sessions;
    }
    if (expected == 0)
        return;
    pr_real *prior = c->pairs->priors + pr_pair_row(a, b) * PR_PAIR_PRIOR;
    pr_real lift = (pr_real)((both + CHANCE) / (expected + CHANCE));
    prior[0] = pr_ln(lift);
    for (size_t u = 0; u < c->users; u++) {
        table t = table_of(c, a, b, u);
        if (t.a > 0 && t.b > 0 && likelihoods(likelihood + used * PR_PAIR_PRIOR, &t, lift))
            used++;
    }
    if (used == 0)
        return;
    double gain = fit_weights(prior + 1, likelihood, used);
    /* Schwarz: half of log n for each free weight; and chance picks among all pairs. */
    double worth = 0.5 * (PR_PAIR_RATIOS - 1) * log((double)used);
    bool differ = gain > worth + log((double)pr_pair_count(c->count));
    c->personal[pr_pair_row(a, b)] = differ;
    if (!differ)
        memset(prior + 1, 0, PR_PAIR_RATIOS * sizeof *prior);
}

/* All pairs of a class with those before it. */
static void count_class(void *context, size_t a, unsigned worker)
{
    const counting *c = context;
    for (size_t b = 0; b < a; b++)
        count_pair(c, a, b, c->work + worker * c->users * PR_PAIR_PRIOR);
}

static size_t choose_users(uint32_t *chosen, const pr_counted *from)
{
    size_t count = 0;
    for (size_t u = 0; u < from->data->users; u++)
        if (pr_counted_end(from, u) - from->data->user_offsets[u] >= 2)
            chosen[count++] = (uint32_t)u;
    size_t kept = count < USERS_MOST ? count : USERS_MOST;
    for (size_t i = 0; i < kept; i++)
        chosen[i] = chosen[i * count / kept];
    return kept;
}

static parsrec_status take_counting(counting *c, size_t threads, parsrec_error *err)
{
    size_t pairs = pr_pair_count(c->count);
    c->sessions = pr_alloc_zero(c->users, sizeof *c->sessions);
    c->bought = pr_alloc_zero(c->count * c->users, sizeof *c->bought);
    c->both = pr_alloc_zero(pairs * c->users, sizeof *c->both);
    c->work = pr_alloc(threads * c->users * PR_PAIR_PRIOR, sizeof *c->work);
    c->personal = pr_alloc_zero(pairs, sizeof *c->personal);
    return c->sessions != NULL && c->bought != NULL && c->both != NULL && c->work != NULL &&
                   c->personal != NULL
               ? PARSREC_OK
               : pr_fail_memory(err);
}

/* count: of the classes that items have. */
static parsrec_status count_priors(const pr_pair_memory *pairs, size_t count, size_t *personal,
                                   const pr_counted *from, parsrec_error *err)
{
    counting c = {.pairs = pairs, .count = count};
    *personal = 0;
    memset(pairs->priors, 0, pr_pair_count(pairs->classes) * PR_PAIR_PRIOR * sizeof *pairs->priors);
    uint32_t *chosen = pr_alloc(from->data->users, sizeof *chosen);
    if (chosen == NULL)
        return pr_fail_memory(err);
    c.users = choose_users(chosen, from);
    parsrec_status status = PARSREC_OK;
    if (c.users > 0 && c.count > 1)
        status = take_counting(&c, pr_pool_threads(from->pool), err);
    if (status == PARSREC_OK && c.sessions != NULL) {
        count_users(&c, from, chosen);
        pr_pool_run(from->pool, count_class, &c, c.count);
        for (size_t i = 0; i < pr_pair_count(c.count); i++)
            *personal += c.personal[i];
    }
    pr_free(c.sessions);
    pr_free(c.bought);
    pr_free(c.both);
    pr_free(c.work);
    pr_free(c.personal);
    pr_free(chosen);
    return status;
}

parsrec_status pr_pairs_count(const pr_pair_memory *pairs, size_t *personal,
                              const pr_category_tree *tree, const pr_counted *from,
                              parsrec_error *err)
{
    size_t count;
    assert(pairs->classes <= PR_PAIR_CLASSES_MOST);
    PR_TRY(choose_classes(pairs, &count, tree, err));
    return count_priors(pairs, count, personal, from, err);
}

parsrec_status pr_pairs_recount(const pr_pair_memory *pairs, const pr_counted *from,
                                parsrec_error *err)
{
    size_t count = 0, personal;
    for (size_t v = 0; v < pairs->items; v++)
        if (pairs->class_of[v] < pairs->classes && pairs->class_of[v] >= count)
            count = pairs->class_of[v] + 1;
    return count_priors(pairs, count, &personal, from, err);
}

parsrec_status pr_pairs_verify(const pr_pair_memory *pairs, parsrec_error *err)
{
    for (size_t v = 0; v < pairs->items; v++)
        if (pairs->class_of[v] > pairs->classes)
            return pr_fail(err, PARSREC_E_FORMAT, "item %zu has a class that does not exist", v);
    for (size_t i = 0; i < pr_pair_count(pairs->classes) * PR_PAIR_PRIOR; i++)
        if (i % PR_PAIR_PRIOR > 0 && !(pairs->priors[i] >= 0))
            return pr_fail(err, PARSREC_E_FORMAT, "pairs.priors contains a negative weight");
    return PARSREC_OK;
}

/* ---- one open basket ---- */

static bool users_differ(const pr_real *prior)
{
    pr_real sum = 0;
    for (size_t k = 0; k < PR_PAIR_RATIOS; k++)
        sum += prior[1 + k];
    return sum > 0;
}

pr_pair_partners pr_pair_partners_of(const pr_pair_memory *pairs)
{
    pr_pair_partners p = {0};
    for (size_t a = 0; a < pairs->classes; a++)
        for (size_t b = 0; b < a; b++) {
            const pr_real *prior = pairs->priors + pr_pair_row(a, b) * PR_PAIR_PRIOR;
            uint64_t both = UINT64_C(1) << a | UINT64_C(1) << b;
            if (prior[0] != 0)
                p.any |= both;
            if (!users_differ(prior))
                continue;
            p.own |= both;
            p.of[a] |= UINT64_C(1) << b;
            p.of[b] |= UINT64_C(1) << a;
        }
    p.any |= p.own;
    return p;
}

void pr_pair_start(pr_pair_basket *basket, const pr_history *history)
{
    basket->history = *history;
    basket->counted = false;
    basket->placed = 0;
    basket->distinct = 0;
    memset(basket->sums, 0, sizeof basket->sums);
}

/* The classes in a session. The newest ones are looked up once. */
static uint64_t session_of(pr_pair_basket *basket, size_t s, const pr_pair_memory *pairs)
{
    const pr_history *h = &basket->history;
    size_t age = h->session_count - 1 - s;
    if (basket->counted && age < PR_PAIR_SETS)
        return basket->sets[age];
    size_t first = (size_t)(h->sessions[s] - h->sessions[0]);
    size_t end = (size_t)(h->sessions[s + 1] - h->sessions[0]);
    uint64_t set = classes_in(pairs->class_of, pairs->classes, h->items + first, end - first);
    if (age < PR_PAIR_SETS)
        basket->sets[age] = set;
    return set;
}

static void add_each(uint32_t *counts, uint64_t set)
{
    for (; set != 0; set &= set - 1)
        counts[lowest(set)]++;
}

/* both[classes]: sessions with `class` and each of its partners. */
static void count_both(uint32_t *both, pr_pair_basket *basket, const pr_pair_memory *pairs,
                       const pr_pair_partners *partners, size_t class)
{
    const pr_history *h = &basket->history;
    memset(both, 0, PR_PAIR_CLASSES_MOST * sizeof *both);
    if (!basket->counted)
        memset(basket->bought, 0, sizeof basket->bought);
    for (size_t s = 0; s < h->session_count; s++) {
        uint64_t set = session_of(basket, s, pairs);
        if (!basket->counted)
            add_each(basket->bought, set & partners->own);
        if (set >> class & 1)
            add_each(both, set & partners->of[class]);
    }
    basket->counted = true;
}

static pr_real ratio_of(const pr_pair_basket *basket, const pr_pair_memory *pairs,
                        const uint32_t *both, size_t placed, size_t candidate)
{
    table t = {(pr_real)basket->history.session_count, (pr_real)basket->bought[placed],
               (pr_real)basket->bought[candidate], (pr_real)both[candidate]};
    if (t.a == 0 || t.b == 0)
        return 0;
    return log_ratio(pairs->priors + pr_pair_row(placed, candidate) * PR_PAIR_PRIOR, &t);
}

static bool knows_pairs(const pr_pair_basket *basket, const pr_pair_partners *partners,
                        size_t class)
{
    return partners->of[class] != 0 && basket->history.sessions != NULL &&
           basket->history.session_count > 1;
}

bool pr_pair_place(pr_pair_basket *basket, const pr_pair_memory *pairs,
                   const pr_pair_partners *partners, int32_t item)
{
    size_t class = pairs->class_of[item];
    uint32_t both[PR_PAIR_CLASSES_MOST];
    if (class >= pairs->classes || basket->placed >> class & 1)
        return false;
    basket->placed |= UINT64_C(1) << class;
    basket->distinct++;
    for (uint64_t left = partners->any & ~(UINT64_C(1) << class); left != 0; left &= left - 1) {
        size_t c = lowest(left);
        basket->sums[PR_PAIR_ALL][c] += pairs->priors[pr_pair_row(class, c) * PR_PAIR_PRIOR];
    }
    if (!knows_pairs(basket, partners, class))
        return true;
    count_both(both, basket, pairs, partners, class);
    for (uint64_t left = partners->of[class]; left != 0; left &= left - 1) {
        size_t c = lowest(left);
        basket->sums[PR_PAIR_OWN][c] += ratio_of(basket, pairs, both, class, c);
    }
    return true;
}

void pr_pair_logs(pr_real *log, pr_pair_basket *basket, const pr_pair_memory *pairs,
                  const pr_pair_partners *partners, size_t placed, size_t candidate)
{
    uint32_t both[PR_PAIR_CLASSES_MOST];
    log[PR_PAIR_ALL] = log[PR_PAIR_OWN] = 0;
    if (placed == candidate)
        return;
    log[PR_PAIR_ALL] = pairs->priors[pr_pair_row(placed, candidate) * PR_PAIR_PRIOR];
    if (!(partners->of[placed] >> candidate & 1) || !knows_pairs(basket, partners, placed))
        return;
    count_both(both, basket, pairs, partners, placed);
    log[PR_PAIR_OWN] = ratio_of(basket, pairs, both, placed, candidate);
}
