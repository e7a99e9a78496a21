/* Options and output that several commands share. */
#include "cli/shared.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/status.h"
#include "base/text.h"
#include "base/writer.h"

/* ---- the command as it was typed ---- */

/* A word of a command line that can be pasted into a shell. */
static void write_word(pr_writer *out, const char *word)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                "_-./+:,=@%";
    pr_write(out, " ");
    if (word[0] != '\0' && word[strspn(word, plain)] == '\0') {
        pr_write(out, "%s", word);
        return;
    }
    pr_write(out, "'");
    for (; *word != '\0'; word++)
        pr_write(out, *word == '\'' ? "'\\''" : "%c", *word);
    pr_write(out, "'");
}

char *cli_command_line(int argc, const char *const *argv)
{
    pr_writer out = {0};
    pr_write(&out, "parsrec");
    for (int i = 0; i < argc; i++)
        write_word(&out, argv[i]);
    return pr_writer_take(&out);
}

/* ---- temporary files ---- */

parsrec_status cli_temporary_folder(pr_path *out, parsrec_error *err)
{
    const char *chosen = getenv("TMPDIR");
    snprintf(out->text, sizeof out->text, "%s/parsrec-XXXXXX",
             chosen != NULL && chosen[0] != '\0' ? chosen : "/tmp");
    if (mkdtemp(out->text) == NULL)
        return pr_fail_errno(err, PARSREC_E_IO, "%s: cannot make a folder; set TMPDIR", out->text);
    return PARSREC_OK;
}

/* ---- input files ---- */

parsrec_status cli_input_open(cli_input *input, const char *path, parsrec_error *err)
{
    char format[32];
    *input = (cli_input){0};
    cli_stage("reading %s", path);
    parsrec_status status = parsrec_file_format(path, format, err);
    if (status == PARSREC_OK && strcmp(format, "parsrec.model") == 0) {
        status = parsrec_model_load(&input->model, path, err);
        input->data = status == PARSREC_OK ? parsrec_model_data(input->model) : NULL;
    } else if (status == PARSREC_OK) {
        status = parsrec_data_load(&input->own, path, err);
        input->data = input->own;
    }
    return status;
}

parsrec_status cli_load_second(parsrec_data **data, const char *path, const char *command,
                               parsrec_error *err)
{
    char format[32];
    parsrec_status status = parsrec_data_load(data, path, err);
    if (status == PARSREC_E_FORMAT && parsrec_file_format(path, format, NULL) == PARSREC_OK &&
        strcmp(format, "parsrec.model") == 0)
        return pr_fail(err, status,
                       "%s: is a model, not a data set; the model comes first and the data set "
                       "second, as in parsrec %s MODEL DATA",
                       path, command);
    return status;
}

void cli_input_close(cli_input *input)
{
    parsrec_model_free(input->model);
    parsrec_data_free(input->own);
    *input = (cli_input){0};
}

/* ---- evaluation ---- */

const char *const cli_splits[] = {"test", "valid", NULL};
const char *const cli_protocols[] = {"all", "remaining", "next", "basket", NULL};

cli_eval_words cli_eval_default(void)
{
    return (cli_eval_words){.k = "1,5,10", .candidates = "uniform"};
}

/* "1,5,10" */
static bool read_cutoffs(parsrec_eval_options *o, const char *text)
{
    o->k_count = 0;
    for (pr_slice rest = pr_slice_of(text); rest.size > 0;) {
        size_t n = 0;
        while (n < rest.size && rest.bytes[n] != ',')
            n++;
        if (o->k_count == PARSREC_CUTOFFS_MOST ||
            !pr_parse_u64((pr_slice){rest.bytes, n}, &o->k[o->k_count]) || o->k[o->k_count] == 0)
            return false;
        o->k_count++;
        size_t skip = n < rest.size ? n + 1 : n;
        rest = (pr_slice){rest.bytes + skip, rest.size - skip};
    }
    return o->k_count > 0;
}

/* Lists for whole baskets rank all items, as in next-basket papers, unless candidates are given. */
static void set_candidates(parsrec_eval_options *o, const cli_eval_words *w)
{
    bool uniform = strcmp(w->candidates, "uniform") == 0;
    bool popular = strcmp(w->candidates, "popular") == 0;
    if (!uniform)
        o->candidates = popular ? PARSREC_CANDIDATES_POPULAR : PARSREC_CANDIDATES_FILE;
    o->candidates_path = uniform || popular ? NULL : w->candidates;
    if (w->negatives > 0)
        o->negatives = w->negatives;
    else if (w->full || (uniform && o->protocol == PARSREC_PROTOCOL_BASKET))
        o->negatives = 0;
    else
        o->negatives = parsrec_eval_default().negatives;
}

const char *const cli_split_words[] = {"auto", "users", "sessions", "time", NULL};

int cli_split_apply(const cli_command *command, cli_split *split)
{
    static const parsrec_split_by meaning[] = {PARSREC_SPLIT_BY_AUTO, PARSREC_SPLIT_BY_USERS,
                                               PARSREC_SPLIT_BY_SESSIONS, PARSREC_SPLIT_BY_AUTO};
    parsrec_split_options *how = &split->how;
    parsrec_error err = {0};
    if ((split->at != NULL) + (how->days > 0) + (how->users_path != NULL) > 1)
        return cli_usage_error(command,
                               "--split-at, --test-days and --test-users exclude each other");
    if (split->by != 0 && split->at == NULL && how->days == 0)
        return cli_usage_error(command, "--split-by %s needs --split-at TIME or --test-days N",
                               cli_split_words[split->by]);
    how->at = split->at != NULL;
    how->by = meaning[split->by];
    if (split->at == NULL || pr_parse_i64(pr_slice_of(split->at), &how->time) ||
        parsrec_time_read(split->at, &how->time, &err) == PARSREC_OK)
        return CLI_CONTINUE;
    return cli_usage_error(command, "--split-at %s: expected a date, as 2010-03-02, or a number",
                           split->at);
}

parsrec_eval_options cli_eval_for(const parsrec_eval_options *eval, const cli_eval_words *words,
                                  parsrec_protocol protocol)
{
    parsrec_eval_options o = *eval;
    o.protocol = protocol;
    set_candidates(&o, words);
    return o;
}

int cli_eval_apply(const cli_command *command, parsrec_eval_options *eval,
                   const cli_eval_words *words)
{
    if (!read_cutoffs(eval, words->k))
        return cli_usage_error(command, "--k %s: expected up to %d numbers from 1, as in 1,5,10",
                               words->k, PARSREC_CUTOFFS_MOST);
    if (words->full && (words->negatives > 0 || strcmp(words->candidates, "uniform") != 0))
        return cli_usage_error(command, "--full ranks every item and excludes --negatives and "
                                        "--candidates");
    eval->protocol = (parsrec_protocol)(words->protocol > 0 ? words->protocol - 1 : 0);
    eval->split = words->split == 0 ? PARSREC_SPLIT_TEST : PARSREC_SPLIT_VALID;
    set_candidates(eval, words);
    if (words->negatives > 0 && eval->candidates_path != NULL)
        return cli_usage_error(command,
                               "--negatives: the file %s says how many candidates there are",
                               words->candidates);
    return CLI_CONTINUE;
}

/* ---- comparisons ---- */

static void on_epoch(void *context, const parsrec_epoch *e)
{
    (void)context;
    if (e->earlier)
        return;
    cli_finish_line();
    fprintf(stderr, "  %s: epoch %u  loss %.3f  HR@10 %.3f  NDCG@10 %.3f\n", e->name, e->number,
            e->loss, e->hit_rate_10, e->ndcg_10);
}

parsrec_hooks cli_compare_hooks(void)
{
    parsrec_hooks hooks = *cli_hooks();
    hooks.on_epoch = on_epoch;
    return hooks;
}

int cli_finish_comparison(const char *command, parsrec_ranks *ranks, parsrec_status status,
                          parsrec_comparison *comparison, const char *folder, bool json,
                          parsrec_error *err)
{
    char *text;
    int rc = cli_end_ranks(command, ranks, status, err);
    if (rc != CLI_CONTINUE) {
        parsrec_comparison_free(comparison);
        return rc;
    }
    parsrec_text_kind kind = json                         ? PARSREC_TEXT_JSON_MODELS
                             : isatty(STDOUT_FILENO) != 0 ? PARSREC_TEXT_TERMINAL
                                                          : PARSREC_TEXT_PLAIN;
    status = parsrec_comparison_text(&text, comparison, kind, err);
    parsrec_comparison_free(comparison);
    if (status != PARSREC_OK)
        return cli_report(command, err);
    fputs(text, stdout);
    parsrec_text_free(text);
    if (!json)
        printf("\n%s/report.html has the charts; report.md, .csv and .json are next to it\n",
               folder);
    return cli_close_output(command);
}

/* ---- weights of a model ---- */

void cli_print_weights(const parsrec_model *model)
{
    const char *name;
    double value;
    for (size_t i = 0; parsrec_model_weight(model, i, &name, &value); i++) {
        if (i == 0)
            printf("\nweights of the counts\n");
        printf("  %-26s%20.4f\n", name, value);
    }
}

/* ---- several processes ---- */

int cli_in_ranks(const char *command, double peer_time,
                 int (*run)(void *args, parsrec_ranks *ranks), void *args)
{
    parsrec_error err = {0};
    parsrec_ranks *ranks;
    if (parsrec_ranks_join(&ranks, peer_time, cli_hooks(), &err) != PARSREC_OK)
        return cli_report(command, &err);
    int rc = run(args, ranks);
    fflush(NULL); /* leaving may end the process */
    parsrec_ranks_leave(ranks);
    return rc;
}

const parsrec_hooks *cli_hooks_in(const parsrec_ranks *ranks)
{
    return parsrec_ranks_rank(ranks) == 0 ? cli_hooks() : NULL;
}

int cli_end_ranks(const char *command, parsrec_ranks *ranks, parsrec_status status,
                  parsrec_error *err)
{
    /* What goes wrong with the input goes wrong on all ranks; these may be one rank's own. */
    bool own = status == PARSREC_E_MEMORY || status == PARSREC_E_IO || status == PARSREC_E_STOPPED;
    if (!own)
        status = parsrec_ranks_agree(ranks, status, err);
    cli_finish_line();
    if (status == PARSREC_OK) {
        parsrec_ranks_close(ranks);
        return parsrec_ranks_rank(ranks) == 0 ? CLI_CONTINUE : CLI_OK;
    }
    if (status == PARSREC_E_PEER && parsrec_ranks_speaks(ranks))
        fprintf(stderr, "parsrec %s: %s; all ranks end\n", command, err->message);
    else if (parsrec_ranks_speaks(ranks))
        cli_report(command, err);
    return CLI_FAILED;
}
