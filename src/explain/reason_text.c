/* "because of Milk (0.61) and Bread (0.22); you also bought it in 12 earlier baskets" */
#include "explain/reason_text.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>

enum { NAMED_MOST = 3, NAME_BYTES = 48 };
/* Least share of a reason after the first, and least effect of any: a twentieth of the chance. */
static const double WORTH_A_WORD = 0.1, FELT = 0.05;

typedef struct text {
    char *buffer;
    size_t size, used;
} text;

static void add(text *t, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void add(text *t, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    int n = vsnprintf(t->buffer + t->used, t->size - t->used, format, list);
    va_end(list);
    if (n > 0)
        t->used = t->used + (size_t)n < t->size ? t->used + (size_t)n : t->size - 1;
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
    size_t n = name.size < NAME_BYTES ? name.size : NAME_BYTES;
    while (n > 0 && n < name.size && ((unsigned char)name.bytes[n] & 0xC0) == 0x80)
        n--;
    add(t, "%.*s%s", (int)n, name.bytes, n < name.size ? "…" : "");
}

static void add_voice(text *t, const pr_dataset *data, const parsrec_why *why, size_t i)
{
    if (i < why->reason_count)
        add_name(t, data, why->reasons[i].item);
    else
        add(t, i == why->reason_count ? "what you bought before" : "your own taste");
}

/* The strongest voices that are worth a word, at most three, strongest first. */
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
        add(t, " (%.2f)", voice(why, named[i])->share);
    }
    if (count > 0)
        return;
    if (why->reason_count == 0 && isnan(why->history.effect) && isnan(why->user.effect))
        add(t, "a common choice to begin with");
    else
        add(t, "a common choice with anyone");
}

/* Whoever speaks against the item more than anything speaks for it. */
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

char *pr_reason_sentence(const pr_dataset *data, const parsrec_why *why, char *buffer, size_t size)
{
    text t = {buffer, size, 0};
    if (size == 0)
        return buffer;
    buffer[0] = '\0';
    add_causes(&t, data, why);
    add_objection(&t, data, why);
    if (why->earlier_baskets > 0)
        add(&t, "; you also bought it in %" PRIu64 " earlier basket%s", why->earlier_baskets,
            why->earlier_baskets == 1 ? "" : "s");
    else if (!isnan(why->history.effect))
        add(&t, "; new to you");
    return buffer;
}
