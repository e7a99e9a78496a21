/* Cells of users, and sums over them. */
#include "whatif/sales.h"

#include <assert.h>
#include <math.h>

#include "base/memory.h"
#include "data/split.h"

/* A group has at most this many cells, and fewer where tables would become too large. */
enum { CELLS_PER_GROUP = 512, CELLS_LEAST = 24, SALES_NUMBERS = 1 << 19 };

/* ---- the cohort ---- */

/* Whose baskets are drawn: users with a test session and, before it, sessions that say how large their
 * baskets are. Only where whole users are held out may a test session be the first. */
static bool drawn_for(const pr_dataset *data, size_t user, size_t last)
{
    return pr_split_evaluated(data, user, last) &&
           pr_split_session(data, user, PR_TEST, last) > data->user_offsets[user];
}

/* Who is in the cohort: members, users, their weights, and how many cells each user has. */
static parsrec_status gather_users(pr_cohort *c, const pr_dataset *data, size_t last,
                                   parsrec_error *err)
{
    for (size_t g = 0; g < c->group_count; g++) {
        const pr_user_group *group = &c->groups->list[g];
        for (size_t i = 0; i < group->count; i++) {
            c->members[g] += drawn_for(data, (size_t)group->users[i], last);
            c->cell_offsets[group->users[i] + 1]++;
        }
        if (c->members[g] == 0)
            return pr_fail(err, PARSREC_E_INPUT,
                           "group %s: none of its %zu users has a test session and sessions before "
                           "it (that takes %zu sessions); choose another group",
                           group->name, group->count, data->by_users ? 2 : last + 2);
    }
    double baskets = 0;
    for (size_t u = 0; u < data->users; u++) {
        if (c->cell_offsets[u + 1] > 0 && drawn_for(data, u, last)) {
            c->users[c->user_count++] = (int32_t)u;
            baskets += (double)(data->user_offsets[u + 1] - data->user_offsets[u]);
        }
        c->cell_offsets[u + 1] += c->cell_offsets[u];
    }
    for (size_t u = 0; u < data->users; u++)
        c->weight[u] = (double)(data->user_offsets[u + 1] - data->user_offsets[u]) *
                       (double)c->user_count / baskets;
    return PARSREC_OK;
}

/* The range of cells of each group. */
static void plan_cells(pr_cohort *c, size_t lines)
{
    const pr_user_group *groups = c->groups->list;
    size_t most = SALES_NUMBERS / (lines * c->group_count);
    if (most > CELLS_PER_GROUP)
        most = CELLS_PER_GROUP;
    if (most < CELLS_LEAST)
        most = CELLS_LEAST;
    for (size_t g = 0; g < c->group_count; g++)
        c->first_cell[g + 1] = c->first_cell[g] + (groups[g].count < most ? groups[g].count : most);
    c->cells = c->first_cell[c->group_count];
}

/* Assigns users to the cells of their groups. Neighbours get different cells, so that cells are
 * alike in size. next[users] is work space. */
static void give_cells(pr_cohort *c, const pr_dataset *data, size_t *next)
{
    for (size_t u = 0; u < data->users; u++)
        next[u] = c->cell_offsets[u];
    for (size_t g = 0; g < c->group_count; g++) {
        const pr_user_group *group = &c->groups->list[g];
        size_t cells = c->first_cell[g + 1] - c->first_cell[g];
        for (size_t i = 0; i < group->count; i++) {
            size_t user = (size_t)group->users[i];
            c->cell_list[next[user]++] = (uint32_t)(c->first_cell[g] + i % cells);
        }
        for (size_t cell = c->first_cell[g]; cell < c->first_cell[g + 1]; cell++)
            c->cell_group[cell] = (uint32_t)g;
    }
}

parsrec_status pr_cohort_init(pr_cohort *c, pr_region *region, const pr_dataset *data,
                              const pr_user_groups *groups, size_t last, size_t lines,
                              parsrec_error *err)
{
    assert(groups->count > 0 && lines > 0);
    *c = (pr_cohort){.groups = groups, .group_count = groups->count};
    c->users = pr_region_take(region, data->users, sizeof *c->users);
    c->weight = pr_region_take(region, data->users, sizeof *c->weight);
    c->members = pr_region_take(region, groups->count, sizeof *c->members);
    c->first_cell = pr_region_take(region, groups->count + 1, sizeof *c->first_cell);
    c->cell_offsets = pr_region_take(region, data->users + 1, sizeof *c->cell_offsets);
    PR_TRY(pr_region_check(region, err));
    PR_TRY(gather_users(c, data, last, err));
    plan_cells(c, lines);
    c->cell_list = pr_region_take(region, c->cell_offsets[data->users], sizeof *c->cell_list);
    c->cell_group = pr_region_take(region, c->cells, sizeof *c->cell_group);
    PR_TRY(pr_region_check(region, err));
    size_t *next = pr_alloc(data->users, sizeof *next);
    if (next == NULL)
        return pr_fail_memory(err);
    give_cells(c, data, next);
    pr_free(next);
    return PARSREC_OK;
}

/* ---- sums ---- */

parsrec_status pr_sales_init(pr_sales *sales, pr_region *region, const pr_cohort *cohort,
                             size_t lines, parsrec_error *err)
{
    *sales = (pr_sales){.lines = lines};
    sales->units = pr_region_take(region, cohort->cells * lines, sizeof *sales->units);
    sales->baskets = pr_region_take(region, cohort->cells, sizeof *sales->baskets);
    return pr_region_check(region, err);
}

void pr_sales_add(pr_sales *sales, const pr_cohort *cohort, size_t user, const double *units,
                  double baskets)
{
    assert(cohort->cell_offsets[user] <= cohort->cell_offsets[user + 1] && baskets >= 0);
    for (size_t i = cohort->cell_offsets[user]; i < cohort->cell_offsets[user + 1]; i++) {
        double *row = sales->units + cohort->cell_list[i] * sales->lines;
        sales->baskets[cohort->cell_list[i]] += baskets;
        for (size_t l = 0; l < sales->lines; l++)
            row[l] += units[l];
    }
}

double pr_sales_units(const pr_sales *sales, const pr_cohort *cohort, size_t group, size_t line)
{
    assert(group < cohort->group_count && line < sales->lines);
    double sum = 0;
    for (size_t cell = cohort->first_cell[group]; cell < cohort->first_cell[group + 1]; cell++)
        sum += sales->units[cell * sales->lines + line];
    return sum;
}

double pr_sales_baskets(const pr_sales *sales, const pr_cohort *cohort, size_t group)
{
    assert(group < cohort->group_count);
    double sum = 0;
    for (size_t cell = cohort->first_cell[group]; cell < cohort->first_cell[group + 1]; cell++)
        sum += sales->baskets[cell];
    return sum;
}

double pr_sales_rate(const pr_sales *sales, const pr_cohort *cohort, size_t group, size_t line)
{
    double baskets = pr_sales_baskets(sales, cohort, group);
    return baskets > 0 ? pr_sales_units(sales, cohort, group, line) / baskets : NAN;
}

/* ---- sets of tables ---- */

parsrec_status pr_sales_set_init(pr_sales_set *set, pr_region *region, const pr_cohort *cohort,
                                 size_t lines, size_t scenarios, parsrec_error *err)
{
    *set = (pr_sales_set){0};
    PR_TRY(pr_sales_init(&set->before, region, cohort, lines, err));
    pr_sales **tables[] = {&set->after[0], &set->after[1], &set->refill};
    _Static_assert(PR_QUESTIONS == 2, "a table for each question and one for refills");
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
        *tables[i] = pr_region_take(region, scenarios, sizeof **tables[i]);
        PR_TRY(pr_region_check(region, err));
        for (size_t s = 0; s < scenarios; s++)
            PR_TRY(pr_sales_init(&(*tables[i])[s], region, cohort, lines, err));
    }
    return PARSREC_OK;
}
