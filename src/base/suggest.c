/* The known words nearest to one that is not known. */
#include "base/suggest.h"

#include <stdio.h>

enum { LONGEST = 64, FAR = 1000 }; /* longer words are compared by their beginnings */

static bool begins(pr_slice text, size_t at, pr_slice part)
{
    for (size_t i = 0; i < part.size; i++)
        if (pr_lower(text.bytes[at + i]) != pr_lower(part.bytes[i]))
            return false;
    return true;
}

static unsigned least(unsigned a, unsigned b)
{
    return a < b ? a : b;
}

/* Letters to insert, remove or replace, or neighbours to exchange, that turn one into the other
 * (the restricted Damerau-Levenshtein distance), row by row. */
static unsigned edits(pr_slice a, pr_slice b)
{
    unsigned rows[3][LONGEST + 1];
    for (size_t j = 0; j <= b.size; j++)
        rows[0][j] = (unsigned)j;
    for (size_t i = 1; i <= a.size; i++) {
        unsigned *now = rows[i % 3], *before = rows[(i + 2) % 3], *earlier = rows[(i + 1) % 3];
        now[0] = (unsigned)i;
        for (size_t j = 1; j <= b.size; j++) {
            bool equal = pr_lower(a.bytes[i - 1]) == pr_lower(b.bytes[j - 1]);
            now[j] = least(least(now[j - 1], before[j]) + 1, before[j - 1] + !equal);
            if (i > 1 && j > 1 && pr_lower(a.bytes[i - 1]) == pr_lower(b.bytes[j - 2]) &&
                pr_lower(a.bytes[i - 2]) == pr_lower(b.bytes[j - 1]))
                now[j] = least(now[j], earlier[j - 2] + 1);
        }
    }
    return rows[a.size % 3][b.size];
}

/* 0 equal but for case, 1 begins with, 2 contains, 3 and more: letters that differ; FAR
 * otherwise. */
static unsigned distance(pr_slice wanted, pr_slice known)
{
    if (wanted.size == 0 || known.size == 0)
        return FAR;
    if (known.size >= wanted.size && begins(known, 0, wanted))
        return known.size == wanted.size ? 0 : 1;
    for (size_t at = 1; wanted.size > 2 && at + wanted.size <= known.size; at++)
        if (begins(known, at, wanted))
            return 2;
    size_t longer = wanted.size > known.size ? wanted.size : known.size;
    size_t shorter = wanted.size + known.size - longer;
    unsigned allowed = least((unsigned)(longer + 3) / 4, 3);
    if (longer > LONGEST || longer - shorter > allowed)
        return FAR;
    unsigned n = edits(wanted, known);
    return n <= allowed && n < longer ? n + 2 : FAR;
}

void pr_suggest_start(pr_suggest *suggest, pr_slice wanted)
{
    suggest->wanted = wanted;
    suggest->count = 0;
    suggest->sentence[0] = '\0';
}

void pr_suggest_offer(pr_suggest *suggest, pr_slice known)
{
    unsigned d = distance(suggest->wanted, known);
    if (d == FAR ||
        (suggest->count == PR_SUGGESTIONS && d >= suggest->distance[suggest->count - 1]))
        return;
    size_t at = suggest->count < PR_SUGGESTIONS ? suggest->count++ : PR_SUGGESTIONS - 1;
    for (; at > 0 && suggest->distance[at - 1] > d; at--) {
        suggest->distance[at] = suggest->distance[at - 1];
        suggest->near[at] = suggest->near[at - 1];
    }
    suggest->distance[at] = d;
    pr_show(&suggest->near[at], known);
}

const char *pr_suggest_sentence(pr_suggest *suggest)
{
    size_t used = 0;
    for (size_t i = 0; i < suggest->count; i++)
        used += (size_t)snprintf(suggest->sentence + used, sizeof suggest->sentence - used, "%s%s",
                                 i == 0                   ? " (did you mean "
                                 : i + 1 < suggest->count ? ", "
                                                          : " or ",
                                 suggest->near[i].text);
    if (used > 0)
        snprintf(suggest->sentence + used, sizeof suggest->sentence - used, "?)");
    return suggest->sentence;
}
