/* From rows to actions: the fields of a row are looked up, checked and stored as numbers. */
#include "import/collect.h"

#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "data/shards.h"
#include "import/spill.h"

/* ---- numbers of short names seen lately, in front of a pr_intern ----
 *
 * A name of up to 8 bytes is one word to compare, where the table takes a hash and three dependent
 * reads. Names hold no NUL. Each name has one place: names chosen to share it cost a look into the
 * table each, and no search. */

enum { CACHE_BITS = 15 };

typedef struct name_cache {
    uint64_t word[1 << CACHE_BITS]; /* 0: empty */
    uint32_t number[1 << CACHE_BITS];
} name_cache;

/* The name's 1 to 8 bytes, then zeros. */
static uint64_t word_of(pr_slice name)
{
    const char *s = name.bytes;
    size_t n = name.size;
    if (n >= 4) {
        uint32_t head, tail;
        memcpy(&head, s, 4);
        memcpy(&tail, s + n - 4, 4);
        return head | (uint64_t)tail << (n - 4) * 8;
    }
    uint64_t first = (unsigned char)s[0], middle = (unsigned char)s[n / 2];
    return first | middle << n / 2 * 8 | (uint64_t)(unsigned char)s[n - 1] << (n - 1) * 8;
}

/* As pr_intern_add, for a name that is not empty. */
static parsrec_status number_of(name_cache *cache, pr_intern *table, pr_slice name,
                                uint32_t *number, parsrec_error *err)
{
    if (name.size > 8)
        return pr_intern_add(table, name, number, err);
    uint64_t word = word_of(name);
    size_t at = (size_t)(word * 0x9E3779B97F4A7C15u >> (64 - CACHE_BITS));
    if (cache->word[at] == word) {
        *number = cache->number[at];
        return PARSREC_OK;
    }
    parsrec_status status = pr_intern_add(table, name, number, err);
    if (status == PARSREC_OK) {
        cache->word[at] = word;
        cache->number[at] = *number;
    }
    return status;
}

/* What pr_collect_seal gives up early. */
static void free_lookup(pr_collect *c)
{
    pr_free(c->last_time);
    pr_free(c->items_seen);
    c->items_seen = NULL;
    c->last_time = NULL;
}

void pr_collect_seal(pr_collect *c)
{
    free_lookup(c);
    pr_gather_seal(&c->gathered);
    pr_intern_seal(&c->users);
    pr_intern_seal(&c->items);
}

void pr_collect_free(pr_collect *c)
{
    free_lookup(c);
    pr_intern_free(&c->users);
    pr_intern_free(&c->items);
    pr_gather_free(&c->gathered);
    *c = (pr_collect){0};
}

/* ---- times ---- */

static parsrec_status fail_mixed_times(const pr_rows *rows, const pr_action_columns *columns,
                                       uint64_t line, pr_slice text, pr_time_form before,
                                       parsrec_error *err)
{
    static const char *const forms[] = {"empty", "numbers", "dates"};
    pr_excerpt hold;
    if (columns->time == PR_NO_COLUMN)
        return pr_fail(err, PARSREC_E_INPUT,
                       "%s: has no times, but the inputs before it have; give all of them times",
                       rows->name);
    if (pr_slice_trim(text).size == 0)
        return pr_rows_fail(rows, line, columns->time, err,
                            "the time is empty, but those before are %s; --max-bad N skips up to N "
                            "rows",
                            forms[before]);
    return pr_rows_fail(rows, line, columns->time, err,
                        "the time %s is of another kind than those before, which are %s",
                        pr_show(&hold, text), forms[before]);
}

static bool is_clock(pr_slice text)
{
    text = pr_slice_trim(text);
    size_t digits = 0, colons = 0;
    for (size_t i = 0; i < text.size; i++) {
        digits += text.bytes[i] >= '0' && text.bytes[i] <= '9';
        colons += text.bytes[i] == ':';
    }
    return colons > 0 && digits + colons == text.size && digits <= 6;
}

static bool may_be_excel(pr_slice text)
{
    double days;
    return pr_parse_f64(pr_slice_trim(text), &days) && days >= 20000 && days < 80000;
}

/* "45292,5": digits on both sides of one comma. */
static bool has_decimal_comma(pr_slice text)
{
    text = pr_slice_trim(text);
    size_t commas = 0, at = 0;
    for (size_t i = text.size > 0 && text.bytes[0] == '-'; i < text.size; i++) {
        if (text.bytes[i] != ',' && (text.bytes[i] < '0' || text.bytes[i] > '9'))
            return false;
        commas += text.bytes[i] == ',';
        at = text.bytes[i] == ',' ? i : at;
    }
    return commas == 1 && at > 0 && at + 1 < text.size;
}

static parsrec_status fail_comma(const pr_collect *c, const pr_rows *rows, const pr_row *row,
                                 size_t column, parsrec_error *err)
{
    pr_excerpt hold;
    pr_slice text = pr_slice_trim(row->fields[column]);
    pr_slice whole = {text.bytes, 0};
    while (text.bytes[whole.size] != ',')
        whole.size++;
    return pr_rows_fail(rows, row->line, column, err, "the time %s has a decimal comma; %s",
                        pr_show(&hold, text),
                        c->time_pattern == NULL && may_be_excel(whole)
                            ? "if it is a day number of Excel, add --time-format excel"
                            : "write it with a decimal point, or without the fraction");
}

static parsrec_status fail_foreign(const pr_collect *c, const pr_rows *rows, uint64_t line,
                                   size_t column, const pr_time_guess *g, parsrec_error *err)
{
    char other[96] = "", fits[64] = "";
    pr_excerpt hold;
    if (g->other[0] != '\0')
        snprintf(other, sizeof other, ", or '%s' if the month comes first", g->other);
    if (c->time_pattern != NULL)
        snprintf(fits, sizeof fits, " than --time-format '%s'", c->time_pattern);
    return pr_rows_fail(rows, line, column, err,
                        "the date %s has another form%s; add --time-format '%s'%s",
                        pr_show(&hold, pr_slice_of(c->foreign_text)), fits, g->pattern, other);
}

static parsrec_status fail_time(pr_collect *c, const pr_rows *rows, const pr_row *row,
                                size_t column, const char *problem, parsrec_error *err)
{
    pr_excerpt hold;
    pr_time_guess guess;
    pr_slice text = row->fields[column];
    if (pr_time_guess_pattern(text, &guess)) {
        snprintf(c->foreign_text, sizeof c->foreign_text, "%.*s", (int)text.size, text.bytes);
        if (c->foreign_line == 0) {
            c->foreign = guess;
            c->foreign_line = row->line;
        }
        return fail_foreign(c, rows, row->line, column, &guess, err);
    }
    if (is_clock(text))
        return pr_rows_fail(rows, row->line, column, err,
                            "%s is a time of day without a date; name the column of the date with "
                            "--time",
                            pr_show(&hold, text));
    if (c->time_pattern == NULL && may_be_excel(text))
        return pr_rows_fail(rows, row->line, column, err,
                            "the time %s looks like a day number of Excel; add --time-format excel",
                            pr_show(&hold, text));
    if (has_decimal_comma(text))
        return fail_comma(c, rows, row, column, err);
    if (c->time_pattern == NULL)
        return pr_rows_fail(rows, row->line, column, err,
                            "the time %s %s; %sdescribe its form with --time-format",
                            pr_show(&hold, text), problem,
                            strncmp(problem, "has ", 4) == 0 ? "correct it, or " : "");
    static const char option[] = "--time-format"; /* a problem that ends in it wants the pattern */
    size_t size = strlen(problem), ending = sizeof option - 1;
    bool of_form = size >= ending && strcmp(problem + size - ending, option) == 0;
    return pr_rows_fail(rows, row->line, column, err, "the time %s %s%s '%s'", pr_show(&hold, text),
                        problem, of_form ? "" : "; correct it, or check --time-format",
                        c->time_pattern);
}

parsrec_status pr_collect_foreign(const pr_collect *c, pr_rows *rows, size_t column,
                                  parsrec_error *err)
{
    enum { LOOK_ROWS = 1 << 18 };
    pr_time_guess settled = c->foreign;
    for (size_t n = 0; n < LOOK_ROWS && settled.other[0] != '\0'; n++) {
        pr_row row;
        bool end;
        pr_time_guess guess;
        parsrec_status status = rows->next(rows, &row, &end, NULL);
        if (status == PARSREC_E_INPUT)
            continue;
        if (status != PARSREC_OK || end)
            break;
        if (pr_time_guess_pattern(row.fields[column], &guess) && guess.other[0] == '\0' &&
            (strcmp(guess.pattern, settled.pattern) == 0 ||
             strcmp(guess.pattern, settled.other) == 0))
            settled = guess;
    }
    return fail_foreign(c, rows, c->foreign_line, column, &settled, err);
}

/* The time of a row. A text equal to that of the row before is not parsed again. */
static parsrec_status read_time(pr_collect *c, const pr_rows *rows,
                                const pr_action_columns *columns, const pr_row *row, int64_t *value,
                                pr_time_form *form, parsrec_error *err)
{
    pr_slice text = {"", 0};
    if (columns->time != PR_NO_COLUMN)
        text = row->fields[columns->time];
    if (c->last_text.bytes != NULL && pr_slice_equal(text, c->last_text)) {
        *value = c->last_value;
        *form = c->last_form;
    } else {
        const char *problem = c->time_pattern != NULL
                                  ? pr_time_parse_as(text, c->time_pattern, form, value)
                                  : pr_time_parse(text, form, value);
        if (problem != NULL)
            return fail_time(c, rows, row, columns->time, problem, err);
        c->last_text = (pr_slice){NULL, 0};
        if (text.size <= sizeof c->last_hold) {
            memcpy(c->last_hold, text.bytes, text.size);
            c->last_text = (pr_slice){c->last_hold, text.size};
            c->last_value = *value;
            c->last_form = *form;
        }
    }
    if (c->actions > 0 && *form != c->form)
        return fail_mixed_times(rows, columns, row->line, text, c->form, err);
    return PARSREC_OK;
}

static parsrec_status check_order(pr_collect *c, const pr_rows *rows, size_t column,
                                  const pr_row *row, uint32_t user, int64_t time,
                                  parsrec_error *err)
{
    pr_excerpt who, when;
    if (!c->sort && time < c->last_time[user])
        return pr_rows_fail(rows, row->line, column, err,
                            "the time %s lies before the row above of user %s; sort the file or "
                            "add --sort",
                            pr_show(&when, row->fields[column]),
                            pr_show(&who, pr_intern_name(&c->users, user)));
    c->last_time[user] = time;
    return PARSREC_OK;
}

/* ---- users, items ---- */

static bool is_last_user(const pr_collect *c, pr_slice name)
{
    return c->users.count > 0 && pr_slice_equal(name, pr_intern_name(&c->users, c->last_user));
}

static parsrec_status find_user(pr_collect *c, pr_slice name, uint32_t *user, parsrec_error *err)
{
    if (is_last_user(c, name)) {
        *user = c->last_user;
        return PARSREC_OK;
    }
    size_t before = c->users.count;
    PR_TRY(pr_grow(&c->last_time, &c->last_capacity, before + 1, sizeof *c->last_time, err));
    PR_TRY(pr_intern_add(&c->users, name, user, err));
    if (c->users.count > before)
        c->last_time[before] = INT64_MIN;
    return PARSREC_OK;
}

/* A row of an input that another engine dealt to this shard, by another rule. Not a bad row to be
 * skipped: all rows of that user would be lost. */
static parsrec_status fail_dealt(const pr_collect *c, const pr_rows *rows, const pr_row *row,
                                 size_t column, pr_slice user, parsrec_error *err)
{
    pr_excerpt hold;
    parsrec_error place = {0};
    pr_rows_fail(
        rows, row->line, column, &place,
        "the user %s belongs to shard %u of %u, not to %u; deal the rows as docs/shards.md "
        "says",
        pr_show(&hold, user), pr_shard_of(user, c->shards), c->shards, c->shard);
    return pr_fail(err, PARSREC_E_ARGUMENT, "%s", place.message);
}

static parsrec_status refuse_empty(const pr_rows *rows, const pr_row *row, size_t column,
                                   const char *what, parsrec_error *err)
{
    return pr_rows_fail(rows, row->line, column, err,
                        "%s; every row needs one; --max-bad N skips up to N rows", what);
}

static parsrec_status find_item(pr_collect *c, pr_slice name, uint32_t *item, parsrec_error *err)
{
    if (c->items_seen == NULL)
        c->items_seen = pr_alloc_zero(1, sizeof *c->items_seen);
    if (c->items_seen == NULL)
        return pr_fail_memory(err);
    return number_of(c->items_seen, &c->items, name, item, err);
}

/* What is true of every row that is accepted. */
static void count_row(pr_collect *c, pr_time_form form, int64_t time, uint64_t trimmed)
{
    bool first = c->actions == 0;
    c->form = form;
    if (first || time < c->least_time)
        c->least_time = time;
    if (first || time > c->greatest_time)
        c->greatest_time = time;
    c->trimmed = trimmed;
    c->actions++;
}

/* A number as tables show it, without blanks and apostrophes between its digits, and the minus sign of
 * Unicode as "-". What does not fit into `plain` is no number and comes out empty. */
static pr_slice plain_number(pr_slice text, char *plain, size_t size)
{
    static const struct {
        const char *mark, *instead;
    } marks[] = {{" ", ""},
                 {"\t", ""},
                 {"'", ""},
                 {"\xC2\xA0", ""},
                 {"\xE2\x80\xAF", ""},
                 {"\xE2\x80\x99", ""},
                 {"\xE2\x88\x92", "-"}};
    enum { MARKS = sizeof marks / sizeof *marks };
    size_t n = 0;
    for (size_t at = 0; at < text.size;) {
        size_t m = 0, left = text.size - at;
        while (m < MARKS && (strlen(marks[m].mark) > left ||
                             memcmp(text.bytes + at, marks[m].mark, strlen(marks[m].mark)) != 0))
            m++;
        if (n == size)
            return (pr_slice){plain, 0};
        if (m == MARKS || marks[m].instead[0] != '\0')
            plain[n++] = m == MARKS ? text.bytes[at] : marks[m].instead[0];
        at += m == MARKS ? 1 : strlen(marks[m].mark);
    }
    return (pr_slice){plain, n};
}

/* True of a quantity of 0 or less: "-1", "0,00", "1-" as some tills put it, "(1)" as bookkeepers do,
 * "- 1 000" with blanks. Whatever is no number, as "-" or "-PCS", is taken for a purchase. */
static bool is_return(pr_slice quantity)
{
    char plain[64];
    if (quantity.size < 2) /* nearly all of them */
        return pr_slice_is(quantity, "0");
    pr_slice text = plain_number(quantity, plain, sizeof plain);
    bool digits = false, zero = true;
    bool bracketed = text.size > 2 && text.bytes[0] == '(' && text.bytes[text.size - 1] == ')';
    if (bracketed)
        text = (pr_slice){text.bytes + 1, text.size - 2};
    for (size_t i = 0; i < text.size; i++) {
        char c = text.bytes[i];
        bool digit = c >= '0' && c <= '9', end = i == 0 || i + 1 == text.size;
        if (!digit && c != '.' && c != ',' && !(c == '-' && end))
            return false;
        digits |= digit;
        zero &= c == '0' || !digit;
    }
    return digits &&
           (zero || bracketed || text.bytes[0] == '-' || text.bytes[text.size - 1] == '-');
}

static bool leave_out(pr_collect *c, const pr_action_columns *columns, const pr_row *row)
{
    bool out = columns->quantity != PR_NO_COLUMN && is_return(row->fields[columns->quantity]);
    c->returns += out;
    return out;
}

/* True of a row that is known to be the one before but for its item. */
static bool repeats_row(const pr_collect *c, const pr_action_columns *columns, const pr_row *row)
{
    uint64_t fields = pr_row_bit(columns->user) | pr_row_bit(columns->session);
    if (columns->time != PR_NO_COLUMN)
        fields |= pr_row_bit(columns->time);
    return row->line == c->repeatable + 1 && c->repeatable != 0 && c->spill == NULL &&
           (row->same & fields) == fields;
}

static parsrec_status repeat_row(pr_collect *c, const pr_rows *rows,
                                 const pr_action_columns *columns, const pr_row *row,
                                 parsrec_error *err)
{
    uint32_t item;
    uint64_t trimmed = c->trimmed;
    pr_slice name = pr_key(row->fields[columns->item], &trimmed);
    if (name.size == 0)
        return refuse_empty(rows, row, columns->item, "the item has no name", err);
    PR_TRY(find_item(c, name, &item, err));
    PR_TRY(pr_gather_again(&c->gathered, item, err));
    c->repeatable = row->line;
    c->last_item = item;
    c->trimmed = trimmed;
    c->actions++;
    return PARSREC_OK;
}

parsrec_status pr_collect_row(pr_collect *c, const pr_rows *rows, const pr_action_columns *columns,
                              const pr_row *row, parsrec_error *err)
{
    if (leave_out(c, columns, row))
        return PARSREC_OK;
    if (row->same != 0 && repeats_row(c, columns, row))
        return repeat_row(c, rows, columns, row, err);
    uint64_t trimmed = c->trimmed;
    pr_slice name = pr_key(row->fields[columns->user], &trimmed);
    pr_action action = {.session = {"", 0}};
    pr_time_form form;
    pr_excerpt hold;
    if (name.size == 0)
        return refuse_empty(rows, row, columns->user, "the user is empty", err);
    if (c->shards > 0 && !is_last_user(c, name) && pr_shard_of(name, c->shards) != c->shard) {
        if (c->dealt)
            return fail_dealt(c, rows, row, columns->user, name, err);
        c->elsewhere++;
        return PARSREC_OK;
    }
    pr_slice item_name = pr_key(row->fields[columns->item], &trimmed);
    if (item_name.size == 0)
        return refuse_empty(rows, row, columns->item, "the item has no name", err);
    if (c->shards > 0 && !pr_intern_find(&c->items, item_name, &action.item))
        return pr_rows_fail(rows, row->line, columns->item, err,
                            "the dictionary has no item %s; make it of all rows, or skip up to N "
                            "such rows with --max-bad N",
                            pr_show(&hold, item_name));
    PR_TRY(read_time(c, rows, columns, row, &action.time, &form, err));
    PR_TRY(find_user(c, name, &action.user, err));
    if (form != PR_TIME_EMPTY)
        PR_TRY(check_order(c, rows, columns->time, row, action.user, action.time, err));
    if (c->shards == 0)
        PR_TRY(find_item(c, item_name, &action.item, err));
    if (c->keyed && columns->session != PR_NO_COLUMN)
        action.session = pr_key(row->fields[columns->session], &trimmed);
    PR_TRY(c->spill != NULL ? pr_spill_add(c->spill, &action, err)
                            : pr_gather_add(&c->gathered, &action, err));
    c->last_user = action.user;
    c->last_item = action.item;
    c->repeatable =
        action.session.size > 0 && trimmed == c->trimmed && c->shards == 0 ? row->line : 0;
    count_row(c, form, action.time, trimmed);
    return PARSREC_OK;
}

parsrec_status pr_collect_item(pr_collect *c, const pr_rows *rows, const pr_action_columns *columns,
                               const pr_row *row, parsrec_error *err)
{
    uint64_t trimmed = c->trimmed;
    uint32_t item;
    int64_t time;
    pr_time_form form;
    if (leave_out(c, columns, row))
        return PARSREC_OK;
    pr_slice name = pr_key(row->fields[columns->item], &trimmed);
    if (name.size == 0)
        return refuse_empty(rows, row, columns->item, "the item has no name", err);
    PR_TRY(read_time(c, rows, columns, row, &time, &form, err));
    PR_TRY(find_item(c, name, &item, err));
    count_row(c, form, time, trimmed);
    return PARSREC_OK;
}
