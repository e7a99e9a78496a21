/* parsrec bench: speed of training, as a share of what this machine can do, and the time of one
 * recommendation. Without a model one is trained for a pass: its speed does not depend on what it has
 * learnt. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/commands.h"
#include "cli/shared.h"
#include "cli/terminal.h"
#include "parsrec.h"

typedef struct bench_score_args {
    const char *path; /* of a model; NULL: one is made */
    uint64_t basket, k;
    double seconds;
    bool json;
} bench_score_args;

/* ---- what is measured on, where none is given ---- */

static const char *file_of(pr_path *hold, const char *folder, const char *name)
{
    snprintf(hold->text, sizeof hold->text, "%.4095s/%.100s", folder, name);
    return hold->text;
}

/* Removes the folder with all that synth and train write. A model or data set in use stays mapped. */
static void clean(const char *folder)
{
    static const char *const names[] = {"data",      "model",     "model.ckpt",
                                        "model.log", "model.png", "model.svg"};
    pr_path path;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        unlink(file_of(&path, folder, names[i]));
    rmdir(folder);
}

/* Synthetic data of the size of the authors' sample. */
static parsrec_status make_data(parsrec_data **data, parsrec_error *err)
{
    pr_path folder, path;
    parsrec_synth_options synth = parsrec_synth_default();
    PR_TRY(cli_temporary_folder(&folder, err));
    file_of(&path, folder.text, "data");
    parsrec_status status = parsrec_synth(path.text, &synth, NULL, cli_hooks(), err);
    if (status == PARSREC_OK)
        status = parsrec_data_load(data, path.text, err);
    clean(folder.text);
    return status;
}

/* Synthetic data with the paper's catalogue, and a pass over it with the paper's settings. */
static parsrec_status train_in(const char *folder, parsrec_model **model, parsrec_error *err)
{
    pr_path data_path, model_path;
    parsrec_data *data = NULL;
    parsrec_train_report report;
    parsrec_synth_options synth = parsrec_synth_default();
    parsrec_train_options train = parsrec_train_default();
    file_of(&data_path, folder, "data");
    file_of(&model_path, folder, "model");
    synth.users = 100;
    train.preset = "paper";
    train.epochs = 1;
    PR_TRY(parsrec_synth(data_path.text, &synth, NULL, cli_hooks(), err));
    PR_TRY(parsrec_data_load(&data, data_path.text, err));
    parsrec_status status = parsrec_train(data, model_path.text, &train, &report, cli_hooks(), err);
    if (status == PARSREC_OK)
        status = parsrec_model_load(model, model_path.text, err);
    parsrec_data_free(data);
    return status;
}

static parsrec_status make_model(parsrec_model **model, parsrec_error *err)
{
    pr_path folder;
    PR_TRY(cli_temporary_folder(&folder, err));
    parsrec_status status = train_in(folder.text, model, err);
    clean(folder.text);
    return status;
}

/* ---- parsrec bench score ---- */

static void print_score_speed(const bench_score_args *a, const parsrec_model *model,
                              const parsrec_score_speed *s)
{
    size_t items = parsrec_model_size(model, PARSREC_ITEM);
    if (a->json) {
        printf("{\"items\": %zu, \"basket\": %llu, \"k\": %llu, \"calls\": %llu, \"median_us\": "
               "%.2f, \"mean_us\": %.2f, \"p99_us\": %.2f, \"why_median_us\": %.2f}\n",
               items, (unsigned long long)a->basket, (unsigned long long)a->k,
               (unsigned long long)s->calls, s->median, s->mean, s->p99, s->why_median);
        return;
    }
    printf("%zu items, basket of %llu, best %llu: %llu calls of one thread\n", items,
           (unsigned long long)a->basket, (unsigned long long)a->k, (unsigned long long)s->calls);
    printf("median  %8.1f us\nmean    %8.1f us\np99     %8.1f us\n", s->median, s->mean, s->p99);
    printf("reasons %8.1f us more, median\n", s->why_median);
}

static int bench_score(const bench_score_args *a)
{
    parsrec_error err = {0};
    parsrec_model *model = NULL;
    parsrec_score_speed speed;
    parsrec_status status =
        a->path != NULL ? parsrec_model_load(&model, a->path, &err) : make_model(&model, &err);
    if (status == PARSREC_OK)
        status = parsrec_bench_score(model, (size_t)a->basket, (size_t)a->k, a->seconds, &speed,
                                     cli_hooks(), &err);
    if (status != PARSREC_OK) {
        parsrec_model_free(model);
        return cli_report("bench", &err);
    }
    cli_finish_line();
    print_score_speed(a, model, &speed);
    parsrec_model_free(model);
    return cli_close_output("bench");
}

/* ---- the command ---- */

typedef struct bench_args {
    const char *model, *preset;
    double seconds;
    uint64_t basket, k;
    unsigned threads;
    cli_strings set;
    bool json;
} bench_args;

static const cli_option options[] = {
    CLI_TEXT(0, "model", "KIND", bench_args, model, "kind of model (default: parsrec)"),
    CLI_TEXT(0, "preset", "NAME", bench_args, preset,
             "train: default or paper (default: paper for parsrec, else default)"),
    CLI_REAL(0, "seconds", bench_args, seconds, 0.1, 3600, "how long to measure"),
    CLI_COUNT(0, "basket", bench_args, basket, 1, 1000, "score: items in the basket, at most"),
    CLI_COUNT('k', "k", bench_args, k, 1, 1000000, "score: items wanted"),
    CLI_THREADS(bench_args, threads),
    CLI_LIST(0, "set", "KEY=VALUE", bench_args, set, "change a setting of the model; repeatable"),
    CLI_FLAG(0, "json", bench_args, json, "print the figures as JSON"),
    CLI_END,
};

const cli_command cli_bench = {
    .name = "bench",
    .summary = "measure speed, as a share of what this machine can do",
    .usage = "parsrec bench train [DATA] | score [MODEL] [options]",
    .details =
        "train: trains a model with its default settings (parsrec: the preset paper, or --preset "
        "default)\n"
        "on DATA, or on synthetic data of the size of the authors' sample, and measures a plain "
        "matrix product\n"
        "in the same run.\n"
        "score: the time of one recommendation, and of its reasons, for a known user with an open\n"
        "basket; with MODEL, or with one of 2,000 items that is made for it.\n",
    .examples = "  parsrec bench train --seconds 1\n"
                "  parsrec bench score shop.model --seconds 1\n",
    .options = options,
    .least_words = 1,
    .most_words = 2,
};

static void print_speed(const bench_args *a, const parsrec_train_speed *s)
{
    if (a->json) {
        printf("{\"items_per_s\": %.1f, \"gflops\": %.2f, \"sgemm_gflops\": %.2f, \"share\": %.4f, "
               "\"threads\": %u, \"kernels\": \"%s\", \"loss\": %.4f, \"parts\": {",
               s->items_per_s, s->gflops, s->sgemm_gflops, s->share, s->threads, s->kernels,
               s->loss);
        for (size_t i = 0; i < PARSREC_STEP_PARTS; i++)
            printf("%s\"%s\": %.4f", i > 0 ? ", " : "", parsrec_step_part(i), s->part_share[i]);
        printf("}}\n");
        return;
    }
    pr_digits rate;
    printf("threads        %10u  kernels for %s\n", s->threads,
           s->kernels[0] != '\0' ? s->kernels : "an unknown processor");
    printf("items/s        %10s\n", pr_digits_of(&rate, (uint64_t)(s->items_per_s + 0.5)));
    printf("GFLOP/s        %10.1f  nominal operations of the plain network\n", s->gflops);
    printf("sgemm GFLOP/s  %10.1f  this machine, same threads, same run\n", s->sgemm_gflops);
    printf("share          %10.3f\n\nwhere the time of a step goes\n", s->share);
    for (size_t i = 0; i < PARSREC_STEP_PARTS; i++)
        printf("  %-28s %5.1f %%\n", parsrec_step_part(i), 100 * s->part_share[i]);
}

static int bench_train(const bench_args *a, const char *path)
{
    parsrec_error err = {0};
    parsrec_data *data = NULL;
    parsrec_train_speed speed;
    if (path != NULL)
        cli_stage("loading %s", path);
    parsrec_status status =
        path != NULL ? parsrec_data_load(&data, path, &err) : make_data(&data, &err);
    parsrec_train_options train = parsrec_train_default();
    bool paper = a->model == NULL || strcmp(a->model, "parsrec") == 0;
    train.model = a->model;
    train.preset = a->preset != NULL ? a->preset : paper ? "paper" : "default";
    train.set = a->set.word;
    train.set_count = a->set.count;
    train.threads = a->threads;
    if (status == PARSREC_OK)
        status = parsrec_bench_training(data, &train, a->seconds, &speed, cli_hooks(), &err);
    parsrec_data_free(data);
    if (status != PARSREC_OK)
        return cli_report("bench", &err);
    cli_finish_line();
    print_speed(a, &speed);
    return cli_close_output("bench");
}

int cmd_bench(int argc, char **argv)
{
    bench_args a = {.seconds = 10, .basket = 3, .k = 10};
    cli_words words;
    int rc = cli_parse(&cli_bench, &a, &words, argc, argv);
    if (rc != CLI_CONTINUE)
        return rc;
    const char *path = words.count > 1 ? words.word[1] : NULL;
    if (strcmp(words.word[0], "train") == 0)
        return bench_train(&a, path);
    if (strcmp(words.word[0], "score") == 0)
        return bench_score(&(bench_score_args){path, a.basket, a.k, a.seconds, a.json});
    return cli_usage_error(&cli_bench, "there is no bench '%s'; there are: train, score",
                           words.word[0]);
}
