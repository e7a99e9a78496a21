/* parsrec list: which users, items and categories are in a file, and what they are called. */
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "cli/commands.h"
#include "cli/shared.h"
#include "cli/terminal.h"

typedef struct list_args {
    uint64_t most;
    bool json;
} list_args;

static const cli_option options[] = {
    CLI_COUNT('n', "most", list_args, most, 0, 9223372036854775807.0, "rows to show; 0 shows all"),
    CLI_FLAG(0, "json", list_args, json, "print the rows as JSON"),
    CLI_END,
};

const cli_command cli_list = {
    .name = "list",
    .summary = "users, items or categories of a data set or model",
    .usage = "parsrec list FILE users|items|categories [TEXT] [options]",
    .details =
        "Those in the most baskets first. TEXT keeps those whose key, name or path contains\n"
        "it, whatever its case. A category counts the baskets with an item of it or of a\n"
        "category below it. FILE may also come after the word.\n",
    .examples = "  parsrec list shop.data items coffee\n"
                "  parsrec list shop.model categories\n"
                "  parsrec list shop.data users -n 5 --json\n",
    .options = options,
    .least_words = 2,
    .most_words = 3,
};

static const char *const things[] = {"users", "items", "categories", NULL};

enum { KEY_WIDTH = 16, NAME_WIDTH = 36, PATH_WIDTH = 44, CELL = 256, PATH_BYTES = 4096 };

/* ---- shared with info ---- */

void cli_fit(char *out, size_t size, parsrec_name name, size_t width)
{
    size_t characters = 0, at = 0, cut = 0;
    for (; at < name.size && at + 4 < size; at++) {
        if (!pr_utf8_begins(name.bytes[at]))
            continue;
        if (characters + 3 == width)
            cut = at; /* where "..." goes if the rest does not fit */
        if (characters++ == width)
            break;
    }
    bool whole = at == name.size;
    size_t kept = whole ? name.size : cut;
    memcpy(out, name.bytes, kept);
    memcpy(out + kept, whole ? "" : "...", whole ? 1 : 4);
    pr_text_clean(out);
}

static json_t *name_json(parsrec_name name)
{
    return json_stringn(name.bytes, name.size);
}

json_t *cli_listed_json(const parsrec_data *data, parsrec_thing thing, const parsrec_listed *row)
{
    char path[PATH_BYTES];
    json_t *json = json_object();
    int32_t category = thing == PARSREC_CATEGORY ? row->number
                       : thing == PARSREC_ITEM   ? parsrec_data_item_category(data, row->number)
                                                 : -1;
    int bad = 0;
    if (thing != PARSREC_CATEGORY)
        bad |= json_object_set_new(json, thing == PARSREC_USER ? "user" : "item",
                                   name_json(parsrec_data_key(data, thing, row->number)));
    if (thing == PARSREC_ITEM)
        bad |=
            json_object_set_new(json, "name", name_json(parsrec_data_item_name(data, row->number)));
    if (category >= 0)
        bad |= json_object_set_new(
            json, "category",
            json_string(parsrec_data_category_path(data, category, path, sizeof path)));
    bad |= json_object_set_new(json, "sessions", json_integer((json_int_t)row->sessions));
    bad |= json_object_set_new(json, "actions", json_integer((json_int_t)row->actions));
    if (thing != PARSREC_USER)
        bad |= json_object_set_new(json, "users", json_integer((json_int_t)row->users));
    if (bad == 0)
        return json;
    json_decref(json);
    return NULL;
}

/* ---- the table ---- */

static void print_cell(parsrec_name name, int width)
{
    char cell[CELL];
    cli_fit(cell, sizeof cell, name, (size_t)width);
    cli_print_text(cell);
    printf("%*s  ", width - pr_text_width(cell), "");
}

static void print_path(const parsrec_data *data, int32_t category, int width)
{
    char path[PATH_BYTES];
    parsrec_data_category_path(data, category, path, sizeof path);
    print_cell((parsrec_name){path, strlen(path)}, width);
}

static void print_row(const parsrec_data *data, parsrec_thing thing, const parsrec_listed *row)
{
    pr_digits sessions, other;
    if (thing == PARSREC_CATEGORY) {
        print_path(data, row->number, PATH_WIDTH + 12);
    } else {
        print_cell(parsrec_data_key(data, thing, row->number), KEY_WIDTH);
        if (thing == PARSREC_ITEM) {
            print_cell(parsrec_data_item_name(data, row->number), NAME_WIDTH);
            print_path(data, parsrec_data_item_category(data, row->number), NAME_WIDTH - 12);
        }
    }
    printf("%10s%10s\n", pr_digits_of(&sessions, row->sessions),
           pr_digits_of(&other, thing == PARSREC_USER ? row->actions : row->users));
}

static int print_text(const list_args *a, const parsrec_data *data, parsrec_thing thing,
                      const parsrec_listed *rows, size_t count)
{
    static const char *const heads[] = {
        "user                 baskets     items\n",
        ("item              name                                  category                      "
         "baskets     users\n"),
        "category                                                       baskets     users\n"};
    size_t shown = a->most > 0 && a->most < count ? (size_t)a->most : count;
    pr_digits number;
    fputs(heads[thing], stdout);
    for (size_t i = 0; i < shown; i++)
        print_row(data, thing, &rows[i]);
    if (shown < count)
        printf("and %s more; -n 0 shows all, TEXT narrows it down\n",
               pr_digits_of(&number, count - shown));
    return cli_close_output("list");
}

static int print_json(const list_args *a, const parsrec_data *data, parsrec_thing thing,
                      const parsrec_listed *rows, size_t count)
{
    json_t *list = json_array();
    size_t shown = a->most > 0 && a->most < count ? (size_t)a->most : count;
    int bad = 0;
    for (size_t i = 0; i < shown; i++)
        bad |= json_array_append_new(list, cli_listed_json(data, thing, &rows[i]));
    json_t *json =
        bad == 0 ? json_pack("{s:o, s:I}", things[thing], list, "total", (json_int_t)count) : NULL;
    if (bad != 0)
        json_decref(list);
    return cli_print_json("list", json);
}

/* Its place in `things`; that of the NULL at the end for another word. */
static size_t thing_named(const char *word)
{
    size_t thing = 0;
    while (things[thing] != NULL && strcmp(things[thing], word) != 0)
        thing++;
    return thing;
}

int cmd_list(int argc, char **argv)
{
    list_args a = {.most = 20};
    cli_words words;
    int rc = cli_parse(&cli_list, &a, &words, argc, argv);
    if (rc != CLI_CONTINUE)
        return rc;
    const char *path = words.word[0], *text = words.count > 2 ? words.word[2] : NULL;
    size_t thing = thing_named(words.word[1]);
    if (things[thing] == NULL && things[thing_named(path)] != NULL) { /* list users FILE */
        thing = thing_named(path);
        path = words.word[1];
    }
    if (things[thing] == NULL)
        return cli_usage_error(&cli_list,
                               "'%s' cannot be listed: expected users, items or "
                               "categories",
                               words.word[1]);
    cli_input input;
    parsrec_listed *rows = NULL;
    size_t count = 0;
    parsrec_error err = {0};
    parsrec_status status = cli_input_open(&input, path, &err);
    if (status == PARSREC_OK)
        status = parsrec_data_list(&rows, &count, input.data, (parsrec_thing)thing, text, &err);
    cli_finish_line();
    if (status == PARSREC_OK && count == 0 && text != NULL) {
        pr_excerpt hold;
        fprintf(stderr, "note: none of the %s of %s contains %s\n", things[thing], path,
                pr_show(&hold, pr_slice_of(text)));
    }
    if (status != PARSREC_OK)
        rc = cli_report("list", &err);
    else
        rc = a.json ? print_json(&a, input.data, (parsrec_thing)thing, rows, count)
                    : print_text(&a, input.data, (parsrec_thing)thing, rows, count);
    parsrec_list_free(rows);
    cli_input_close(&input);
    return rc;
}
