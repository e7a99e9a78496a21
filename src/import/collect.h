/* The rows of the actions, gathered in the order of the input: names become numbers, rows of one
 * session a run. At most 12 bytes per action and 16 per session, besides the names. */
#ifndef PR_COLLECT_H
#define PR_COLLECT_H

#include "base/intern.h"
#include "import/name_cache.h"
#include "import/rows.h"
#include "import/times.h"

/* Where an input has what; PR_NO_COLUMN for what it lacks. */
typedef struct pr_action_columns {
    size_t user, session, time, item;
} pr_action_columns;

/* Consecutive actions of one session. */
typedef struct pr_collect_run {
    uint32_t session, count;
} pr_collect_run;

typedef struct pr_collect {
    bool sort;                /* times may go back */
    bool keyed;               /* the session column identifies sessions, where it is not empty */
    const char *time_pattern; /* of pr_time_parse_as; NULL: pr_time_parse */
    pr_intern users, items;
    pr_intern keys;        /* of sessions: the user's number in 4 bytes, then the session's text */
    uint32_t *key_session; /* [keys.count] */
    int32_t *action_items;
    pr_collect_run *runs;
    uint32_t *session_user;
    int64_t *session_time; /* the earliest of its actions */
    int64_t *last_time;    /* [users.count] */
    size_t actions, run_count, sessions;
    size_t key_capacity, action_capacity, run_capacity, user_capacity, time_capacity, last_capacity;
    pr_time_form form; /* of all times so far, when there are actions */
    int64_t least_time, greatest_time;
    uint64_t trimmed; /* keys that had blanks around them */

    /* The first date of a foreign form, for the sentence about it. */
    pr_time_guess foreign;
    uint64_t foreign_line; /* 0: none */
    char foreign_text[48];

    /* The row before: most rows have the same user, session and time. */
    uint32_t last_user, last_session;
    size_t last_key; /* SIZE_MAX: none */
    pr_slice last_text;
    char last_hold[40];
    pr_time_form last_form;
    int64_t last_value;
    pr_name_cache *items_seen;
    char *scratch; /* for composed keys */
    size_t scratch_capacity;
} pr_collect;

void pr_collect_free(pr_collect *c);
/* What only reading needs: the keys of sessions, the slots of the names. */
void pr_collect_seal(pr_collect *c);

/* Adds a row, or refuses it with E_INPUT and leaves no trace of it. */
parsrec_status pr_collect_row(pr_collect *c, const pr_rows *rows, const pr_action_columns *columns,
                              const pr_row *row, parsrec_error *err);

/* A key without spaces, tabs and no-break spaces at its ends; counts those that had some. */
static inline bool pr_key_blank(unsigned char c)
{
    return c == ' ' || c == '\t' || c == 0xC2 || c == 0xA0;
}
pr_slice pr_key_trim(pr_slice key, uint64_t *count);
static inline pr_slice pr_key(pr_slice key, uint64_t *count)
{
    if (key.size == 0 || (!pr_key_blank((unsigned char)key.bytes[0]) &&
                          !pr_key_blank((unsigned char)key.bytes[key.size - 1])))
        return key;
    return pr_key_trim(key, count);
}

/* Once a foreign date may have its day or its month first: looks at the times of later rows, up to
 * a bound, and says which, if one of them shows it. E_INPUT with the sentence. */
parsrec_status pr_collect_foreign(const pr_collect *c, pr_rows *rows, size_t column,
                                  parsrec_error *err);

/* The text of session key number k, and whose it is. */
pr_slice pr_collect_key(const pr_collect *c, size_t k, uint32_t *user);

#endif
