/* Answers as JSON text, written straight away: a tree of values would cost as much again as the scores. */
#include <string.h>

#include "recommend/answering.h"

/* The answer's words are constants. */
#define WRITE(writer, text) pr_write_bytes(writer, text, sizeof(text) - 1)

void pr_name_write(pr_writer *w, parsrec_name name)
{
    if (name.size > 0)
        pr_write_quoted(w, name.bytes, name.size);
    else
        WRITE(w, "null");
}

static void write_category(pr_writer *w, const parsrec_model *model, int32_t item)
{
    char path[1024];
    int32_t category = parsrec_model_item_category(model, item);
    if (category < 0) {
        WRITE(w, "null");
        return;
    }
    size_t size = strlen(parsrec_model_category_path(model, category, path, sizeof path)), cut;
    if (size == sizeof path - 1 && !pr_utf8_valid(path, size, &cut))
        size = cut; /* it was too long, and ended within a character */
    pr_write_quoted(w, path, size);
}

static void write_hit(pr_writer *w, const parsrec_scratch *own, size_t i)
{
    const parsrec_hit *hit = &own->hits[i];
    WRITE(w, "{\"item\":");
    pr_name_write(w, parsrec_model_key(own->model, PARSREC_ITEM, hit->item));
    WRITE(w, ",\"name\":");
    pr_name_write(w, parsrec_model_item_name(own->model, hit->item));
    WRITE(w, ",\"category\":");
    write_category(w, own->model, hit->item);
    WRITE(w, ",\"score\":");
    pr_write_float(w, hit->score);
    if (own->explain) {
        WRITE(w, ",\"why\":");
        pr_why_write(w, own->model, &own->whys[i]);
    }
    WRITE(w, "}");
}

/* A key as the request has it: text, a whole number, or nothing. */
static void write_given(pr_writer *w, const json_t *key)
{
    if (json_is_string(key))
        pr_write_quoted(w, json_string_value(key), json_string_length(key));
    else if (json_is_integer(key))
        pr_write(w, "%" JSON_INTEGER_FORMAT, json_integer_value(key));
    else
        WRITE(w, "null");
}

static void write_unknown(pr_writer *w, const parsrec_scratch *own)
{
    if (own->unknown_count == 0)
        return;
    WRITE(w, ",\"unknown_items\":[");
    for (size_t i = 0; i < own->unknown_count; i++) {
        if (i > 0)
            WRITE(w, ",");
        write_given(w, own->unknown[i]);
    }
    WRITE(w, "]");
}

parsrec_status pr_answer_write(parsrec_scratch *own, const json_t *user, const parsrec_request *r,
                               const parsrec_answer *answer, parsrec_error *err)
{
    pr_writer *w = &own->text;
    w->size = 0;
    w->failed = false;
    WRITE(w, "{\"user\":");
    write_given(w, user);
    WRITE(w, ",\"source\":");
    const char *source = parsrec_source_name(answer->source);
    pr_write_quoted(w, source, strlen(source));
    WRITE(w, ",\"basket\":[");
    for (size_t i = 0; i < r->basket.count; i++) {
        if (i > 0)
            WRITE(w, ",");
        pr_name_write(w, parsrec_model_key(own->model, PARSREC_ITEM, r->basket.list[i]));
    }
    WRITE(w, "],\"items\":[");
    for (size_t i = 0; i < answer->count; i++) {
        if (i > 0)
            WRITE(w, ",");
        write_hit(w, own, i);
    }
    WRITE(w, "]");
    write_unknown(w, own);
    WRITE(w, "}");
    return w->failed ? pr_fail_memory(err) : PARSREC_OK;
}
