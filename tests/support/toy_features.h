/* Features of up to 32 users and 160 sessions, for tests of models: numbers and words, some unknown. */
#ifndef TOY_FEATURES_H
#define TOY_FEATURES_H

#include <math.h>

#include "data/batch.h"

enum { TOY_USERS = 32, TOY_SESSIONS = 160 };

static float toy_age[TOY_USERS], toy_hour[TOY_SESSIONS];
static int32_t toy_town[TOY_USERS], toy_day[TOY_SESSIONS];
static const int64_t toy_offsets[] = {0, 1, 2, 3, 4, 5};
static pr_feature_column toy_user[] = {
    {.name = (char *)(uintptr_t) "age", .number = toy_age},
    {.name = (char *)(uintptr_t) "town", .code = toy_town, .values = {"abc", toy_offsets, 3}}};
static pr_feature_column toy_session[] = {
    {.name = (char *)(uintptr_t) "day", .code = toy_day, .values = {"abcde", toy_offsets, 5}},
    {.name = (char *)(uintptr_t) "hour", .number = toy_hour}};

/* The fields of a pr_shop that has them. */
#define TOY_SHOP(user_count, item_count)                                               \
    .users = (user_count), .items = (item_count), .features = {toy_user, toy_session}, \
    .feature_count = {2, 2}

static inline void toy_fill(void)
{
    for (int u = 0; u < TOY_USERS; u++) {
        toy_age[u] = u % 5 == 3 ? NAN : (float)(u % 7) - 2.5f;
        toy_town[u] = u % 4 - 1;
    }
    for (int s = 0; s < TOY_SESSIONS; s++) {
        toy_hour[s] = s % 6 == 2 ? NAN : (float)(s % 11) - 4.5f;
        toy_day[s] = s % 6 - 1;
    }
}

static inline pr_known_features toy_features(size_t user, size_t session)
{
    toy_fill();
    return (pr_known_features){{toy_user, 2, user}, {toy_session, 2, session}};
}

#endif
