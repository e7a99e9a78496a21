/* parsrec eval: measures a model on sessions it has not seen. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/commands.h"
#include "cli/shared.h"
#include "cli/terminal.h"
#include "parsrec.h"

typedef struct eval_args {
    parsrec_eval_options eval;
    cli_eval_words words;
    cli_strings set;
    cli_split split;
    bool json;
    double peer_time;
    const cli_words *files;
} eval_args;

static const cli_option options[] = {
    CLI_EVAL_OPTIONS(eval_args, eval, words),
    CLI_LIST(0, "set", "KEY=VALUE", eval_args, set, "a setting of a counting model; repeatable"),
    CLI_COUNT(0, "seed", eval_args, eval.seed, 0, 9223372036854775807.0,
              "seed of the sampled items, the same for every model"),
    CLI_SPLIT_OPTIONS(eval_args, split),
    CLI_THREADS(eval_args, eval.threads),
    CLI_TEXT(0, "dump-scores", "FILE", eval_args, eval.dump_path,
             "write the rankings as JSON lines, to be measured by another program"),
    CLI_PEER_TIME(eval_args, peer_time),
    CLI_FLAG(0, "json", eval_args, json, "print the result as JSON"),
    CLI_END,
};

const cli_command cli_eval = {
    .name = "eval",
    .summary = "evaluate a model on sessions it has not seen",
    .usage = "parsrec eval MODEL DATA [options]",
    .details =
        "MODEL is a file, or a kind of counting model, which needs no file: pop, personal, ...\n"
        "(docs/models.md). A tie counts against the model. docs/evaluation.md explains protocols\n"
        "and measures. mpirun -n 4 parsrec eval ... divides the baskets among 4 processes, with "
        "the\n"
        "same result (docs/scale.md).\n",
    .examples = "  parsrec eval shop.model shop.data\n"
                "  parsrec eval shop.model shop.data --protocol basket --full --k 5,10\n",
    .options = options,
    .least_words = 2,
    .most_words = 2,
};

/* "HR@10"; "MRR" has no cutoff. Returns buffer. */
static char *measure_name(const parsrec_measure *m, char *buffer, size_t size)
{
    if (m->k == 0)
        snprintf(buffer, size, "%s", m->name);
    else
        snprintf(buffer, size, "%s@%llu", m->name, (unsigned long long)m->k);
    return buffer;
}

static void print_head(const eval_args *a, const parsrec_eval_report *r)
{
    pr_digits users, baskets, steps;
    printf("%s sessions: %s user%s, %s basket%s, %s step%s, against ",
           a->eval.split == PARSREC_SPLIT_TEST ? "last" : "second to last",
           pr_digits_of(&users, r->users), r->users == 1 ? "" : "s",
           pr_digits_of(&baskets, r->baskets), r->baskets == 1 ? "" : "s",
           pr_digits_of(&steps, r->steps), r->steps == 1 ? "" : "s");
    if (r->negatives == 0)
        puts("the whole catalogue\n");
    else if (a->eval.candidates == PARSREC_CANDIDATES_FILE)
        printf("the items of %s\n\n", a->eval.candidates_path);
    else
        printf("%llu item%s drawn %s\n\n", (unsigned long long)r->negatives,
               r->negatives == 1 ? "" : "s",
               a->eval.candidates == PARSREC_CANDIDATES_POPULAR ? "by popularity" : "uniformly");
}

static void print_number(double value)
{
    if (isnan(value))
        printf(" %10s", "-");
    else
        printf(" %10.4f", value);
}

static void print_table(const eval_args *a, const parsrec_eval_report *r)
{
    print_head(a, r);
    printf("%-14s %10s %10s %10s %10s %10s %10s\n", "", "all", "95 % from", "to", "random",
           "repeat", "new");
    for (size_t i = 0; i < r->measure_count; i++) {
        const parsrec_measure *m = &r->measures[i];
        char name[48];
        printf("%-14s", measure_name(m, name, sizeof name));
        print_number(m->value);
        print_number(m->low);
        print_number(m->high);
        print_number(m->random);
        print_number(m->repeat);
        print_number(m->fresh);
        putchar('\n');
    }
    printf("\nprotocol %s, fingerprint %s, %.1f s\n", parsrec_protocol_name(a->eval.protocol),
           r->fingerprint, r->seconds);
}

/* ---- all protocols ---- */

/* The measure of a report that has this name and cutoff, or NULL. */
static const parsrec_measure *find_measure(const parsrec_eval_report *r,
                                           const parsrec_measure *like)
{
    for (size_t i = 0; i < r->measure_count; i++)
        if (r->measures[i].k == like->k && strcmp(r->measures[i].name, like->name) == 0)
            return &r->measures[i];
    return NULL;
}

static void print_row(const parsrec_eval_report *reports, const parsrec_measure *m)
{
    char name[48];
    printf("%-14s", measure_name(m, name, sizeof name));
    for (size_t p = 0; p < PARSREC_PROTOCOLS; p++) {
        const parsrec_measure *cell = find_measure(&reports[p], m);
        if (cell == NULL)
            printf(" %24s", "-");
        else
            printf("  %7.4f [%.4f, %.4f]", cell->value, cell->low, cell->high);
    }
    putchar('\n');
}

/* One column per protocol. */
static void print_side_by_side(const parsrec_eval_options *how, const parsrec_eval_report *reports)
{
    pr_digits digits;
    char against[32];
    double seconds = 0;
    printf("%s sessions; intervals of 95 %% over users\n\n%-14s",
           how->split == PARSREC_SPLIT_TEST ? "last" : "second to last", "");
    for (size_t p = 0; p < PARSREC_PROTOCOLS; p++)
        printf(" %24s", parsrec_protocol_name(how[p].protocol));
    printf("\n%-14s", "users");
    for (size_t p = 0; p < PARSREC_PROTOCOLS; p++)
        printf(" %24s", pr_digits_of(&digits, reports[p].users));
    printf("\n%-14s", "ranked against");
    for (size_t p = 0; p < PARSREC_PROTOCOLS; p++) {
        snprintf(against, sizeof against, "%llu item%s", (unsigned long long)reports[p].negatives,
                 reports[p].negatives == 1 ? "" : "s");
        printf(" %24s", reports[p].users == 0       ? "-"
                        : reports[p].negatives == 0 ? "all items"
                                                    : against);
        seconds += reports[p].seconds;
    }
    putchar('\n');
    for (size_t p = 0; p < PARSREC_PROTOCOLS; p++)
        for (size_t i = 0; i < reports[p].measure_count; i++) {
            const parsrec_measure *m = &reports[p].measures[i];
            bool shown = false;
            for (size_t before = 0; before < p; before++)
                shown = shown || find_measure(&reports[before], m) != NULL;
            if (!shown)
                print_row(reports, m);
        }
    printf("\n%.1f s; --protocol NAME shows repeat and new items, and what a random ranker gets\n",
           seconds);
}

static int print_json(const cli_words *words, const parsrec_eval_options *how,
                      const parsrec_eval_report *r, size_t count)
{
    parsrec_error err = {0};
    char *text;
    const char *model = words->word[0], *data = words->word[1];
    if ((count == 1
             ? parsrec_eval_json(&text, model, data, how, r, &err)
             : parsrec_eval_several_json(&text, model, data, how, r, count, &err)) != PARSREC_OK)
        return cli_report("eval", &err);
    puts(text);
    parsrec_text_free(text);
    return cli_close_output("eval");
}

/* A file of that name takes precedence over a kind. */
static bool is_kind(const char *word)
{
    return parsrec_model_counts(word) && access(word, F_OK) != 0;
}

/* Unless another split is asked for, the data are split as those that the model learnt from. */
static parsrec_status load_split(parsrec_model **model, parsrec_split_options *split,
                                 const char *path, bool speaks, parsrec_error *err)
{
    parsrec_status status = parsrec_model_load(model, path, err);
    if (status != PARSREC_OK || split->at || split->days > 0 || split->users_path != NULL ||
        !parsrec_model_split(*model, split))
        return status;
    cli_finish_line();
    if (speaks)
        fprintf(stderr, "note: %s was trained with --split-at %lld, which is used here too\n", path,
                (long long)split->time);
    return PARSREC_OK;
}

static parsrec_status run(const eval_args *a, const cli_words *words,
                          const parsrec_eval_options *how, size_t count,
                          parsrec_eval_report *reports, parsrec_error *err)
{
    parsrec_model *model = NULL;
    parsrec_data *data = NULL;
    parsrec_ranks *ranks = a->eval.ranks;
    bool first = parsrec_ranks_rank(ranks) == 0;
    if (first)
        cli_stage("loading %s", words->word[1]);
    parsrec_split_options split = a->split.how;
    parsrec_status status = cli_load_second(&data, words->word[1], "eval", err);
    if (status == PARSREC_OK && !is_kind(words->word[0]))
        status = load_split(&model, &split, words->word[0], first, err);
    if (status == PARSREC_OK)
        status = parsrec_data_split(data, &split, cli_hooks_in(ranks), err);
    if (status == PARSREC_OK && model == NULL) {
        parsrec_train_options counting = parsrec_train_default();
        counting.model = words->word[0];
        counting.set = a->set.word;
        counting.set_count = a->set.count;
        counting.threads = a->eval.threads;
        status = parsrec_model_count(&model, data, &counting, cli_hooks_in(ranks), err);
    }
    status = parsrec_ranks_agree(ranks, status, err);
    if (status == PARSREC_OK)
        status = parsrec_eval_several(model, data, how, count, reports, cli_hooks_in(ranks), err);
    parsrec_model_free(model);
    parsrec_data_free(data);
    return status;
}

static int eval(void *args, parsrec_ranks *ranks)
{
    eval_args *a = args;
    parsrec_error err = {0};
    a->eval.ranks = ranks;
    parsrec_eval_options how[PARSREC_PROTOCOLS] = {a->eval};
    parsrec_eval_report reports[PARSREC_PROTOCOLS];
    /* What is dumped was ranked by one protocol. */
    size_t count = a->words.protocol > 0 || a->eval.dump_path != NULL ? 1 : PARSREC_PROTOCOLS;
    for (size_t p = 0; p < count && count > 1; p++)
        how[p] = cli_eval_for(&a->eval, &a->words, (parsrec_protocol)p);
    parsrec_status status = run(a, a->files, how, count, reports, &err);
    int rc = cli_end_ranks("eval", ranks, status, &err);
    if (rc != CLI_CONTINUE)
        return rc;
    if (a->json)
        return print_json(a->files, how, reports, count);
    if (count == 1)
        print_table(a, reports);
    else
        print_side_by_side(how, reports);
    return cli_close_output("eval");
}

int cmd_eval(int argc, char **argv)
{
    eval_args a = {
        .eval = parsrec_eval_default(), .words = cli_eval_default(), .peer_time = CLI_PEER_SECONDS};
    cli_words words;
    int rc = cli_parse(&cli_eval, &a, &words, argc, argv);
    if (rc == CLI_CONTINUE)
        rc = cli_eval_apply(&cli_eval, &a.eval, &a.words);
    if (rc == CLI_CONTINUE)
        rc = cli_split_apply(&cli_eval, &a.split);
    if (rc != CLI_CONTINUE)
        return rc;
    if (a.set.count > 0 && !is_kind(words.word[0]))
        return cli_usage_error(&cli_eval, "--set: %s is a file and has its settings",
                               words.word[0]);
    if (a.eval.dump_path != NULL && strcmp(a.eval.dump_path, "-") == 0)
        return cli_usage_error(&cli_eval, "--dump-scores: standard output has the result; "
                                          "name a file or a pipe");
    a.files = &words;
    return cli_in_ranks("eval", a.peer_time, eval, &a);
}
