/* The report for a repository or a paper's appendix: the table with the best bold and the second
 * underlined, what the numbers are worth, and how they came about. */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "compare/comparison.h"

/* A name inside a table: what Markdown would read as markup is escaped. */
static void write_name(pr_writer *out, const char *name)
{
    for (; *name != '\0'; name++) {
        if (strchr("\\|*_`<>[]&#~", *name) != NULL)
            pr_write(out, "\\");
        pr_write_bytes(out, name, 1);
    }
}

/* A sentence with names in it, likewise. */
static void write_sentence(pr_writer *out, void (*write)(pr_writer *, const parsrec_comparison *),
                           const parsrec_comparison *c)
{
    pr_writer sentence = {0};
    write(&sentence, c);
    char *text = pr_writer_take(&sentence);
    if (text != NULL)
        write_name(out, text);
    out->failed |= text == NULL;
    pr_free(text);
}

static void write_head(pr_writer *out, const parsrec_comparison *c)
{
    pr_write(out, "| %s |", pr_phrases_of(c)->row);
    for (size_t i = 0; i < c->column_count; i++)
        pr_write(out, " %s |", c->columns[i].brief);
    pr_write(out, "\n|---|");
    for (size_t i = 0; i < c->column_count; i++)
        pr_write(out, "--:|");
    pr_write(out, "\n");
}

static void write_row(pr_writer *out, const parsrec_comparison *c, size_t row)
{
    static const char *const begins[] = {"", "**", "<u>"}, *const ends[] = {"", "**", "</u>"};
    char number[32];
    pr_write(out, "| ");
    write_name(out, c->rows[row].entry->name);
    for (size_t i = 0; i < c->column_count; i++) {
        const pr_table_column *column = &c->columns[i];
        int rank = pr_cell_rank(c, row, column);
        pr_write(out, " | %s%s%s", begins[rank],
                 pr_decimal(pr_cell_value(c, row, column), number, sizeof number), ends[rank]);
    }
    pr_write(out, " |\n");
}

static void write_table(pr_writer *out, const parsrec_comparison *c)
{
    char text[32];
    write_head(out, c);
    for (size_t row = 0; row < c->count; row++)
        if (!c->rows[row].ceiling)
            write_row(out, c, row);
    if (!c->ablation) {
        pr_write(out, "| *best over second* |");
        for (size_t i = 0; i < c->column_count; i++)
            pr_write(out, " %s |", pr_improvement(c, &c->columns[i], text, sizeof text));
        pr_write(out, "\n");
    }
    for (size_t row = 0; row < c->count; row++)
        if (c->rows[row].ceiling)
            write_row(out, c, row);
    pr_write(out, "| *random ranker* |");
    for (size_t i = 0; i < c->column_count; i++)
        pr_write(out, " %s |",
                 pr_decimal(c->rows[0].report.measures[c->columns[i].measure].random, text,
                            sizeof text));
    pr_write(out, "\n\n");
}

static void write_worth(pr_writer *out, const parsrec_comparison *c)
{
    const pr_table_column *column = &c->columns[c->chosen];
    char a[32], b[80], d[80], e[32], f[32], g[32], h[32];
    pr_write(out,
             "| %s | %s | 95 %% interval | bought before | new to the user | %s | interval of it | "
             "p |\n|---|--:|---|--:|--:|--:|---|---|\n",
             pr_phrases_of(c)->row, column->name, pr_phrases_of(c)->difference);
    for (size_t row = 0; row < c->count; row++) {
        const pr_contender *r = &c->rows[row];
        const parsrec_measure *m = &r->report.measures[column->measure];
        bool alone = pr_comparison_reference(c, row) == PR_NONE;
        const char *reference = r->ceiling ? "" : pr_phrases_of(c)->reference;
        pr_write(out, "| ");
        write_name(out, r->entry->name);
        pr_write(out, " | %s | %s | %s | %s | %s | %s | %s |\n", pr_decimal(m->value, a, sizeof a),
                 pr_interval_text(&r->intervals[column->measure], b, sizeof b),
                 pr_decimal(m->repeat, e, sizeof e), pr_decimal(m->fresh, f, sizeof f),
                 alone ? reference : pr_decimal(r->versus.difference.value, g, sizeof g),
                 alone ? "" : pr_interval_text(&r->versus.difference, d, sizeof d),
                 alone ? "" : pr_p_value(r->p, h, sizeof h));
    }
    pr_write(out, "\n");
}

/* Seed by seed, where there are several. */
static void write_seeds(pr_writer *out, const parsrec_comparison *c)
{
    const pr_table_column *column = &c->columns[c->chosen];
    const char *difference = pr_phrases_of(c)->difference;
    char text[80];
    pr_write(out,
             "| %s | %s by seed | mean | 95 %% interval over seeds | %s | 95 %% interval over "
             "seeds |\n|---|---|--:|---|--:|---|\n",
             pr_phrases_of(c)->row, column->name, difference);
    for (size_t row = 0; row < c->count; row++) {
        const pr_contender *r = &c->rows[row];
        if (r->judged < 2)
            continue;
        pr_write(out, "| ");
        write_name(out, r->entry->name);
        pr_write(out, " |");
        for (size_t i = 0; i < r->judged; i++)
            pr_write(out, " %s",
                     pr_decimal(r->attempts[i].report.measures[column->measure].value, text,
                                sizeof text));
        const pr_interval *spread = &r->spread[column->measure];
        pr_write(out, " | %s", pr_decimal(spread->value, text, sizeof text));
        pr_write(out, " | %s |", pr_interval_text(spread, text, sizeof text));
        if (pr_comparison_reference(c, row) != PR_NONE) {
            pr_write(out, " %s", pr_decimal(r->versus_spread.value, text, sizeof text));
            pr_write(out, " | %s |\n", pr_interval_text(&r->versus_spread, text, sizeof text));
        } else
            pr_write(out, " %s | |\n", r->ceiling ? "" : pr_phrases_of(c)->reference);
    }
    pr_write(out, "\n");
}

/* Every number can be traced: command, settings, seeds, version, checksum. */
static void write_traces(pr_writer *out, const parsrec_comparison *c)
{
    pr_write(out, "## How it was made\n\n");
    if (c->command != NULL)
        pr_write(out, "```sh\n%s\n```\n\n", c->command);
    pr_write(out,
             "parsrec %s; data %s, checksum %s; seed of training %llu%s, of the sampled items "
             "%llu, of intervals and tests %llu (%zu and %zu resamples of %zu users).\n\n",
             parsrec_version(), c->data_path, c->stats.checksum, (unsigned long long)c->seed,
             c->seeds > 1 ? " and those after it" : "", (unsigned long long)c->eval.seed,
             (unsigned long long)c->resampling.seed, c->resampling.resamples, c->testing.resamples,
             c->user_count);
    pr_write(out,
             "| %s | kind | settings | parameters | epochs | training | evaluation | "
             "fingerprint |\n|---|---|---|--:|--:|--:|--:|---|\n",
             pr_phrases_of(c)->row);
    for (size_t row = 0; row < c->count; row++) {
        const pr_contender *r = &c->rows[row];
        pr_write(out, "| ");
        write_name(out, r->entry->name);
        pr_write(out, " | %s | ", r->kind);
        pr_write_settings(out, r->entry);
        pr_write(out, " | %llu | ", (unsigned long long)r->parameters);
        if (r->learning.count > 0)
            pr_write(out, "%zu | %.0f s", r->learning.count, r->learning.seconds);
        else
            pr_write(out, "- | -");
        pr_write(out, " | %.1f s | %s |\n", r->report.seconds, r->report.fingerprint);
    }
}

void pr_table_markdown(pr_writer *out, const parsrec_comparison *c)
{
    pr_write(out, "# %s\n\n", pr_phrases_of(c)->title);
    write_sentence(out, pr_write_verdict, c);
    pr_write(out, "\n\n");
    write_sentence(out, pr_write_protocol, c);
    pr_write(out, "\n\n");
    write_table(out, c);
    pr_write_legend(out, c);
    pr_write(out, "\n\n## What the numbers are worth\n\n");
    write_worth(out, c);
    if (c->seeds > 1)
        write_seeds(out, c);
    write_traces(out, c);
}
