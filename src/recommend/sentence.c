/* Reasons as a sentence: "because of Milk (0.61) and Bread (0.22); you also bought it in 12 earlier
 * baskets, usually every 9 days, last 11 days ago". The numbers are shares. */
#include <math.h>
#include <string.h>

#include "base/text.h"
#include "recommend/recommend.h"

enum { NAMED_MOST = 3, NAME_BYTES = 48 };
/* A reason is mentioned if its effect is at least EFFECT_LEAST, which changes the probability by
 * about 1/20, and its share at least SHARE_LEAST; the strongest one whatever its share. */
static const double SHARE_LEAST = 0.1, EFFECT_LEAST = 0.05;

/* A buffer with a zero byte to come after the text; what does not fit is left out. */
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

/* A share, 0 to 1, with two decimals. */
static void add_share(text *t, double share)
{
    unsigned hundredths = (unsigned)(share * 100 + 0.5);
    add_count(t, hundredths / 100);
    add_bytes(t, (char[]){'.', (char)('0' + hundredths / 10 % 10), (char)('0' + hundredths % 10)},
              3);
}

/* The inputs of a recommendation are numbered: the explained items of the basket, then the history,
 * then the user. */
static size_t input_count(const parsrec_why *why)
{
    return why->reason_count + 2;
}

static const parsrec_effect *effect_of(const parsrec_why *why, size_t i)
{
    return i < why->reason_count    ? &why->reasons[i].drop
           : i == why->reason_count ? &why->history
                                    : &why->user;
}

/* A long one is cut between characters. */
static void add_cut(text *t, pr_slice name)
{
    size_t n = pr_utf8_cut(name.bytes, name.size, NAME_BYTES);
    add_bytes(t, name.bytes, n);
    add(t, n < name.size ? "…" : "");
}

/* The item's name, with the key where others share it, or the key alone. */
static void add_name(text *t, const pr_directory *directory, int32_t item)
{
    const pr_dataset *data = directory->data;
    int32_t alike[2];
    pr_slice name = {"", 0}, key = pr_name(&data->item_keys, (size_t)item);
    if ((size_t)item < data->item_names.count)
        name = pr_name(&data->item_names, (size_t)item);
    add_cut(t, name.size > 0 ? name : key);
    if (pr_directory_named(directory, name, alike, 2) > 1) {
        add(t, " [");
        add_cut(t, key);
        add(t, "]");
    }
}

static void add_input(text *t, const pr_directory *directory, const parsrec_why *why, size_t i)
{
    if (i < why->reason_count)
        add_name(t, directory, why->reasons[i].item);
    else
        add(t, i == why->reason_count ? "what you bought before" : "your own taste");
}

/* The strongest reasons that are worth mentioning, at most three, strongest first. */
static size_t strongest(const parsrec_why *why, size_t named[NAMED_MOST])
{
    size_t count = 0;
    for (; count < NAMED_MOST; count++) {
        double least = count == 0 ? 0 : SHARE_LEAST, best_share = 0;
        size_t best = input_count(why);
        for (size_t i = 0; i < input_count(why); i++) {
            double share = effect_of(why, i)->share;
            bool taken = false;
            for (size_t k = 0; k < count; k++)
                taken = taken || named[k] == i;
            if (!taken && share > best_share && share >= least &&
                effect_of(why, i)->effect >= EFFECT_LEAST) {
                best = i;
                best_share = share;
            }
        }
        if (best == input_count(why))
            break;
        named[count] = best;
    }
    return count;
}

static void add_causes(text *t, const pr_directory *directory, const parsrec_why *why)
{
    size_t named[NAMED_MOST], count = strongest(why, named);
    for (size_t i = 0; i < count; i++) {
        add(t, i == 0 ? "because of " : i + 1 < count ? ", " : " and ");
        add_input(t, directory, why, named[i]);
        add(t, " (");
        add_share(t, effect_of(why, named[i])->share);
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
static void add_objection(text *t, const pr_directory *directory, const parsrec_why *why)
{
    double best = EFFECT_LEAST, worst = -EFFECT_LEAST;
    size_t worst_input = input_count(why);
    for (size_t i = 0; i < input_count(why); i++) {
        double effect = effect_of(why, i)->effect;
        best = effect > best ? effect : best;
        if (effect < worst) {
            worst = effect;
            worst_input = i;
        }
    }
    if (worst_input == input_count(why) || -worst < best)
        return;
    if (worst_input == why->reason_count)
        add(t, ", although less after what you bought before");
    else if (worst_input > why->reason_count)
        add(t, ", although others take it more often than you");
    else {
        add(t, ", although it goes less with ");
        add_name(t, directory, why->reasons[worst_input].item);
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

char *pr_reason_sentence(const pr_directory *directory, const parsrec_why *why, char *buffer,
                         size_t size)
{
    text t = {buffer, size, 0};
    if (size == 0)
        return buffer;
    add_causes(&t, directory, why);
    add_objection(&t, directory, why);
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
    return pr_reason_sentence(&model->directory, why, buffer, size);
}
