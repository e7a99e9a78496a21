/* parsrec explain: relationships between items or categories. */
#include <stdio.h>
#include <string.h>

#include "base/files.h"
#include "cli/commands.h"
#include "cli/shared.h"
#include "cli/terminal.h"
#include "parsrec.h"

static const char *const by_words[] = {"auto", "category", "item", NULL};
#define NAME(id, name) (name),
static const char *const map_words[] = {"all", PARSREC_MAP_LIST(NAME) NULL};
#undef NAME
static const char *const order_words[] = {"catalogue", "cluster", NULL};

typedef struct explain_args {
    parsrec_explain_options explain;
    int by, map, order;
    cli_strings groups, show;
    const char *output;
    bool json;
    double peer_time;
    const cli_words *files;
} explain_args;

static const cli_option options[] = {
    CLI_TEXT('o', "output", "DIR", explain_args, output,
             "write the page, pictures and numbers into DIR"),
    CLI_CHOICE(0, "by", explain_args, by, by_words,
               "rows and columns; auto: categories if there are any, else items"),
    CLI_CHOICE(0, "map", explain_args, map, map_words,
               "which map (default: all that the model has)"),
    CLI_LIST(
        0, "group", "GROUP", explain_args, groups,
        "everybody, truth, FEATURE=VALUE, NAME=FILE, buyers:CATEGORY, cluster:N or user:KEY; may "
        "be repeated"),
    CLI_TEXT(0, "difference", "A,B", explain_args, explain.difference,
             "also show A minus B (automatic with two groups)"),
    CLI_COUNT(0, "level", explain_args, explain.level, 0, 32,
              "categories at this level of the tree, 1 at the top (default: those of the items)"),
    CLI_COUNT(0, "top", explain_args, explain.top, 2, 1000, "rows of a map: the best sellers"),
    CLI_LIST(0, "show", "NAME", explain_args, show,
             "show this item or category instead; repeatable"),
    CLI_COUNT(0, "basket", explain_args, explain.basket_most, 2, 64,
              "items per basket that are read, in stored order"),
    CLI_COUNT(0, "baskets", explain_args, explain.baskets_most, 0, 1000000000,
              "baskets per group that the model scores, from evenly spaced users (default: all)"),
    CLI_CHOICE(0, "order", explain_args, order, order_words, "order of rows in pictures"),
    CLI_THREADS(explain_args, explain.threads),
    CLI_PEER_TIME(explain_args, peer_time),
    CLI_FLAG(0, "json", explain_args, json, "print the result as JSON"),
    CLI_END,
};

const cli_command cli_explain = {
    .name = "explain",
    .summary = "map the relationships between items or categories",
    .usage = "parsrec explain MODEL DATA -o DIR [options]",
    .details =
        "docs/explanations.md explains each map and how far to trust it. mpirun -n 4 parsrec\n"
        "explain ... divides the baskets among 4 processes, with the same maps (docs/scale.md).\n",
    .examples =
        "  parsrec explain shop.model shop.data -o maps\n"
        "  parsrec explain shop.model shop.data --by item --top 10 --group user:K02 -o items\n",
    .options = options,
    .least_words = 2,
    .most_words = 2,
};

static int print_explanation(const explain_args *a, const parsrec_explanation *explanation)
{
    parsrec_error err = {0};
    char *text;
    if (parsrec_explanation_text(&text, explanation,
                                 a->json ? PARSREC_TEXT_JSON : PARSREC_TEXT_PLAIN,
                                 &err) != PARSREC_OK)
        return cli_report("explain", &err);
    if (a->json)
        fputs(text, stdout);
    else
        cli_print_text(text);
    parsrec_text_free(text);
    if (!a->json)
        printf("\n%s/report.html has the pictures; next to it are the maps as CSV, PNG, SVG, PDF\n",
               a->output);
    return cli_close_output("explain");
}

static parsrec_status run(explain_args *a, const cli_words *words,
                          parsrec_explanation **explanation, parsrec_error *err)
{
    parsrec_model *model = NULL;
    parsrec_data *data = NULL;
    parsrec_ranks *ranks = a->explain.ranks;
    bool first = parsrec_ranks_rank(ranks) == 0;
    /* By one rank: the folder is made and removed again. */
    parsrec_status status = first ? pr_folder_check(a->output, err) : PARSREC_OK;
    PR_TRY(parsrec_ranks_agree(ranks, status, err));
    if (first)
        cli_stage("loading %s", words->word[1]);
    status = cli_load_second(&data, words->word[1], "explain", err);
    if (status == PARSREC_OK && first)
        cli_stage("loading %s", words->word[0]);
    if (status == PARSREC_OK)
        status = parsrec_model_load(&model, words->word[0], err);
    parsrec_model_facts facts = {0};
    if (status == PARSREC_OK)
        parsrec_model_describe(model, &facts);
    if (a->by == 0) /* maps are of the model's catalogue: later data may come without categories */
        a->explain.items = facts.categories == 0;
    status = parsrec_ranks_agree(ranks, status, err);
    if (status == PARSREC_OK)
        status = parsrec_explain(explanation, model, data, &a->explain, cli_hooks_in(ranks), err);
    if (status == PARSREC_OK && first)
        status = parsrec_explanation_save(*explanation, a->output, cli_hooks(), err);
    parsrec_model_free(model);
    parsrec_data_free(data);
    return status;
}

static int explain(void *args, parsrec_ranks *ranks)
{
    explain_args *a = args;
    parsrec_error err = {0};
    parsrec_explanation *explanation = NULL;
    parsrec_explain_options *o = &a->explain;
    o->items = a->by == 2;
    o->cluster = a->order == 1;
    if (a->map > 0)
        o->maps[a->map - 1] = true;
    o->groups = a->groups.word;
    o->group_count = a->groups.count;
    o->show = a->show.word;
    o->show_count = a->show.count;
    o->model_name = a->files->word[0];
    o->data_name = a->files->word[1];
    o->ranks = ranks;
    parsrec_status status = run(a, a->files, &explanation, &err);
    int rc = cli_end_ranks("explain", ranks, status, &err);
    if (rc == CLI_CONTINUE)
        rc = print_explanation(a, explanation);
    parsrec_explanation_free(explanation);
    return rc;
}

int cmd_explain(int argc, char **argv)
{
    explain_args a = {.explain = parsrec_explain_default(), .peer_time = CLI_PEER_SECONDS};
    cli_words words;
    char *command = cli_command_line(
        argc, (const char *const *)argv); /* before words are sorted to the front */
    int rc = cli_parse(&cli_explain, &a, &words, argc, argv);
    if (rc == CLI_CONTINUE && a.output == NULL)
        rc = cli_usage_error(&cli_explain, "nowhere to write; pass -o DIR");
    if (rc == CLI_CONTINUE) {
        a.explain.command = command;
        a.files = &words;
        rc = cli_in_ranks("explain", a.peer_time, explain, &a);
    }
    parsrec_text_free(command);
    return rc;
}
