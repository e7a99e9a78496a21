/* What the market offers and what its users think of it: prices, correlations of products within a
 * category, and the base utility of each product for each user. */
#ifndef PR_SYNTH_MARKET_H
#define PR_SYNTH_MARKET_H

#include "base/rng.h"
#include "base/status.h"
#include "base/threads.h"

typedef struct pr_market {
    size_t categories, products;
    double *base_price;  /* [categories] */
    double *price;       /* [categories, products] */
    double *correlation; /* [categories, products, products] */
    double *factor;      /* of the correlations, by columns, see vine.h */
    int32_t *brand;      /* [items], NULL: there are none */
    pr_rng omega, taste;
} pr_market;

/* `market` is to be freed also on failure. */
parsrec_status pr_market_draw(pr_market *market, const parsrec_synth_options *options,
                              pr_pool *pool, parsrec_error *err);
void pr_market_free(pr_market *market); /* a zeroed one is fine */

/* omega - beta * price of a category's products for one user, and what the user thinks of their brands;
 * work[2 * products]. */
void pr_market_utilities(float *base, const pr_market *market, size_t user, size_t category,
                         double *work);

#endif
