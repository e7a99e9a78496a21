/* Scenarios from words. */
#include "whatif/scenario.h"

#include <string.h>

#include "base/memory.h"
#include "base/writer.h"

/* Lines that the words name; *out is to be freed. */
static parsrec_status find_all(size_t **out, pr_lines *lines, const char *const *words,
                               size_t count, parsrec_error *err)
{
    *out = pr_alloc(count, sizeof **out);
    if (*out == NULL)
        return pr_fail_memory(err);
    for (size_t i = 0; i < count; i++)
        PR_TRY(pr_lines_find(lines, words[i], &(*out)[i], err));
    return PARSREC_OK;
}

/* ---- one scenario ---- */

static void write_names(pr_writer *text, const pr_lines *lines, const char *before,
                        const size_t *list, size_t count)
{
    for (size_t i = 0; i < count; i++)
        pr_write(text, "%s%s", i > 0 ? ", " : before, lines->list[list[i]].name);
}

typedef struct change {
    const size_t *drop, *only, *add;
    size_t drop_count, only_count, add_count;
} change;

static parsrec_status name_it(pr_scenario *s, const pr_lines *lines, const change *c,
                              parsrec_error *err)
{
    pr_writer text = {0};
    write_names(&text, lines, "without ", c->drop, c->drop_count);
    write_names(&text, lines, text.size > 0 ? "; nothing but " : "nothing but ", c->only,
                c->only_count);
    write_names(&text, lines, text.size > 0 ? "; with the new " : "with the new ", c->add,
                c->add_count);
    s->name = pr_writer_take(&text);
    text = (pr_writer){0};
    write_names(&text, lines, "leaves: ", c->drop, c->drop_count);
    if (c->only_count > 0)
        pr_write(&text, "%severything else", c->drop_count > 0 ? ", " : "leaves: ");
    else if (c->drop_count == 0)
        pr_write(&text, "leaves: nothing");
    s->leaving = pr_writer_take(&text);
    return s->name != NULL && s->leaving != NULL ? PARSREC_OK : pr_fail_memory(err);
}

static void take_off(pr_scenario *s, const pr_lines *lines, const change *c)
{
    size_t items = lines->data->items;
    for (size_t i = 0; i < items; i++)
        s->off[i] = c->only_count > 0;
    for (size_t i = 0; i < c->only_count; i++)
        for (size_t k = 0; k < lines->list[c->only[i]].count; k++)
            s->off[lines->list[c->only[i]].items[k]] = false;
    for (size_t i = 0; i < c->drop_count; i++)
        for (size_t k = 0; k < lines->list[c->drop[i]].count; k++)
            s->off[lines->list[c->drop[i]].items[k]] = true;
    for (size_t i = 0; i < items; i++)
        s->off_count += s->off[i];
}

static void find_states(pr_scenario *s, const pr_lines *lines)
{
    for (size_t l = 0; l < lines->count; l++) {
        const pr_line *line = &lines->list[l];
        size_t off = pr_scenario_missing(s, line->items, line->count);
        if (line->kind == PR_LINE_NEW)
            off = 0;
        s->state[l] = off == 0 ? PR_SHELF_ALL : off < line->count ? PR_SHELF_PART : PR_SHELF_NONE;
    }
    for (size_t b = 0; b < lines->bins; b++) {
        if (s->state[b] != PR_SHELF_PART)
            continue;
        for (size_t k = 0; k < lines->list[b].count; k++)
            if (s->off[lines->list[b].items[k]]) {
                s->part_items[s->part_item_count] = lines->list[b].items[k];
                s->part_of[s->part_item_count++] = (uint32_t)s->parts;
            }
        s->part[s->parts++] = b;
    }
}

static parsrec_status make(pr_scenario *s, const pr_lines *lines, const change *c,
                           parsrec_error *err)
{
    size_t items = lines->data->items;
    PR_TRY(name_it(s, lines, c, err));
    s->off = pr_alloc(items, sizeof *s->off);
    s->state = pr_alloc(lines->count, sizeof *s->state);
    s->part = pr_alloc(lines->bins, sizeof *s->part);
    s->part_items = pr_alloc(items, sizeof *s->part_items);
    s->part_of = pr_alloc(items, sizeof *s->part_of);
    if (s->off == NULL || s->state == NULL || s->part == NULL || s->part_items == NULL ||
        s->part_of == NULL)
        return pr_fail_memory(err);
    take_off(s, lines, c);
    find_states(s, lines);
    for (size_t i = 0; i < c->add_count; i++)
        s->adds[s->add_count++] = c->add[i];
    if (s->off_count == items)
        return pr_fail(err, PARSREC_E_ARGUMENT,
                       "%s: nothing is left on the shelf; leave something to sell", s->name);
    return PARSREC_OK;
}

/* ---- all of them ---- */

static parsrec_status check(const parsrec_whatif_options *o, parsrec_error *err)
{
    if (o->drop_count + o->only_count + o->add_count == 0)
        return pr_fail(err, PARSREC_E_ARGUMENT,
                       "nothing changes; pass --drop category=NAME, --only or --add");
    if (o->add_count > PR_ADDS_MOST)
        return pr_fail(err, PARSREC_E_LIMIT, "at most %d new items at a time", PR_ADDS_MOST);
    if (o->each && (o->only_count > 0 || o->add_count > 0))
        return pr_fail(err, PARSREC_E_ARGUMENT,
                       "--each makes a scenario of each --drop; it goes without --only and --add");
    return PARSREC_OK;
}

parsrec_status pr_scenarios_init(pr_scenarios *out, pr_lines *lines,
                                 const parsrec_whatif_options *o, parsrec_error *err)
{
    size_t *drop = NULL, *only = NULL, add[PR_ADDS_MOST];
    parsrec_status status;
    *out = (pr_scenarios){0};
    PR_TRY(check(o, err));
    PR_TRY_GOTO(find_all(&drop, lines, o->drop, o->drop_count, err));
    PR_TRY_GOTO(find_all(&only, lines, o->only, o->only_count, err));
    for (size_t i = 0; i < o->add_count; i++)
        PR_TRY_GOTO(pr_lines_add(lines, o->add[i], &add[i], err));
    size_t count = o->each ? o->drop_count : 1;
    out->list = pr_alloc_zero(count, sizeof *out->list);
    if (out->list == NULL) {
        status = pr_fail_memory(err);
        goto done;
    }
    out->count = count;
    for (size_t i = 0; i < count; i++) {
        change c = {.drop = o->each ? drop + i : drop,
                    .drop_count = o->each ? 1 : o->drop_count,
                    .only = only,
                    .only_count = o->only_count,
                    .add = add,
                    .add_count = o->add_count};
        PR_TRY_GOTO(make(&out->list[i], lines, &c, err));
        if (out->list[i].parts > out->parts)
            out->parts = out->list[i].parts;
        out->adds = o->add_count;
    }
done:
    pr_free(drop);
    pr_free(only);
    return status;
}

void pr_scenarios_free(pr_scenarios *scenarios)
{
    for (size_t i = 0; i < scenarios->count; i++) {
        pr_scenario *s = &scenarios->list[i];
        pr_free(s->name);
        pr_free(s->leaving);
        pr_free(s->off);
        pr_free(s->state);
        pr_free(s->part);
        pr_free(s->part_items);
        pr_free(s->part_of);
    }
    pr_free(scenarios->list);
    *scenarios = (pr_scenarios){0};
}
