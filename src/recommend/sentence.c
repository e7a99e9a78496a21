/* "because of Milk (0.61) and Bread (0.22); you also bought it in 12 earlier baskets, usually every 9
 * days, last 11 days ago" */
#include <math.h>
#include <string.h>

#include "base/text.h"
#include "recommend/recommend.h"

enum { NAMED_MOST = 3, NAME_BYTES = 48 };
/* Least share of a reason after the first, and least effect of any: 1/20 of the probability. */
static const double WORTH_A_WORD = 0.1, FELT = 0.05;

typedef struct text {
    char *buffer;
    size_t size, used;
} text;

static void add_bytes(text *t, const char *bytes, size_t n)
{
    size_t left = t->size - 1 - t->used;
    memcpy(t->buffer + t->used, bytes, n < left ? n : left);
    t->used += n < left ? n : left;
}

static void add(text *t, const char *words)
{
    add_bytes(t, words, strlen(words));
}

static void add_count(text *t, uint64_t count)
{
    char digits[20], *end = digits + sizeof digits, *at = end;
    do
        *--at = (char)('0' + count % 10);
    while ((count /= 10) > 0);
    add_bytes(t, at, (size_t)(end - at));
}

/* A share of 1, with two decimals. */
static void add_share(text *t, double share)
{
    unsigned hundredths = (unsigned)(share * 100 + 0.5);
    add_count(t, hundredths / 100);
    add_bytes(t, (char[]){'.', (char)('0' + hundredths / 10 % 10), (char)('0' + hundredths % 10)},
              3);
}

/* Basket items by number, then the history, then the user. */
static size_t voices(const parsrec_why *why)
{
    return why->reason_count + 2;
}

static const parsrec_effect *voice(const parsrec_why *why, size_t i)
{
    return i < why->reason_count    ? &why->reasons[i].drop
           : i == why->reason_count ? &why->history
                                    : &why->user;
}

/* Cut between characters. */
static void add_name(text *t, const pr_dataset *data, int32_t item)
{
    pr_slice name = {"", 0};
    if ((size_t)item < data->item_names.count)
        name = pr_name(&data->item_names, (size_t)item);
    if (name.size == 0)
        name = pr_name(&data->item_keys, (size_t)item);
    size_t n = pr_utf8_cut(name.bytes, name.size, NAME_BYTES);
    add_bytes(t, name.bytes, n);
    add(t, n < name.size ? "…" : "");
}

static void add_voice(text *t, const pr_dataset *data, const parsrec_why *why, size_t i)
{
    if (i < why->reason_count)
        add_name(t, data, why->reasons[i].item);
    else
        add(t, i == why->reason_count ? "what you bought before" : "your own taste");
}

/* The strongest reasons that are worth mentioning, at most three, strongest first. */
static size_t strongest(const parsrec_why *why, size_t named[NAMED_MOST])
{
    size_t count = 0;
    for (; count < NAMED_MOST; count++) {
        double least = count == 0 ? 0 : WORTH_A_WORD, best_share = 0;
        size_t best = voices(why);
        for (size_t i = 0; i < voices(why); i++) {
            double share = voice(why, i)->share;
            bool taken = false;
            for (size_t k = 0; k < count; k++)
                taken = taken || named[k] == i;
            if (!taken && share > best_share && share >= least && voice(why, i)->effect >= FELT) {
                best = i;
                best_share = share;
            }
        }
        if (best == voices(why))
            break;
        named[count] = best;
    }
    return count;
}

static void add_causes(text *t, const pr_dataset *data, const parsrec_why *why)
{
    size_t named[NAMED_MOST], count = strongest(why, named);
    for (size_t i = 0; i < count; i++) {
        add(t, i == 0 ? "because of " : i + 1 < count ? ", " : " and ");
        add_voice(t, data, why, named[i]);
        add(t, " (");
        add_share(t, voice(why, named[i])->share);
        add(t, ")");
    }
    if (count > 0)
        return;
    if (why->reason_count == 0 && isnan(why->history.effect) && isnan(why->user.effect))
        add(t, "a common choice to begin with");
    else
        add(t, "a common choice with anyone");
}

/* An input that counts against the item more than any other supports it. */
static void add_objection(text *t, const pr_dataset *data, const parsrec_why *why)
{
    double best = FELT, worst = -FELT;
    size_t who = voices(why);
    for (size_t i = 0; i < voices(why); i++) {
        double effect = voice(why, i)->effect;
        best = effect > best ? effect : best;
        if (effect < worst) {
            worst = effect;
            who = i;
        }
    }
    if (who == voices(why) || -worst < best)
        return;
    if (who == why->reason_count)
        add(t, ", although less after what you bought before");
    else if (who > why->reason_count)
        add(t, ", although others take it more often than you");
    else {
        add(t, ", although it goes less with ");
        add_name(t, data, why->reasons[who].item);
    }
}

static void add_days(text *t, double days)
{
    uint64_t whole = (uint64_t)fmin(days + 0.5, 1e9);
    add_count(t, whole);
    add(t, whole == 1 ? " day" : " days");
}

/* ", usually every 9 days, last 11 days ago". A single purchase has no interval of its own. */
static void add_dates(text *t, const parsrec_why *why)
{
    if (why->usual_days == 0)
        return;
    if (why->usual_days < 1.5)
        add(t, why->earlier_baskets > 1 ? ", usually every day" : ", which others buy every day");
    else {
        add(t, why->earlier_baskets > 1 ? ", usually every " : ", which others buy every ");
        add_days(t, why->usual_days);
    }
    if (why->last_days < 0.5) {
        add(t, ", last on the same day");
        return;
    }
    add(t, ", last ");
    add_days(t, why->last_days);
    add(t, " ago");
}

char *pr_reason_sentence(const pr_dataset *data, const parsrec_why *why, char *buffer, size_t size)
{
    text t = {buffer, size, 0};
    if (size == 0)
        return buffer;
    add_causes(&t, data, why);
    add_objection(&t, data, why);
    if (why->earlier_baskets > 0) {
        add(&t, "; you also bought it in ");
        add_count(&t, why->earlier_baskets);
        add(&t, why->earlier_baskets == 1 ? " earlier basket" : " earlier baskets");
        add_dates(&t, why);
    } else if (!isnan(why->history.effect)) {
        add(&t, "; new to you");
    }
    buffer[t.used] = '\0';
    return buffer;
}

char *parsrec_why_sentence(const parsrec_model *model, const parsrec_why *why, char *buffer,
                           size_t size)
{
    return pr_reason_sentence(model->file.data, why, buffer, size);
}
