/* All users' trips, made in parallel. */
#ifndef PR_SYNTH_BASKETS_H
#define PR_SYNTH_BASKETS_H

#include "base/status.h"
#include "base/threads.h"
#include "synth/synth_draw.h"
#include "synth/synth_groups.h"
#include "synth/synth_market.h"

/* Columns as in a data set, and what is true of the users. */
typedef struct pr_baskets {
    size_t users, sessions, actions;
    int64_t *user_offsets;    /* [users + 1] */
    int64_t *session_offsets; /* [sessions + 1] */
    int64_t *times;           /* [sessions]: the number of the trip, also where some are not made */
    int32_t *items;           /* [actions] */
    int32_t *group;           /* [users] */
    float *base;              /* [users, items], NULL unless kept */
} pr_baskets;

/* `baskets` is to be freed also on failure. keep_base: fill `base`. */
parsrec_status pr_baskets_draw(pr_baskets *baskets, const parsrec_synth_options *options,
                               const pr_groups *groups, const pr_market *market,
                               const pr_choice *choice, bool keep_base, pr_pool *pool,
                               const parsrec_hooks *hooks, parsrec_error *err);
void pr_baskets_free(pr_baskets *baskets); /* a zeroed one is fine */

/* Bytes that pr_baskets_draw takes at its peak, about. */
double pr_baskets_bytes(const parsrec_synth_options *options, bool keep_base);

#endif
