/* Rows become actions: the names of users and items become numbers, texts become times, and rows
 * that cannot be read are refused.
 *
 * A pr_collect begins zeroed, with `sort`, `keyed` and `time_pattern` set by the caller. After the
 * last row pr_collect_seal frees what only reading needs, and pr_assembly_make takes the actions. */
#ifndef PR_COLLECT_H
#define PR_COLLECT_H

#include "base/intern.h"
#include "import/gather.h"
#include "import/rows.h"
#include "import/times.h"

/* Which column of an input is what; PR_NO_COLUMN for what it lacks. */
typedef struct pr_action_columns {
    size_t user, session, time, item;
    size_t quantity;
} pr_action_columns;

typedef struct pr_collect {
    bool sort;                /* accept times that go back; else such a row is refused */
    bool keyed;               /* sessions have keys: the session column, where it is not empty */
    const char *time_pattern; /* for pr_time_parse_as; NULL: pr_time_parse */
    /* For one of several shards: rows of other users are counted in `elsewhere` and left out, or refused
     * if the input is said to have none; `items` are those of a dictionary. 0 shards: all rows. */
    uint32_t shards, shard;
    bool dealt;
    uint64_t elsewhere;
    uint64_t returns; /* rows left out because of their quantity */

    pr_intern users, items;
    pr_gather gathered;
    struct pr_spill *spill; /* not NULL: actions go there and not to `gathered`; the caller's */
    size_t actions;         /* accepted so far */
    int64_t *last_time;     /* [users.count]: of the user's latest row */
    size_t last_capacity;
    pr_time_form form; /* of all times so far; set once there are actions */
    int64_t least_time, greatest_time;
    uint64_t trimmed; /* keys that had blanks around them */

    /* A date in a form that is not read without --time-format, such as 31.12.2010: the guess and
     * line of the first, the text of the latest. For messages. */
    pr_time_guess foreign;
    uint64_t foreign_line; /* 0: none */
    char foreign_text[48];

    /* The row before, since most rows have the same user and time. */
    uint64_t repeatable; /* its line, if a row like it is the same again but for the item; else 0 */
    uint32_t last_user, last_item;
    pr_slice last_text;
    char last_hold[40];
    pr_time_form last_form;
    int64_t last_value;
    struct name_cache *items_seen; /* numbers of short item names, in front of `items` */
} pr_collect;

void pr_collect_free(pr_collect *c); /* a zeroed one is fine */

/* Adds a row, or refuses it with E_INPUT; a refused row leaves nothing but a note of a foreign
 * date. */
parsrec_status pr_collect_row(pr_collect *c, const pr_rows *rows, const pr_action_columns *columns,
                              const pr_row *row, parsrec_error *err);

/* Takes only the item and the time of a row, for a dictionary. */
parsrec_status pr_collect_item(pr_collect *c, const pr_rows *rows, const pr_action_columns *columns,
                               const pr_row *row, parsrec_error *err);

/* Frees what only reading needs: the keys of sessions and the hash tables of users and items. No
 * rows can be added and no session keys asked for afterwards. */
void pr_collect_seal(pr_collect *c);

/* True of a byte that may be part of a blank: space, tab, or a no-break space (C2 A0 in UTF-8). */
static inline bool pr_key_blank(unsigned char c)
{
    return c == ' ' || c == '\t' || c == 0xC2 || c == 0xA0;
}
/* A key without blanks at its ends; *count grows by 1 if it had any. Most keys have none and do not
 * reach pr_key_trim. */
static inline pr_slice pr_key(pr_slice key, uint64_t *count)
{
    if (key.size == 0 || (!pr_key_blank((unsigned char)key.bytes[0]) &&
                          !pr_key_blank((unsigned char)key.bytes[key.size - 1])))
        return key;
    pr_slice own = pr_key_trim(key);
    *count += own.size < key.size;
    return own;
}

/* After a row was refused for a foreign date that may have its day or its month first: reads on, up
 * to a bound, for a date that decides it. Always E_INPUT, with a sentence that gives the pattern, or
 * both if no row decides. */
parsrec_status pr_collect_foreign(const pr_collect *c, pr_rows *rows, size_t column,
                                  parsrec_error *err);

#endif
