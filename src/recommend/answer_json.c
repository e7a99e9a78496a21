/* Answers as JSON text, written directly: building a tree of values would cost as much time as the
 * scores. */
#include <math.h>
#include <string.h>

#include "base/dates.h"
#include "recommend/recommend.h"

/* Writes a string literal. */
#define WRITE(writer, text) pr_write_bytes(writer, text, sizeof(text) - 1)

/* Writes ,"key":value for a string literal and a number. */
#define WRITE_NUMBER(writer, key, value)   \
    do {                                   \
        WRITE(writer, ",\"" key "\":");    \
        pr_write_decimal(writer, (value)); \
    } while (0)

static void write_name(pr_writer *w, parsrec_name name)
{
    if (name.size > 0)
        pr_write_quoted(w, name.bytes, name.size);
    else
        WRITE(w, "null");
}

/* ---- reasons ---- */

static void write_rank(pr_writer *w, size_t rank)
{
    WRITE(w, ",\"rank\":");
    pr_write_count(w, rank);
}

/* null where there was nothing to leave out. */
static void write_effect(pr_writer *w, const parsrec_effect *e)
{
    if (isnan(e->effect)) {
        WRITE(w, "null");
        return;
    }
    WRITE(w, "{\"effect\":");
    pr_write_decimal(w, e->effect);
    WRITE_NUMBER(w, "share", e->share);
    write_rank(w, e->rank);
    WRITE(w, "}");
}

static void write_reason(pr_writer *w, const parsrec_model *model, const parsrec_reason *r)
{
    WRITE(w, "{\"item\":");
    write_name(w, parsrec_model_key(model, PARSREC_ITEM, r->item));
    WRITE(w, ",\"name\":");
    write_name(w, parsrec_model_item_name(model, r->item));
    WRITE_NUMBER(w, "attention", r->attention);
    WRITE_NUMBER(w, "effect", r->drop.effect);
    WRITE_NUMBER(w, "share", r->drop.share);
    write_rank(w, r->drop.rank);
    if (!isnan(r->part))
        WRITE_NUMBER(w, "part", r->part);
    WRITE(w, "}");
}

static void write_why(pr_writer *w, const parsrec_model *model, const parsrec_why *why)
{
    char sentence[512];
    parsrec_why_sentence(model, why, sentence, sizeof sentence);
    WRITE(w, "{\"sentence\":");
    pr_write_quoted(w, sentence, strlen(sentence));
    WRITE(w, ",\"basket\":[");
    for (size_t i = 0; i < why->reason_count; i++) {
        if (i > 0)
            WRITE(w, ",");
        write_reason(w, model, &why->reasons[i]);
    }
    WRITE(w, "],\"history\":");
    write_effect(w, &why->history);
    WRITE(w, ",\"user\":");
    write_effect(w, &why->user);
    WRITE(w, ",\"earlier_baskets\":");
    pr_write_count(w, why->earlier_baskets);
    WRITE_NUMBER(w, "log_probability", why->log_probability);
    write_rank(w, why->rank);
    if (why->usual_days > 0) { /* only where the model looks at dates */
        WRITE_NUMBER(w, "last_days", why->last_days);
        WRITE_NUMBER(w, "usual_days", why->usual_days);
    }
    if (why->has_parts) { /* only where a score is a sum */
        WRITE(w, ",\"parts\":{\"network\":");
        pr_write_decimal(w, why->parts.network);
        WRITE_NUMBER(w, "history", why->parts.history);
        WRITE_NUMBER(w, "memory", why->parts.memory);
        WRITE_NUMBER(w, "item", why->parts.item);
        WRITE(w, "}");
    }
    WRITE(w, "}");
}

/* ---- what is left out ---- */

/* A name may stand for thousands of items, and a request may have it thousands of times. */
enum { KEYS_MOST = 8, ALL_KEYS_MOST = 256 };

void pr_answer_restart(parsrec_scratch *own)
{
    pr_writer_restart(&own->user);
    pr_writer_restart(&own->unknown);
    pr_writer_restart(&own->ambiguous);
    own->ambiguous_keys = 0;
}

static void write_comma(pr_writer *w)
{
    if (w->size > 0)
        WRITE(w, ",");
}

void pr_answer_leave_out(parsrec_scratch *own, const char *word, const char *json)
{
    int32_t items[KEYS_MOST];
    size_t count = parsrec_model_named(own->model, word, items, KEYS_MOST);
    if (count < 2) {
        write_comma(&own->unknown);
        if (json != NULL)
            pr_write_bytes(&own->unknown, json, strlen(json));
        else
            pr_write_quoted(&own->unknown, word, strlen(word));
        return;
    }
    pr_writer *w = &own->ambiguous;
    write_comma(w);
    WRITE(w, "{\"name\":");
    pr_write_quoted(w, word, strlen(word));
    WRITE(w, ",\"keys\":[");
    for (size_t i = 0; i < count && own->ambiguous_keys < ALL_KEYS_MOST; i++) {
        if (i > 0)
            WRITE(w, ",");
        write_name(w, parsrec_model_key(own->model, PARSREC_ITEM, items[i]));
        own->ambiguous_keys++;
    }
    WRITE(w, "]}");
}

/* ---- answers ---- */

static void write_hit(pr_writer *w, const parsrec_model *model, const parsrec_hit *hit,
                      const parsrec_why *why)
{
    char path[1024];
    int32_t category = parsrec_model_item_category(model, hit->item);
    WRITE(w, "{\"item\":");
    write_name(w, parsrec_model_key(model, PARSREC_ITEM, hit->item));
    WRITE(w, ",\"name\":");
    write_name(w, parsrec_model_item_name(model, hit->item));
    WRITE(w, ",\"category\":");
    if (category >= 0) {
        size_t size = strlen(parsrec_model_category_path(model, category, path, sizeof path)), cut;
        if (size == sizeof path - 1 && !pr_utf8_valid(path, size, &cut))
            size = cut; /* the path was too long and was cut within a character */
        pr_write_quoted(w, path, size);
    } else {
        WRITE(w, "null");
    }
    WRITE(w, ",\"score\":");
    pr_write_float(w, hit->score);
    if (why != NULL) {
        WRITE(w, ",\"why\":");
        write_why(w, model, why);
    }
    WRITE(w, "}");
}

/* ,"time":"2011-12-09T12:00:00Z","time_from":"data" where the data have dates. */
static void write_time(pr_writer *w, const parsrec_answer *answer)
{
    pr_date_text date;
    const char *from = parsrec_when_name(answer->when);
    if (answer->when == PARSREC_WHEN_NONE)
        return;
    pr_date_of(&date, answer->time);
    WRITE(w, ",\"time\":");
    pr_write_quoted(w, date.text, strlen(date.text));
    WRITE(w, ",\"time_from\":");
    pr_write_quoted(w, from, strlen(from));
}

void pr_answer_write(parsrec_scratch *own, const parsrec_request *r, const parsrec_answer *answer,
                     const parsrec_hit *hits, const parsrec_why *whys)
{
    pr_writer *w = &own->text;
    const char *source = parsrec_source_name(answer->source);
    WRITE(w, "{\"user\":");
    if (own->user.size > 0)
        pr_write_bytes(w, own->user.text, own->user.size);
    else
        WRITE(w, "null");
    WRITE(w, ",\"source\":");
    pr_write_quoted(w, source, strlen(source));
    write_time(w, answer);
    WRITE(w, ",\"basket\":[");
    for (size_t i = 0; i < r->basket.count; i++) {
        if (i > 0)
            WRITE(w, ",");
        write_name(w, parsrec_model_key(own->model, PARSREC_ITEM, r->basket.list[i]));
    }
    WRITE(w, "],\"items\":[");
    for (size_t i = 0; i < answer->count; i++) {
        if (i > 0)
            WRITE(w, ",");
        write_hit(w, own->model, &hits[i], whys != NULL ? &whys[i] : NULL);
    }
    WRITE(w, "]");
    if (own->unknown.size > 0) {
        WRITE(w, ",\"unknown_items\":[");
        pr_write_bytes(w, own->unknown.text, own->unknown.size);
        WRITE(w, "]");
    }
    if (own->ambiguous.size > 0) {
        WRITE(w, ",\"ambiguous_items\":[");
        pr_write_bytes(w, own->ambiguous.text, own->ambiguous.size);
        WRITE(w, "]");
    }
    WRITE(w, "}");
}

parsrec_status parsrec_answer_json(const parsrec_model *model, parsrec_scratch *own,
                                   const parsrec_answer_parts *parts, const char **text,
                                   parsrec_error *err)
{
    if (model == NULL || own == NULL || parts == NULL || text == NULL || own->model != model)
        return pr_fail(err, PARSREC_E_ARGUMENT,
                       "parsrec_answer_json needs a model, a scratch made for it, the parts of an "
                       "answer and a place for the text");
    pr_answer_restart(own);
    pr_writer_restart(&own->text);
    if (parts->user != NULL)
        pr_write_quoted(&own->user, parts->user, strlen(parts->user));
    for (size_t i = 0; i < parts->unknown_count; i++)
        pr_answer_leave_out(own, parts->unknown[i], NULL);
    pr_answer_write(own, parts->request, &parts->answer, parts->hits, parts->whys);
    *text = own->text.text;
    return own->user.failed || own->unknown.failed || own->ambiguous.failed || own->text.failed
               ? pr_fail_memory(err)
               : PARSREC_OK;
}
