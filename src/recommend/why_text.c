/* Reasons as the field `why` of an answer. */
#include <math.h>
#include <string.h>

#include "recommend/answering.h"

#define WRITE(writer, text) pr_write_bytes(writer, text, sizeof(text) - 1)

/* ,"key": and a number. */
#define WRITE_NUMBER(writer, key, value)   \
    do {                                   \
        WRITE(writer, ",\"" key "\":");    \
        pr_write_decimal(writer, (value)); \
    } while (0)

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
    pr_name_write(w, parsrec_model_key(model, PARSREC_ITEM, r->item));
    WRITE(w, ",\"name\":");
    pr_name_write(w, parsrec_model_item_name(model, r->item));
    WRITE_NUMBER(w, "attention", r->attention);
    WRITE_NUMBER(w, "effect", r->drop.effect);
    WRITE_NUMBER(w, "share", r->drop.share);
    write_rank(w, r->drop.rank);
    if (!isnan(r->part))
        WRITE_NUMBER(w, "part", r->part);
    WRITE(w, "}");
}

/* Left out where a score is no sum. */
static void write_parts(pr_writer *w, const parsrec_why *why)
{
    const parsrec_parts *p = &why->parts;
    if (!why->has_parts)
        return;
    WRITE(w, ",\"parts\":{\"network\":");
    pr_write_decimal(w, p->network);
    WRITE_NUMBER(w, "history", p->history);
    WRITE_NUMBER(w, "memory", p->memory);
    WRITE_NUMBER(w, "item", p->item);
    WRITE(w, "}");
}

void pr_why_write(pr_writer *w, const parsrec_model *model, const parsrec_why *why)
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
    write_parts(w, why);
    WRITE(w, "}");
}
