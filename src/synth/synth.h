/* The paper's synthetic shop (KDD 2022, appendix A), from options to a data-set file.
 *
 * What is drawn, in this order; each step reads only the ones before it:
 *   pr_groups   the groups of users: their share and the covariance of category utilities
 *   pr_market   prices, correlations of products within a category, brands
 *   pr_choice   everything that a shopping trip depends on, except the users' base utilities
 *   pr_baskets  all trips of all users, in parallel, as columns of a data set
 *   pr_synth_columns   optional features of users, sessions and items
 * parsrec_synth (synth.c) runs them and writes the data set; truth.h stores what was drawn beside
 * it as tensors `truth.*` and reads it back for the oracle, what-if and the recovery of maps.
 *
 * Every draw is a function of the seed, its purpose and its place (user, session, category,
 * product); nothing depends on the order of work. Results are therefore the same with any number of
 * threads, and a trip can be repeated with a changed shelf: what changes is then the choice, not
 * the luck. docs/synthetic.md has the formulas.
 *
 * All structs here are owned by their caller, must be freed also on failure, and a zeroed one is
 * fine. */
#ifndef PR_SYNTH_H
#define PR_SYNTH_H

#include "base/files.h"
#include "base/intern.h"
#include "base/rng.h"
#include "base/status.h"
#include "base/threads.h"
#include "data/dataset.h"

/* ---- groups of users ---- */

typedef struct pr_groups {
    size_t count, categories;
    pr_intern names;
    double *share; /* [count], adding up to 1 */
    double *sigma; /* [count, categories, categories] */
} pr_groups;

/* The two groups of the paper's data, A and B. They have 20 categories; for another number the
 * blocks of their covariance are repeated down the diagonal and the last one is cut to fit. */
parsrec_status pr_groups_builtin(pr_groups *out, size_t categories, parsrec_error *err);

/* Groups from a JSON file, see docs/synthetic.md. Covariances must be symmetric and, up to
 * rounding, positive semidefinite. */
parsrec_status pr_groups_load(pr_groups *out, const char *path, size_t categories,
                              parsrec_error *err);

/* Both leave `out` to be freed, also when they fail. A zeroed one is fine. */
void pr_groups_free(pr_groups *groups);

double *pr_groups_sigma(const pr_groups *groups, size_t group); /* [categories, categories] */

/* The first user that does not belong to `group` or one before it: users are ordered by group. */
size_t pr_group_end(const pr_groups *groups, size_t group, size_t users);

/* ---- constants, purposes, and one shopping trip ---- */

enum { PR_SYNTH_BASKET_MOST = 10, PR_NOISE_BUCKETS = 1024 };

/* The numbers of the paper's appendix A: name in the file's `source`, value. */
#define PR_SYNTH_CONSTANTS(X)                                        \
    X(alpha, -0.5)       /* utility of every category */             \
    X(beta, 0.1)         /* disutility of a unit of price */         \
    X(tau, 2.0)          /* standard deviation of omega */           \
    X(price_mean, 0.5)   /* of the logarithm of a base price */      \
    X(price_sd, 0.1)     /* the same */                              \
    X(outside_mean, 1.5) /* of the value of staying at home: ours */ \
    X(outside_sd, 1.0)   /* the same */

/* Ours, for informative features. */
enum { PR_SYNTH_OCCASIONS = 4, PR_SYNTH_BRANDS = 10 };
#define PR_SYNTH_OCCASION_SHIFT 1.0 /* utility of every fourth category, by the occasion */
#define PR_SYNTH_TASTE_SD       1.0 /* of what a user thinks of a brand */

typedef struct pr_synth_constants {
#define PR_SYNTH_FIELD(name, value) double name;
    PR_SYNTH_CONSTANTS(PR_SYNTH_FIELD)
#undef PR_SYNTH_FIELD
} pr_synth_constants;

extern const pr_synth_constants pr_synth_paper;

/* A rule for basket sizes: ceil(plus + Weibull), cut to least..PR_SYNTH_BASKET_MOST or drawn again. */
typedef struct pr_size_law {
    const char *name;
    double shape, scale, plus;
    size_t least;
    bool redraw;
} pr_size_law;

const pr_size_law *pr_size_law_of(parsrec_size_rule rule);  /* NULL for no rule */
double pr_size_chance(const pr_size_law *law, size_t size); /* of a basket of that size */

/* Purposes of the random numbers. Append only: a file names its seed, not its draws. */
enum pr_synth_purpose {
    PR_SYNTH_VINE = 0x73796e00, /* place: category, k, i */
    PR_SYNTH_BASE_PRICE,        /* category */
    PR_SYNTH_PRICE,             /* category, product */
    PR_SYNTH_OMEGA,             /* user, category; one normal a product */
    PR_SYNTH_SIZE,              /* user, session */
    PR_SYNTH_CATEGORY,          /* user, session; one normal a category */
    PR_SYNTH_TIE,               /* user, session; one word a category */
    PR_SYNTH_NOISE,             /* user, session, category, product / 4 */
    PR_SYNTH_OUTSIDE,           /* user, session */
    PR_SYNTH_ORDER,             /* user, session */
    PR_SYNTH_OCCASION,          /* user, session */
    PR_SYNTH_BRAND,             /* item */
    PR_SYNTH_TASTE,             /* user, brand */
    PR_SYNTH_USER_FEATURE,      /* user */
    PR_SYNTH_SESSION_FEATURE,   /* user, session */
    PR_SYNTH_ITEM_FEATURE,      /* item */
};

/* All that the choices of one data set depend on, apart from the users' base utilities. */
typedef struct pr_choice {
    size_t groups, categories, products;
    parsrec_size_rule size_rule;
    bool outside;
    double *alpha;  /* [categories] */
    double *factor; /* [groups, categories, categories], by columns: sigma = factor factor' */
    size_t *rank;   /* [groups] */
    bool occasions; /* of a session shift the utilities */
    pr_rng size, category, tie, noise, home, order, occasion;
    double noise_most[PR_NOISE_BUCKETS]; /* the largest noise with these leading bits */
} pr_choice;

/* `choice` is to be freed also on failure. The seed, rule and sizes come from `options`. */
parsrec_status pr_choice_init(pr_choice *choice, const parsrec_synth_options *options,
                              const double *sigma, size_t groups, parsrec_error *err);
void pr_choice_free(pr_choice *choice); /* a zeroed one is fine */

/* Four neighbouring products of a category: they share one draw of 128 bits. */
enum { PR_SHELF_BLOCK = 4 };
typedef struct pr_shelf_block {
    float top; /* the largest mean utility in it */
    uint32_t number;
} pr_shelf_block;

static inline size_t pr_shelf_blocks(const pr_choice *choice)
{
    return (choice->products + PR_SHELF_BLOCK - 1) / PR_SHELF_BLOCK;
}

/* A user in front of the shelf: scratch memory of one thread. */
typedef struct pr_shopper {
    uint32_t user;
    size_t group;
    const float *base;      /* [items]: mean utility of every product, omega - beta * price */
    pr_shelf_block *blocks; /* of each category, best first */
    double *utility;        /* [categories], of the last trip */
    double *normal;         /* [categories] */
} pr_shopper;

parsrec_status pr_shopper_init(pr_shopper *shopper, const pr_choice *choice, parsrec_error *err);
void pr_shopper_free(pr_shopper *shopper); /* a zeroed one is fine */

/* Makes the shopper another user. `base` must stay until the next call. A product that is not for
 * sale has the base utility -INFINITY; a category without any must be off the shelf. */
void pr_shopper_become(pr_shopper *shopper, const pr_choice *choice, size_t user, size_t group,
                       const float *base);

/* The whole trip: writes up to PR_SYNTH_BASKET_MOST items in the order of the basket and returns how
 * many; 0 when nothing is bought, so that there is no session. `shelf` says for each category
 * whether it is there; NULL: all are. */
size_t pr_shopper_trip(pr_shopper *shopper, const pr_choice *choice, size_t session,
                       const bool *shelf, int32_t *items);

/* The categories that the trip buys from, best first, at most PR_SYNTH_BASKET_MOST; returns how many. */
size_t pr_shopper_list(size_t *list, pr_shopper *shopper, const pr_choice *choice, size_t session,
                       const bool *shelf);

/* ---- the steps of a trip ---- */

/* How many categories the user means to buy from: 2..10 or 3..10, regardless of what is for
 * sale. */
size_t pr_draw_size(const pr_choice *choice, size_t user, size_t session);

/* What the trip is for: 0..PR_SYNTH_OCCASIONS-1, all equally likely. */
size_t pr_draw_occasion(const pr_choice *choice, size_t user, size_t session);

/* alpha + eps for every category, and what the occasion adds. */
void pr_draw_utilities(double *utility, double *normal, const pr_choice *choice, size_t group,
                       size_t user, size_t session);

/* The categories of largest utility, best first, among those that `may` be taken (NULL: all).
 * Returns how many there are, at most n. */
size_t pr_best_categories(size_t *list, size_t n, const double *utility, size_t categories,
                          const bool *may);

/* With an outside option: what staying at home is worth. A trip is made when the sum of the
 * positive utilities of the categories bought from is larger. */
double pr_draw_home(const pr_choice *choice, size_t user, size_t session);

/* The product (0..products-1) of largest utility in a category. The plain version evaluates the
 * noise of all products; the other leaves out those that cannot win, with the same result. */
size_t pr_draw_product(const pr_shopper *shopper, const pr_choice *choice, size_t session,
                       size_t category);
size_t pr_draw_product_plain(const pr_shopper *shopper, const pr_choice *choice, size_t session,
                             size_t category);

/* ---- the market ---- */

typedef struct pr_market {
    size_t categories, products;
    double *base_price;  /* [categories] */
    double *price;       /* [categories, products] */
    double *correlation; /* [categories, products, products] */
    double *factor;      /* of the correlations, by columns (matrices.h) */
    int32_t *brand;      /* [items], NULL: there are none */
    pr_rng omega, taste;
} pr_market;

/* `market` is to be freed also on failure. */
parsrec_status pr_market_draw(pr_market *market, const parsrec_synth_options *options,
                              pr_pool *pool, parsrec_error *err);
void pr_market_free(pr_market *market); /* a zeroed one is fine */

/* omega - beta * price of a category's products for one user, and what the user thinks of their
 * brands; work[2 * products]. */
void pr_market_utilities(float *base, const pr_market *market, size_t user, size_t category,
                         double *work);

/* ---- the baskets of all users ---- */

/* The columns that grow with sessions, and the base utilities, go to files without a name
 * (base/files.h), so that there can be any number of users. */
enum { PR_BASKET_SESSIONS, PR_BASKET_TIMES, PR_BASKET_ITEMS, PR_BASKET_BASE, PR_BASKET_FILES };

/* Columns as in a data set, and what is true of the users. */
typedef struct pr_baskets {
    size_t users, sessions, actions;
    int64_t *user_offsets; /* [users + 1] */
    int32_t *group;        /* [users] */
    /* Views of the files. */
    const int64_t *session_offsets; /* [sessions + 1] */
    const int64_t *times; /* [sessions]: the number of the trip, also where some are not made */
    const int32_t *items; /* [actions] */
    const float *base;    /* [users, items], NULL unless kept */
    pr_scratch_file files[PR_BASKET_FILES];
    pr_mapping views[PR_BASKET_FILES];
} pr_baskets;

/* `baskets` is to be freed also on failure. keep_base: fill `base`. The files are made beside
 * `path`. */
parsrec_status pr_baskets_draw(pr_baskets *baskets, const parsrec_synth_options *options,
                               const pr_groups *groups, const pr_market *market,
                               const pr_choice *choice, bool keep_base, const char *path,
                               pr_pool *pool, const parsrec_hooks *hooks, parsrec_error *err);
void pr_baskets_free(pr_baskets *baskets); /* a zeroed one is fine */

/* Bytes of memory that pr_baskets_draw takes, about. */
double pr_baskets_bytes(const parsrec_synth_options *options);

/* ---- features ---- */

enum { PR_SYNTH_COLUMNS = 4 }; /* of a table, at most */

typedef struct pr_synth_columns {
    pr_feature_column list[PR_FEATURE_TABLES][PR_SYNTH_COLUMNS];
    pr_intern words[PR_FEATURE_TABLES][PR_SYNTH_COLUMNS];
    size_t count[PR_FEATURE_TABLES];
} pr_synth_columns;

/* `columns` is to be freed also on failure. */
parsrec_status pr_synth_columns_make(pr_synth_columns *columns,
                                     const parsrec_synth_options *options,
                                     const pr_baskets *baskets, const pr_market *market,
                                     const pr_choice *choice, const pr_intern *groups,
                                     parsrec_error *err);
void pr_synth_columns_free(pr_synth_columns *columns); /* a zeroed one is fine */

/* Hangs them into a data set as views. */
void pr_synth_columns_view(pr_dataset *data, pr_synth_columns *columns);

#endif
