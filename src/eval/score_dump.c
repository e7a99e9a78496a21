/* Lines of a dump. Scores have enough digits to tell any two floats apart. */
#include "eval/score_dump.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/memory.h"

enum { DUMP_VERSION = 1 };

/* ---- the head ---- */

static json_t *catalogue(const pr_dataset *data)
{
    json_t *keys = json_array();
    for (size_t i = 0; i < data->items; i++) {
        pr_slice key = pr_name(&data->item_keys, i);
        if (json_array_append_new(keys, json_stringn(key.bytes, key.size)) != 0) {
            json_decref(keys);
            return NULL;
        }
    }
    return keys;
}

static json_t *cutoffs(const pr_eval_protocol *p)
{
    json_t *k = json_array();
    for (size_t i = 0; i < p->k_count; i++)
        json_array_append_new(k, json_integer((json_int_t)p->k[i]));
    return k;
}

static const char *candidates_of(const pr_eval_protocol *p)
{
    static const char *const names[] = {[PARSREC_CANDIDATES_UNIFORM] = "uniform",
                                        [PARSREC_CANDIDATES_POPULAR] = "popular",
                                        [PARSREC_CANDIDATES_FILE] = "file"};
    if (p->negatives == 0)
        return "all";
    return names[p->source.kind];
}

void pr_dump_head(pr_writer *to, const pr_evaluation *e, const char *model, const char *fingerprint)
{
    const pr_eval_protocol *p = &e->protocol;
    const char *checksum = pr_dataset_checksum(e->data);
    json_t *head =
        json_pack("{s:s, s:i, s:s, s:s, s:s, s:s, s:I, s:b, s:I, s:o, s:I, s:I, s:s, s:s, s:o}",
                  "format", "parsrec.scores", "version", DUMP_VERSION, "model", model, "protocol",
                  p->rule->name, "split", p->part == PR_TEST ? "test" : "valid", "candidates",
                  candidates_of(p), "negatives", (json_int_t)p->negatives, "exclude_seen",
                  (int)p->exclude_seen, "place_k", (json_int_t)p->place_k, "k", cutoffs(p), "seed",
                  (json_int_t)p->seed, "baskets", (json_int_t)e->count, "data", checksum,
                  "fingerprint", fingerprint, "catalogue", catalogue(e->data));
    char *text = head != NULL ? json_dumps(head, JSON_COMPACT) : NULL; /* in the order above */
    if (text != NULL)
        pr_write(to, "%s\n", text);
    else
        to->failed = true;
    free(text);
    json_decref(head);
}

/* ---- lists ---- */

static void write_word(pr_writer *to, const char *word)
{
    pr_write_bytes(to, word, strlen(word));
}

static void write_number(pr_writer *to, int64_t number)
{
    char text[24];
    int size = snprintf(text, sizeof text, "%lld", (long long)number);
    pr_write_bytes(to, text, (size_t)size);
}

/* The next item of a list that has *count items so far. */
static void write_item(pr_writer *to, size_t *count, int32_t item)
{
    if ((*count)++ > 0)
        pr_write_bytes(to, ",", 1);
    write_number(to, item);
}

static void write_items(pr_writer *to, const char *name, const int32_t *items, size_t count)
{
    size_t written = 0;
    write_word(to, name);
    for (size_t i = 0; i < count; i++)
        write_item(to, &written, items[i]);
    pr_write_bytes(to, "]", 1);
}

/* JSON has no numbers that are not finite: those are strings. snprintf may write another decimal
 * separator, of several bytes even, if the caller has set a locale; here it is always a point. */
static void write_score(pr_writer *to, float score)
{
    char text[32];
    if (!isfinite(score)) {
        write_word(to, isnan(score) ? "\"nan\"" : score > 0 ? "\"inf\"" : "\"-inf\"");
        return;
    }
    size_t size = (size_t)snprintf(text, sizeof text, "%.9g", (double)score), kept = 0;
    for (size_t i = 0; i < size; i++) {
        if (strchr("0123456789+-e", text[i]) != NULL)
            text[kept++] = text[i];
        else if (kept == 0 || text[kept - 1] != '.')
            text[kept++] = '.';
    }
    pr_write_bytes(to, text, kept);
}

static void write_scores(pr_writer *to, const char *name, const float *scores, size_t count)
{
    write_word(to, name);
    for (size_t i = 0; i < count; i++) {
        if (i > 0)
            pr_write_bytes(to, ",", 1);
        write_score(to, scores[i]);
    }
    pr_write_bytes(to, "]", 1);
}

/* ---- baskets and steps ---- */

static void write_key(pr_writer *to, pr_slice key)
{
    json_t *json = json_stringn(key.bytes, key.size);
    char *text = json != NULL ? pr_json_text(json) : NULL;
    if (text != NULL)
        write_word(to, text);
    else
        to->failed = true;
    pr_free(text);
    json_decref(json);
}

static void begin_line(pr_writer *to, const pr_evaluation *e, const pr_evaluated *b)
{
    write_word(to, "{\"basket\":");
    write_number(to, b - e->baskets);
}

void pr_dump_basket(pr_writer *to, const pr_evaluation *e, const pr_evaluated *b,
                    const pr_candidate_sampler *candidates, const int32_t *own,
                    const int32_t *others)
{
    size_t had = 0;
    begin_line(to, e, b);
    write_word(to, ",\"user\":");
    write_key(to, pr_name(&e->data->user_keys, b->user));
    write_word(to, ",\"session\":");
    write_number(to, b->session - e->data->user_offsets[b->user]);
    if (b->unasked)
        write_word(to, ",\"unasked\":1");
    write_items(to, ",\"items\":[", own, b->size);
    write_word(to, ",\"before\":[");
    for (size_t i = 0; i < e->data->items; i++)
        if (pr_candidate_sampler_had(candidates, i))
            write_item(to, &had, (int32_t)i);
    write_word(to, "]");
    if (e->protocol.negatives > 0)
        write_items(to, ",\"others\":[", others, b->others);
    write_word(to, "}\n");
}

static void begin_step(pr_writer *to, const pr_evaluation *e, const pr_evaluated *b, size_t step)
{
    begin_line(to, e, b);
    write_word(to, ",\"step\":");
    write_number(to, (int64_t)step);
}

void pr_dump_sampled(pr_writer *to, const pr_evaluation *e, const pr_evaluated *b, size_t step,
                     const float *own, const float *others)
{
    begin_step(to, e, b, step);
    write_scores(to, ",\"own\":[", own, b->size);
    write_scores(to, ",\"others\":[", others, b->others);
}

void pr_dump_full(pr_writer *to, const pr_evaluation *e, const pr_evaluated *b, size_t step,
                  const float *all)
{
    begin_step(to, e, b, step);
    write_scores(to, ",\"all\":[", all, e->data->items);
}

void pr_dump_placed(pr_writer *to, const pr_evaluation *e, size_t place)
{
    if (!e->protocol.rule->one_step) {
        write_word(to, ",\"placed\":");
        write_number(to, (int64_t)place);
    }
    write_word(to, "}\n");
}
