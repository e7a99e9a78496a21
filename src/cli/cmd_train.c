/* parsrec train: a model from a data set. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/files.h"
#include "cli/commands.h"
#include "cli/shared.h"
#include "cli/terminal.h"
#include "parsrec.h"

typedef struct train_args {
    const char *output;
    parsrec_train_options train;
    cli_strings set;
    cli_split split;
    double peer_time;
    const char *data_path;
    bool print_config, json;
} train_args;

static const cli_option options[] = {
    CLI_TEXT('o', "output", "MODEL", train_args, output, "write the best model to MODEL"),
    CLI_TEXT(0, "model", "KIND", train_args, train.model,
             "kind of model, see below (default: parsrec)"),
    CLI_TEXT(0, "preset", "NAME", train_args, train.preset,
             "a named group of settings: paper; other settings override it"),
    CLI_TEXT(0, "config", "FILE", train_args, train.config_path,
             "file of settings, one key = value per line"),
    CLI_LIST(0, "set", "KEY=VALUE", train_args, set, "one setting; repeatable"),
    CLI_FLAG(0, "print-config", train_args, print_config,
             "print the effective settings as a commented file and exit"),
    CLI_COUNT(0, "epochs", train_args, train.epochs, 0, 100000,
              "passes over the data (default: as the settings say)"),
    CLI_COUNT(0, "patience", train_args, train.patience, 0, 100000,
              "stop after N epochs without a better validation (default: never)"),
    CLI_TEXT(0, "resume", "CKPT", train_args, train.resume,
             "resume from a checkpoint with its settings, bit for bit"),
    CLI_REAL(0, "checkpoint-minutes", train_args, train.checkpoint_minutes, 0, 100000,
             "time between checkpoints within an epoch; 0 writes one after every batch"),
    CLI_FLAG(0, "keep-checkpoint", train_args, train.keep_checkpoint,
             "keep it at the end, so that --resume with more --epochs can continue"),
    CLI_COUNT(0, "seed", train_args, train.seed, 0, 9223372036854775807.0,
              "equal seeds give equal models"),
    CLI_SPLIT_OPTIONS(train_args, split),
    CLI_THREADS(train_args, train.threads),
    CLI_BYTES(0, "max-memory", train_args, train.max_memory,
              "keep in temporary files what does not fit (default: all is in memory)"),
    CLI_PEER_TIME(train_args, peer_time),
    CLI_FLAG(0, "json", train_args, json, "print the result as JSON"),
    CLI_END,
};

const cli_command cli_train = {
    .name = "train",
    .summary = "train a model on a data set",
    .usage = "parsrec train -o MODEL DATA [options]",
    .details =
        "Kinds: parsrec, sasrec, tisasrec, bert4rec, gru4rec, narm, stamp, caser, dream, bpr,\n"
        "fpmc, ncf, hrm, transrec are trained; pop, personal, recent, markov, mix, tifuknn, upcf,\n"
        "pernir, sknn, vsknn, rules, seqrules, itemknn, ease and random are counted; oracle\n"
        "knows the truth of synthetic data (docs/models.md).\n"
        "Next to MODEL it writes MODEL.log (JSON lines), MODEL.png and MODEL.svg (learning\n"
        "curves) and, while it runs, MODEL.ckpt. Ctrl-C finishes the batch, saves and prints\n"
        "how to resume. With --resume, --epochs, --patience and --set of rate, clip and newest "
        "may\n"
        "differ from before.\n"
        "mpirun -n 4 parsrec train ... trains in 4 processes, on one machine or several, with the\n"
        "same model at the end, byte for byte (docs/scale.md). When one of them is lost all end\n"
        "within --peer-time; --resume continues with any number of them.\n",
    .examples = "  parsrec train -o shop.model shop.data\n"
                "  parsrec train -o fast.model shop.data --epochs 5 --set rate=0.003\n"
                "  parsrec train -o counts.model shop.data --model personal\n",
    .options = options,
    .least_words = 0,
    .most_words = 1,
};

/* Epochs so far, for the curves at the end. */
typedef struct watch {
    parsrec_epoch *epochs;
    size_t count, capacity;
    const parsrec_hooks *terminal;
} watch;

static void on_log(void *context, parsrec_log_level level, const char *text)
{
    const watch *w = context;
    w->terminal->on_log(w->terminal->context, level, text);
}

static int on_progress(void *context, const parsrec_progress *progress)
{
    const watch *w = context;
    return w->terminal->on_progress(w->terminal->context, progress);
}

static void on_epoch(void *context, const parsrec_epoch *e)
{
    pr_digits rate;
    cli_finish_line();
    /* Fits into 80 columns. */
    fprintf(stderr, "epoch %3u  loss %.3f  HR@10 %.3f  NDCG@10 %.3f  Sess-Prec@10 %.3f", e->number,
            e->loss, e->hit_rate_10, e->ndcg_10, e->session_precision_10);
    if (e->earlier)
        fputs("  before\n", stderr);
    else
        fprintf(stderr, "  %s/s\n", pr_digits_of(&rate, (uint64_t)e->items_per_s));
    watch *w = context;
    if (w->count == w->capacity) {
        size_t capacity = w->capacity * 2 + 16;
        parsrec_epoch *grown = realloc(w->epochs, capacity * sizeof *grown);
        if (grown == NULL)
            return; /* the curve in the terminal is cut; nothing else depends on it */
        w->epochs = grown;
        w->capacity = capacity;
    }
    w->epochs[w->count++] = *e;
}

/* ---- results ---- */

static int print_json(const train_args *a, const parsrec_train_report *r)
{
    char *text = NULL;
    json_t *baselines = NULL;
    if (r->baselines.row_count == 0 ||
        parsrec_baselines_json(&text, &r->baselines, NULL) != PARSREC_OK ||
        pr_json_parse(&baselines, text, strlen(text), "baselines", NULL) != PARSREC_OK)
        baselines = json_null();
    parsrec_text_free(text);
    return cli_print_json("train",
                          json_pack("{s:o, s:b, s:I, s:I, s:s, s:b, s:f, s:{s:f, s:f, s:f}, s:o}",
                                    "model", pr_json_string(a->output), "finished", 1, "epochs",
                                    (json_int_t)r->epochs, "best_epoch", (json_int_t)r->best_epoch,
                                    "best_by", r->best_by, "stopped_early", (int)r->stopped_early,
                                    "loss", r->best.loss, "valid", "HR@10", r->best.hit_rate_10,
                                    "NDCG@10", r->best.ndcg_10, "Sess-Prec@10",
                                    r->best.session_precision_10, "baselines", baselines));
}

/* The last line: the model compared with the baselines. */
static void print_baselines(const parsrec_train_report *r)
{
    char line[2048];
    if (r->baselines.row_count > 0)
        puts(parsrec_baselines_text(&r->baselines, line, sizeof line));
}

static void print_best(const train_args *a, const parsrec_train_report *r)
{
    if (r->best_by[0] == '\0')
        printf("%s: epoch %u of %u is kept; no session can be validated\n", a->output,
               r->best_epoch, r->epochs);
    else
        printf("%s: epoch %u of %u is the best by validation %s%s: HR@10 %.4f, NDCG@10 %.4f, "
               "Sess-Prec@10 %.4f\n",
               a->output, r->best_epoch, r->epochs, r->best_by,
               r->stopped_early ? ", and nothing better came after it" : "", r->best.hit_rate_10,
               r->best.ndcg_10, r->best.session_precision_10);
}

static int print_report(const train_args *a, const parsrec_train_report *r, const watch *w)
{
    char *curves = NULL;
    if (a->json)
        return print_json(a, r);
    if (r->epochs == 0) {
        parsrec_model *model = NULL;
        printf("%s: counted\n", a->output);
        if (parsrec_model_load(&model, a->output, NULL) == PARSREC_OK)
            cli_print_weights(model);
        parsrec_model_free(model);
        print_baselines(r);
        return cli_close_output("train");
    }
    if (w->count > 1 && parsrec_curves_text(&curves, w->epochs, w->count, 78, NULL) == PARSREC_OK)
        printf("%s\n", curves);
    parsrec_text_free(curves);
    print_best(a, r);
    print_baselines(r);
    return cli_close_output("train");
}

/* How the run is resumed; the caller frees it. With ranks it needs a launcher again. */
static char *resume_line(const train_args *a, const char *data_path, const char *checkpoint)
{
    char most[32];
    snprintf(most, sizeof most, "%llu", (unsigned long long)a->train.max_memory);
    const char *const words[] = {"train",    "-o",       a->output,      data_path,
                                 "--resume", checkpoint, "--max-memory", most};
    int count = (int)(sizeof words / sizeof *words);
    return cli_command_line(a->train.max_memory > 0 ? count : count - 2, words);
}

static const char *launcher(const train_args *a)
{
    return a->train.ranks != NULL ? "mpirun -n N " : "";
}

/* No model was written, so this must not look like success. */
static int tell_stopped(const train_args *a, const char *data_path, const parsrec_train_report *r,
                        const parsrec_error *err)
{
    if (a->json)
        cli_print_json("train",
                       json_pack("{s:o, s:b, s:o, s:o}", "model", pr_json_string(a->output),
                                 "finished", 0, "checkpoint", pr_json_string(r->checkpoint),
                                 "message", pr_json_string(err->message)));
    char *again = resume_line(a, data_path, r->checkpoint);
    fprintf(stderr, "parsrec train: %s; resume with:\n  %s%s\n", err->message, launcher(a),
            again != NULL ? again : "parsrec train --resume");
    parsrec_text_free(again);
    return 1;
}

/* A rank is gone: what there is to resume from, if anything. */
static int tell_lost(const train_args *a, const char *data_path, const parsrec_error *err)
{
    pr_path checkpoint;
    char *again = resume_line(a, data_path, pr_checkpoint_path(&checkpoint, a->output));
    if (access(checkpoint.text, F_OK) == 0)
        fprintf(stderr,
                "parsrec train: %s; all ranks end; resume with any number of ranks N:\n  %s%s\n",
                err->message, launcher(a), again != NULL ? again : "parsrec train --resume");
    else
        fprintf(stderr, "parsrec train: %s; all ranks end; no checkpoint was written yet\n",
                err->message);
    parsrec_text_free(again);
    return 1;
}

static int print_config(const train_args *a)
{
    parsrec_error err;
    char *text;
    if (parsrec_config_text(&text, &a->train, &err) != PARSREC_OK)
        return cli_report("train", &err);
    fputs(text, stdout);
    parsrec_text_free(text);
    return cli_close_output("train");
}

static parsrec_status load(parsrec_data **data, const train_args *a, const char *data_path,
                           parsrec_error *err)
{
    parsrec_status status = parsrec_data_load(data, data_path, err);
    if (status == PARSREC_OK)
        status = parsrec_data_split(*data, &a->split.how, cli_hooks_in(a->train.ranks), err);
    return parsrec_ranks_agree(a->train.ranks, status, err);
}

static int train(const train_args *a, const char *data_path)
{
    parsrec_error err = {0};
    parsrec_data *data = NULL;
    parsrec_ranks *ranks = a->train.ranks;
    bool first = parsrec_ranks_rank(ranks) == 0;
    if (first)
        cli_stage("loading %s", data_path);
    watch w = {.terminal = cli_hooks()};
    parsrec_train_report report = {0};
    parsrec_status status = load(&data, a, data_path, &err);
    if (status == PARSREC_OK) {
        parsrec_data_stats stats;
        if (first && parsrec_data_statistics(data, &stats, &err) == PARSREC_OK &&
            stats.one_item_baskets)
            on_log(&w, PARSREC_LOG_WARNING, CLI_ONE_ITEM_BASKETS);
        parsrec_hooks hooks = {&w, on_log, on_progress, on_epoch};
        if (first)
            cli_stage("counting what users bought");
        status = parsrec_train(data, a->output, &a->train, &report, &hooks, &err);
    }
    parsrec_data_free(data);
    cli_finish_line();
    int rc = status != PARSREC_OK;
    if (status == PARSREC_OK && first)
        rc = print_report(a, &report, &w);
    else if (status == PARSREC_E_STOPPED && report.checkpoint[0] != '\0' && first)
        rc = tell_stopped(a, data_path, &report, &err);
    else if (status == PARSREC_E_PEER && parsrec_ranks_speaks(ranks))
        rc = tell_lost(a, data_path, &err);
    else if (status != PARSREC_OK && parsrec_ranks_speaks(ranks))
        rc = cli_report("train", &err);
    free(w.epochs);
    return rc;
}

static int train_in_ranks(void *args, parsrec_ranks *ranks)
{
    train_args *a = args;
    a->train.ranks = ranks;
    return train(a, a->data_path);
}

int cmd_train(int argc, char **argv)
{
    train_args a = {.train = parsrec_train_default(), .peer_time = CLI_PEER_SECONDS};
    cli_words words;
    int rc = cli_parse(&cli_train, &a, &words, argc, argv);
    if (rc == CLI_CONTINUE)
        rc = cli_split_apply(&cli_train, &a.split);
    if (rc != CLI_CONTINUE)
        return rc;
    a.train.set = a.set.word;
    a.train.set_count = a.set.count;
    if (a.print_config)
        return print_config(&a);
    if (words.count == 0)
        return cli_usage_error(&cli_train, "which data set? %s", cli_train.usage);
    if (a.output == NULL)
        return cli_usage_error(&cli_train, "no output; pass -o MODEL");
    if (strcmp(a.output, "-") == 0)
        return cli_usage_error(&cli_train,
                               "a model cannot be written to standard output; name a file");
    a.data_path = words.word[0];
    return cli_in_ranks("train", a.peer_time, train_in_ranks, &a);
}
