/* A data set: users, their sessions in order of time, the items of each session, and what is known
 * of them.
 *
 * It is a set of columns: offsets say which sessions belong to a user and which actions to a
 * session, so rows are views and nothing is copied when a file is loaded. Field names here are
 * tensor names in the file.
 *
 * Life cycle: made in memory by import or synth, saved (pr_dataset_save), loaded and checked once
 * (pr_dataset_load, pr_dataset_check), then read-only and shared by threads. A model file carries
 * the data set it was trained on (pr_dataset_enclose, pr_dataset_inside). dataset_edit.h derives
 * data sets from others.
 *
 * Invariants, which all other code relies on without asking again: offsets ascend, no session is
 * empty, no item occurs twice in a session, the sessions of a user ascend in time, keys are unique
 * and valid UTF-8, every number is in range, categories form a tree with parents before
 * children. */
#ifndef PR_DATASET_H
#define PR_DATASET_H

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

/* The public handle is this very struct. */
typedef struct parsrec_data pr_dataset;

struct parsrec_data {
    size_t users, sessions, items, actions;
    const int64_t *user_offsets;    /* [users + 1]: sessions of user u */
    const int64_t *session_offsets; /* [sessions + 1]: actions of session s */
    const int32_t *action_items;    /* [actions]: "items" in the file */
    const int64_t *times;           /* [sessions], or NULL with PARSREC_TIME_NONE */
    parsrec_time_kind time_kind;

    pr_names user_keys, item_keys; /* as the source calls them; every key once */
    pr_names item_names;           /* for people; count 0 when the source has none */

    /* A tree: category c is below category_parent[c] (-1 at the top), parents before children.
     * An item's category is its deepest known node, -1 for none. */
    size_t categories;
    pr_names category_names;        /* of the node, not the path */
    const int32_t *category_parent; /* [categories] */
    const int32_t *item_category;   /* [items], or NULL when categories == 0 */

    size_t feature_count[PR_FEATURE_TABLES];
    pr_feature_column *features[PR_FEATURE_TABLES];

    const char
        *events; /* JSON {store id: number}: up to which event it has a server's; NULL: none */
    /* [users]: the user's number in a model, PR_ANYONE for a user it does not know; NULL: the same
     * number. Only of a data set that was matched with a model's (dataset_edit.h). */
    const int32_t *known_as;
    size_t known_users;   /* users of that model */
    const char *checksum; /* of the file that it was made from */

    bool ordered;       /* the order of items within sessions is that in which they were taken */
    const char *source; /* JSON on how the file came to be ("" if unknown): import or synth */
    pr_container *file; /* where the columns live and `truth.*` tensors are found; NULL in memory */
};

/* Loads and checks everything pr_dataset_check asks. */
parsrec_status pr_dataset_load(pr_dataset **out, const char *path, parsrec_error *err);
parsrec_status pr_dataset_from(pr_dataset **out, pr_container *file, parsrec_error *err);
/* The same inside a file of another format, which the caller has asked for: a model carries the
 * data set it was trained on. */
parsrec_status pr_dataset_inside(pr_dataset **out, pr_container *file, parsrec_error *err);
/* Both take the container over, also when they fail. */
void pr_dataset_free(pr_dataset *data); /* of a loaded one; NULL is fine */

/* Offsets ascend and no session is empty, numbers are in range, no item twice in a session, times
 * ascend within a user, keys are unique, names are UTF-8, categories form a tree. Linear time.
 * `origin` names the data in messages. */
parsrec_status pr_dataset_check(const pr_dataset *data, const char *origin, parsrec_error *err);

/* Checks, then writes the columns, `extra` tensors (truth.*) and data->source. */
parsrec_status pr_dataset_save(const pr_dataset *data, const pr_tensor *extra, size_t extra_count,
                               const char *path, parsrec_error *err);

/* Writes the columns into a file of another format, with its own metadata and tensors. */
typedef struct pr_enclosing {
    const char *format;
    uint32_t version;
    const pr_metadata *metadata;
    size_t metadata_count;
    const pr_tensor *tensors;
    size_t tensor_count;
} pr_enclosing;
parsrec_status pr_dataset_enclose(const pr_dataset *data, const pr_enclosing *in, const char *path,
                                  parsrec_error *err);

/* What models need to know of it; views. */
pr_shop pr_shop_of(const pr_dataset *data);

/* Of the file it lives in or was made from; "" if there is none. */
static inline const char *pr_dataset_checksum(const pr_dataset *data)
{
    return data->file != NULL       ? pr_container_checksum(data->file)
           : data->checksum != NULL ? data->checksum
                                    : "";
}

/* The user as a model of these data knows them. */
static inline int32_t pr_known_user(const pr_dataset *data, size_t user)
{
    return data->known_as != NULL ? data->known_as[user] : (int32_t)user;
}

/* What is known of a user, and of one of the user's sessions. */
static inline pr_known_features pr_features_of_user(const pr_dataset *data, size_t user)
{
    return (pr_known_features){
        .user = {data->features[PR_OF_USER], data->feature_count[PR_OF_USER], user},
    };
}
static inline pr_known_features pr_features_of_session(const pr_dataset *data, size_t user,
                                                       size_t session)
{
    pr_known_features about = pr_features_of_user(data, user);
    about.session = (pr_feature_row){data->features[PR_OF_SESSION],
                                     data->feature_count[PR_OF_SESSION], session};
    return about;
}

/* "user_feature.", "session_feature.", "item_feature.": the prefix of a feature's name. */
const char *pr_feature_prefix(pr_feature_of table);
/* False for a name that no file can carry: empty, too long, control characters, not UTF-8, or with
 * an ending that marks the tables of values. */
bool pr_feature_name_valid(const char *name);

/* "GROCERY > COOKIES" for a category number; cut to size. Returns buffer. */
char *pr_category_path(const pr_dataset *data, int32_t category, char *buffer, size_t size);

/* Sessions of one item; and whether they are at least 95 % of all, which mostly means that an
 * import missed the column of the session. */
uint64_t pr_one_item_sessions(const pr_dataset *data);
bool pr_mostly_single_items(const pr_dataset *data);

/* ---- for readers of files that carry more than a data set (synth/truth.c) ---- */

/* A tensor of one dimension. `column` is the address of the pointer to set; the second form knows
 * how many elements it must have. */
parsrec_status pr_vector_need(const pr_container *file, const char *name, pr_dtype dtype,
                              const void *column, size_t *count, parsrec_error *err);
parsrec_status pr_column_need(const pr_container *file, const char *name, pr_dtype dtype,
                              const void *column, size_t count, parsrec_error *err);

/* NAME.bytes and NAME.offsets; the offsets begin and end right, their order is checked later. */
parsrec_status pr_names_need(const pr_container *file, const char *name, pr_names *names,
                             parsrec_error *err);

/* Rows of a table: users, sessions or items. */
size_t pr_feature_rows(const pr_dataset *data, pr_feature_of table);

#endif
