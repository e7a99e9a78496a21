/* What one recommendation takes, of a model that is given or of one that is made for it: its speed does
 * not depend on what it has learnt. */
#include "cli/bench_score.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/output.h"
#include "cli/terminal.h"
#include "parsrec.h"

/* Synthetic data with the paper's catalogue, and a pass over it with the paper's settings. */
static parsrec_status train_in(const char *folder, parsrec_model **model, parsrec_error *err)
{
    char data_path[64], model_path[64], file[96];
    static const char *const endings[] = {"", ".log", ".png", ".svg"};
    parsrec_data *data = NULL;
    parsrec_train_report report;
    parsrec_synth_options synth = parsrec_synth_default();
    parsrec_train_options train = parsrec_train_default();
    snprintf(data_path, sizeof data_path, "%s/data", folder);
    snprintf(model_path, sizeof model_path, "%s/model", folder);
    synth.users = 100;
    train.preset = "paper";
    train.epochs = 1;
    parsrec_status status = parsrec_synth(data_path, &synth, NULL, cli_hooks(), err);
    if (status == PARSREC_OK)
        status = parsrec_data_load(&data, data_path, err);
    if (status == PARSREC_OK)
        status = parsrec_train(data, model_path, &train, &report, cli_hooks(), err);
    if (status == PARSREC_OK)
        status = parsrec_model_load(model, model_path, err);
    parsrec_data_free(data);
    unlink(data_path);
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        snprintf(file, sizeof file, "%s%s", model_path, endings[i]);
        unlink(file);
    }
    return status;
}

static parsrec_status make_model(parsrec_model **model, parsrec_error *err)
{
    char folder[] = "/tmp/parsrec-bench-XXXXXX";
    if (mkdtemp(folder) == NULL) {
        snprintf(err->message, sizeof err->message, "no temporary folder can be made in /tmp");
        return PARSREC_E_IO;
    }
    parsrec_status status = train_in(folder, model, err);
    rmdir(folder);
    return status;
}

static void print_speed(const bench_score_args *a, const parsrec_model *model,
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

int cli_bench_score(const bench_score_args *a)
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
    print_speed(a, model, &speed);
    parsrec_model_free(model);
    return cli_close_output("bench");
}
