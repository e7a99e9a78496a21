/* A data set: users, their sessions in order of time, the items of each session, and what is known
 * about them.
 *
 *   container.h      the file format under every file that the library writes
 *   file_kind.h      what a file is, for messages about files that are not what was expected
 *   dataset.h        a data set in memory and in its file (this file)
 *   shards.h         a data set in a folder: a dictionary and many shards
 *   dataset_edit.h   data sets derived from others: without some users, or renumbered
 *   directory.h      from keys and names to numbers
 *   split.h          which sessions are for training, validation and test, and which are counted
 *   histories.h      what users bought before: stored, and live in a server
 *   batch.h          the views of users, sessions and items that models work on
 *   batches.h        training baskets in batches, shuffled for each epoch
 *   basket_order.h   whether the order of items within baskets means something
 *   listing.c, statistics.c   public functions that list and summarise a data set
 *
 * A data set is a set of columns: offsets say which sessions belong to a user and which actions to
 * a session. An action is one item in one session. Rows are views, so nothing is copied when a file
 * is loaded. Columns have the names of their tensors in the file unless a comment gives another.
 *
 * Life cycle: made in memory by import or synth and saved (pr_dataset_save); loaded and checked
 * once (pr_dataset_load); then read-only and shared by threads. A model file contains the data set
 * that the model was trained on (pr_dataset_enclose, pr_dataset_inside).
 *
 * Invariants. pr_dataset_check verifies them on every load and save, and all other code relies on
 * them: offsets ascend, no session is empty, no item occurs twice in a session, the times of a
 * user's sessions do not decrease, keys are unique, all names are valid UTF-8, all numbers are in
 * range, and categories form a tree with parents before children. A user may have no sessions. */
#ifndef PR_DATASET_H
#define PR_DATASET_H

#include <assert.h>

#include "base/intern.h"
#include "base/status.h"
#include "data/batch.h"
#include "data/container.h"

#define PR_DATA_FORMAT "parsrec.data"
enum {
    PR_DATA_VERSION = 1,
    PR_CATEGORY_LEVELS = 32,   /* the deepest category tree */
    PR_FEATURE_NAME_MAX = 200, /* bytes */
};

/* parsrec_data, opaque in parsrec.h, is this struct. */
typedef struct parsrec_data pr_dataset;

struct parsrec_data {
    size_t users, sessions, items, actions;
    const int64_t *user_offsets;    /* [users + 1]: sessions of user u */
    const int64_t *session_offsets; /* [sessions + 1]: actions of session s */
    const int32_t *action_items;    /* [actions]: "items" in the file */
    const int64_t *times;           /* [sessions], or NULL with PARSREC_TIME_NONE */
    parsrec_time_kind time_kind;

    pr_names user_keys, item_keys; /* what the imported tables call them; every key once */
    pr_names item_names;           /* for people; count 0 when there are none */

    /* A tree: category c is below category_parent[c] (-1 at the top), parents before children.
     * An item's category is its deepest known node, -1 for none. */
    size_t categories;
    pr_names category_names;        /* of the node, not the path */
    const int32_t *category_parent; /* [categories] */
    const int32_t *item_category;   /* [items], or NULL when categories == 0 */

    size_t feature_count[PR_FEATURE_TABLES];
    pr_feature_column *features[PR_FEATURE_TABLES];

    bool ordered;       /* items of a session are in the order in which they were taken */
    const char *source; /* JSON that says how import or synth made the file; "" if unknown */
    /* JSON {store id: number}: the last event of each server store that was imported; NULL: none. */
    const char *events;
    /* How the data were split before a model learnt from them: "at TIME" or "users"; NULL: by each user's
     * sessions. Only in split data and in model files. */
    const char *split;

    /* [users]: the user's number in a model, PR_ANYONE for a user it does not know. Set only in a
     * data set that was matched to a model's (dataset_edit.h); NULL: the numbers are the same. */
    const int32_t *known_as;
    size_t known_users; /* users of that model */

    /* Where session_offsets, times and action_items are mapped files, larger than the memory: a pass
     * over them gives their pages back. Only in a data set that import makes; else view_count is 0. */
    const pr_mapping *views;
    size_t view_count;

    pr_container *file; /* owns the columns and any `truth.*` tensors; NULL when made in memory */
    struct pr_joined *joined; /* owns the columns that were joined from shards; or NULL */
    const char
        *checksum; /* of what the data come from, where that is not `file` as it is; or NULL */

    /* After parsrec_data_split: what each user is for (pr_user_part), the time,
     * and the data set as it was with the memory of the columns that were cut. NULL before. */
    const uint8_t *user_parts; /* [users] */
    bool by_users;             /* whole users are held out, who are unknown to every model */
    int64_t split_at;
    struct pr_derived *cut;
};

/* ---- loading and saving ---- */

/* Loads a file of the format PR_DATA_FORMAT, or a folder of shards, and checks the invariants. */
parsrec_status pr_dataset_load(pr_dataset **out, const char *path, parsrec_error *err);
/* The same from an open container. Takes `file` over, also on failure. */
parsrec_status pr_dataset_from(pr_dataset **out, pr_container *file, parsrec_error *err);
/* The same from a container of another format, such as a model; the caller has checked that format
 * with pr_container_expect. Takes `file` over, also on failure. */
parsrec_status pr_dataset_inside(pr_dataset **out, pr_container *file, parsrec_error *err);
/* Only for data sets from these three functions; NULL is fine. */
void pr_dataset_free(pr_dataset *data);

/* Checks the invariants in linear time; E_FORMAT for the first that does not hold. `origin` names
 * the data in messages. */
parsrec_status pr_dataset_check(const pr_dataset *data, const char *origin, parsrec_error *err);

/* Checks, then writes the columns, their metadata and the `extra` tensors (truth.*). */
parsrec_status pr_dataset_save(const pr_dataset *data, const pr_tensor *extra, size_t extra_count,
                               const char *path, parsrec_error *err);

/* The columns of a file: all; or of a dictionary, what is known about items and the texts about the
 * whole; or of a shard, what belongs to users. */
typedef enum pr_data_part { PR_PART_ALL, PR_PART_CATALOGUE, PR_PART_USERS } pr_data_part;

/* Fills a zeroed data set with those columns of data->file. Only types and lengths are checked, not
 * the invariants. */
parsrec_status pr_dataset_read(pr_dataset *data, pr_data_part part, parsrec_error *err);

/* The same into a file of another format, which adds its own metadata and tensors. Invariants are
 * checked for PR_PART_ALL only. */
typedef struct pr_enclosing {
    const char *format;
    uint32_t version;
    const pr_metadata *metadata;
    size_t metadata_count;
    const pr_tensor *tensors;
    size_t tensor_count;
    pr_data_part part;
    const pr_tensor_source *source; /* of one of them; or NULL */
} pr_enclosing;
parsrec_status pr_dataset_enclose(const pr_dataset *data, const pr_enclosing *in, const char *path,
                                  parsrec_error *err);

/* ---- asking ---- */

/* What models need to know about a data set: views of it. */
pr_shop pr_shop_of(const pr_dataset *data);

/* The checksum of the file that the data come from; "" if there is none. */
static inline const char *pr_dataset_checksum(const pr_dataset *data)
{
    return data->checksum != NULL ? data->checksum
           : data->file != NULL   ? pr_container_checksum(data->file)
                                  : "";
}

/* What a user of a split data set is for. Validating and testing users train nothing; their last
 * session is predicted, given those before it, if any. */
typedef enum pr_user_part {
    PR_USER_BY_SESSIONS, /* the newest sessions are held out, as in data that were not split */
    PR_USER_TRAINS,
    PR_USER_VALIDATES,
    PR_USER_TESTS,
} pr_user_part;

static inline pr_user_part pr_part_of_user(const pr_dataset *data, size_t user)
{
    return data->user_parts != NULL ? (pr_user_part)data->user_parts[user] : PR_USER_BY_SESSIONS;
}

/* The user's number in the model that the data set was matched to; PR_ANYONE if unknown to it, as all
 * users are where whole users are held out. */
static inline int32_t pr_known_user(const pr_dataset *data, size_t user)
{
    assert(user < data->users);
    if (data->by_users)
        return PR_ANYONE;
    return data->known_as != NULL ? data->known_as[user] : (int32_t)user;
}

/* The features of a user alone, or of a user and one of the user's sessions. */
static inline pr_known_features pr_features_of_user(const pr_dataset *data, size_t user)
{
    return (pr_known_features){
        .user = {data->features[PR_OF_USER], data->feature_count[PR_OF_USER], user},
    };
}
static inline pr_known_features pr_features_of_session(const pr_dataset *data, size_t user,
                                                       size_t session)
{
    assert(session < data->sessions);
    pr_known_features about = pr_features_of_user(data, user);
    about.session = (pr_feature_row){data->features[PR_OF_SESSION],
                                     data->feature_count[PR_OF_SESSION], session};
    return about;
}

/* Rows of a feature table: the number of users, sessions or items. */
size_t pr_feature_rows(const pr_dataset *data, pr_feature_of table);
/* The prefix of its tensors: "user_feature.", "session_feature." or "item_feature.". */
const char *pr_feature_prefix(pr_feature_of table);
/* False for a name that cannot be part of a tensor name: empty, longer than PR_FEATURE_NAME_MAX,
 * not UTF-8, with control characters, or ending in .values.bytes or .values.offsets. */
bool pr_feature_name_valid(const char *name);

/* "GROCERY > COOKIES" for a category number; cut to size. Returns buffer. */
char *pr_category_path(const pr_dataset *data, int32_t category, char *buffer, size_t size);
/* Where rows of a table are categories: class[items] is the category whose row an item counts in, or
 * negative. Sets split[categories] for every category of which some items count in the row of a
 * category below it, so that its own row is only of its other items: PR_OTHER_ITEMS behind the name. */
void pr_categories_split(bool *split, const pr_dataset *data, const int32_t *class);
#define PR_OTHER_ITEMS "other items"

/* The number of sessions with one item; and whether they are at least 95 % of all sessions, which
 * usually means that import missed the session column. */
uint64_t pr_one_item_sessions(const pr_dataset *data);
bool pr_mostly_single_items(const pr_dataset *data);
/* Whether a feature of this name is the price of an item: "price", "UnitPrice", "Preis", "prix", ... */
bool pr_means_price(const char *name);

/* ---- reading columns: for files that contain more than a data set (synth/truth.c) ---- */

/* `column` is the address of a `const T *`, which is set to the elements of the one-dimensional
 * tensor of that name. pr_vector_need says how many there are; pr_column_need refuses any number but
 * `count`. E_FORMAT if the tensor is missing or of another type. */
parsrec_status pr_vector_need(const pr_container *file, const char *name, pr_dtype dtype,
                              const void *column, size_t *count, parsrec_error *err);
parsrec_status pr_column_need(const pr_container *file, const char *name, pr_dtype dtype,
                              const void *column, size_t count, parsrec_error *err);

/* A view of NAME.bytes and NAME.offsets. Only the first and last offset are checked here, the others
 * by pr_dataset_check. */
parsrec_status pr_names_need(const pr_container *file, const char *name, pr_names *names,
                             parsrec_error *err);

#endif
