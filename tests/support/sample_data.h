/* A small data set with every optional part, as import would hand it over: three users, five
 * sessions, four items, a category tree of two levels, one feature of each kind and table. */
#ifndef SAMPLE_DATA_H
#define SAMPLE_DATA_H

#include <math.h>

#include "data/dataset.h"

enum { SAMPLE_USERS = 3, SAMPLE_SESSIONS = 5, SAMPLE_ITEMS = 4, SAMPLE_ACTIONS = 9 };

/* Copies that a test may damage. */
typedef struct sample {
    int64_t user_offsets[SAMPLE_USERS + 1], session_offsets[SAMPLE_SESSIONS + 1];
    int64_t times[SAMPLE_SESSIONS];
    int32_t items[SAMPLE_ACTIONS], parent[3], category[SAMPLE_ITEMS];
    char user_bytes[16], item_bytes[64];
    int64_t user_keys[SAMPLE_USERS + 1], item_keys[SAMPLE_ITEMS + 1];
    float age[SAMPLE_USERS], price[SAMPLE_ITEMS];
    int32_t channel[SAMPLE_SESSIONS];
    char price_name[300];
    pr_feature_column user_feature[1], session_feature[1], item_feature[1];
    pr_dataset data;
} sample;

static inline pr_names sample_names(const char *bytes, const int64_t *offsets, size_t count)
{
    return (pr_names){bytes, offsets, count};
}

/* ann: milk bread | milk eggs | bread eggs tea; bob: (none); cy: milk | tea. */
static inline void sample_make(sample *s)
{
    static const int64_t item_names[] = {0, 9, 9, 13, 21}; /* bread has no name */
    static const int64_t category_names[] = {0, 4, 9, 14};
    static const int64_t channel_names[] = {0, 4, 7};
    *s = (sample){
        .user_offsets = {0, 3, 3, 5},
        .session_offsets = {0, 2, 4, 7, 8, 9},
        .times = {1700000000, 1700000000, 1700086400, 0, 1800000000},
        .items = {0, 1, 0, 2, 1, 2, 3, 0, 3},
        .parent = {-1, 0, -1},
        .category = {1, 0, -1, 2},
        .user_bytes = "annbobcy",
        .user_keys = {0, 3, 6, 8},
        .item_bytes = "milkbreadeggsT\xC3\xA9",
        .item_keys = {0, 4, 9, 13, 16},
        .age = {31.5f, NAN, 60},
        .price = {1, 2.5f, NAN, 4},
        .channel = {0, 1, -1, 1, 0},
        .price_name = "price.EUR",
    };
    s->user_feature[0] = (pr_feature_column){.name = (char *)(uintptr_t) "age", .number = s->age};
    s->item_feature[0] = (pr_feature_column){.name = s->price_name, .number = s->price};
    s->session_feature[0] =
        (pr_feature_column){.name = (char *)(uintptr_t) "channel",
                            .code = s->channel,
                            .values = sample_names("shopweb", channel_names, 2)};
    s->data = (pr_dataset){
        .users = SAMPLE_USERS,
        .sessions = SAMPLE_SESSIONS,
        .items = SAMPLE_ITEMS,
        .actions = SAMPLE_ACTIONS,
        .user_offsets = s->user_offsets,
        .session_offsets = s->session_offsets,
        .action_items = s->items,
        .times = s->times,
        .time_kind = PARSREC_TIME_UNIX,
        .user_keys = sample_names(s->user_bytes, s->user_keys, SAMPLE_USERS),
        .item_keys = sample_names(s->item_bytes, s->item_keys, SAMPLE_ITEMS),
        .item_names = sample_names("Milk 1.5lEggsTea bags", item_names, SAMPLE_ITEMS),
        .categories = 3,
        .category_names = sample_names("FOODDAIRYDRINK", category_names, 3),
        .category_parent = s->parent,
        .item_category = s->category,
        .feature_count = {1, 1, 1},
        .features = {s->user_feature, s->session_feature, s->item_feature},
        .source = "{\"command\":\"test\"}",
    };
}

#endif
