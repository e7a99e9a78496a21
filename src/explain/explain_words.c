/* Sentences out of numbers. */
#include "explain/explain_words.h"

#include <math.h>
#include <stdio.h>

char *pr_link_words(const pr_explanation *e, pr_map_kind kind, const pr_link *link, char *buffer,
                    size_t size)
{
    const char *row = e->axis.names[link->row], *column = e->axis.names[link->column];
    if (kind == PR_MAP_DROP)
        snprintf(buffer, size,
                 "%s is %.2f times as likely with %s in the basket as with anything else", row,
                 exp(link->value), column);
    else if (kind == PR_MAP_LIFT)
        snprintf(buffer, size, "%s and %s are together %.2f times as often as by chance", row,
                 column, exp(link->value));
    else
        snprintf(buffer, size, "%s gets %.3f of the attention when %s follows", column, link->value,
                 row);
    return buffer;
}

char *pr_explain_number(double value, char *buffer, size_t size)
{
    if (isnan(value))
        snprintf(buffer, size, "-");
    else
        snprintf(buffer, size, "%.3f", value);
    return buffer;
}

char *pr_agreement_words(const pr_explained_group *group, char *buffer, size_t size)
{
    buffer[0] = '\0';
    if (!isnan(group->step_agreement))
        snprintf(buffer, size,
                 "Attention against drop effect: within a step Kendall's tau is %.2f, over the "
                 "whole map Spearman's rho is %.2f (1: they agree, 0: they have nothing to do with "
                 "each other).",
                 group->step_agreement, group->map_agreement);
    return buffer;
}
