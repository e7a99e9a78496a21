/* Softmax, draws and sums over lines. */
#include "whatif/next_chances.h"

#include <math.h>

#include "math/vecmath.h"

void pr_next_chances(pr_real *scores, size_t items, const int32_t *placed, size_t n)
{
    pr_real top = -INFINITY;
    double total = 0;
    for (size_t i = 0; i < n; i++)
        scores[placed[i]] = -INFINITY;
    for (size_t i = 0; i < items; i++)
        if (scores[i] > top)
            top = scores[i];
    for (size_t i = 0; i < items; i++)
        scores[i] = scores[i] > -INFINITY ? scores[i] - top : -INFINITY; /* NaN too */
    pr_exp_all(scores, scores, items);
    for (size_t i = 0; i < items; i++)
        total += scores[i];
    pr_real factor = total > 0 ? (pr_real)(1 / total) : 0;
    for (size_t i = 0; i < items; i++)
        scores[i] *= factor;
}

int32_t pr_chances_draw(const pr_real *chances, size_t items, double unit)
{
    double sum = 0;
    int32_t last = -1;
    for (size_t i = 0; i < items; i++) {
        if (!(chances[i] > 0))
            continue;
        sum += chances[i];
        last = (int32_t)i; /* rounding may leave the sum just below 1 */
        if (sum >= unit)
            break;
    }
    return last;
}

void pr_chances_lines(float *row, const pr_lines *lines, const pr_real *chances)
{
    for (size_t l = 0; l < lines->count; l++) {
        const pr_line *line = &lines->list[l];
        double sum = 0;
        for (size_t k = 0; k < line->count && line->kind != PR_LINE_NEW; k++)
            sum += chances[line->items[k]];
        row[l] = (float)sum;
    }
}

void pr_chances_parts(float *part, const pr_scenario *s, const pr_real *chances)
{
    for (size_t p = 0; p < s->parts; p++)
        part[p] = 0;
    for (size_t i = 0; i < s->part_item_count; i++)
        part[s->part_of[i]] += (float)chances[s->part_items[i]];
}
