/* parsrec eval: what a model is worth on sessions it has not seen. */
#include <stdio.h>

#include "base/text.h"
#include "cli/commands.h"
#include "cli/output.h"
#include "cli/terminal.h"
#include "parsrec.h"

typedef struct eval_args {
    parsrec_eval_options eval;
    int split;
    const char *k;
    bool json;
} eval_args;

static const char *const splits[] = {"test", "valid", NULL};

static const cli_option options[] = {
    CLI_CHOICE(0, "split", eval_args, split, splits,
               "the last session of each user, or the one before"),
    CLI_COUNT(0, "negatives", eval_args, eval.negatives, 1, 1e9,
              "sampled items that a basket's own are ranked against"),
    CLI_TEXT(0, "k", "N,...", eval_args, k, "cutoffs to report"),
    CLI_COUNT(0, "place-k", eval_args, eval.place_k, 1, 1e9,
              "place the best remaining item next when it ranks among so many"),
    CLI_COUNT(0, "seed", eval_args, eval.seed, 0, 9223372036854775807.0,
              "of the sampled items, the same for every model"),
    CLI_THREADS(eval_args, eval.threads),
    CLI_FLAG(0, "json", eval_args, json, "print the result as JSON"),
    CLI_END,
};

const cli_command cli_eval = {
    .name = "eval",
    .summary = "evaluate a model on sessions it has not seen",
    .usage = "parsrec eval MODEL DATA [options]",
    .details =
        "The paper's protocol: at each step any item that remains in the basket is a right\n"
        "answer. A tie counts against the model. docs/evaluation.md explains the measures.\n",
    .options = options,
    .least_words = 2,
    .most_words = 2,
};

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

static void print_table(const eval_args *a, const parsrec_eval_report *r)
{
    cli_number baskets, steps;
    printf("%s sessions of %s users, %s steps, against %llu sampled items\n\n",
           a->split == 0 ? "last" : "second to last", cli_grouped(&baskets, r->baskets),
           cli_grouped(&steps, r->steps), (unsigned long long)a->eval.negatives);
    printf("%6s %10s %10s %12s %14s\n", "k", "HR", "NDCG", "Sess-Prec", "random HR");
    for (size_t i = 0; i < a->eval.k_count; i++)
        printf("%6llu %10.4f %10.4f %12.4f %14.4f\n", (unsigned long long)a->eval.k[i],
               r->hit_rate[i], r->ndcg[i], r->session_precision[i], r->random_hit_rate[i]);
    printf("\nprotocol remaining, fingerprint %s, %.1f s\n", r->fingerprint, r->seconds);
}

static json_t *measures(const eval_args *a, const parsrec_eval_report *r)
{
    json_t *object = json_object();
    char name[48];
    for (size_t i = 0; i < a->eval.k_count; i++) {
        unsigned long long k = (unsigned long long)a->eval.k[i];
        const struct {
            const char *name;
            double value;
        } all[] = {{"HR", r->hit_rate[i]},
                   {"NDCG", r->ndcg[i]},
                   {"Sess-Prec", r->session_precision[i]},
                   {"random-HR", r->random_hit_rate[i]}};
        for (size_t m = 0; m < sizeof all / sizeof *all; m++) {
            snprintf(name, sizeof name, "%s@%llu", all[m].name, k);
            json_object_set_new(object, name, json_real(all[m].value));
        }
    }
    return object;
}

static int print_json(const eval_args *a, const cli_words *words, const parsrec_eval_report *r)
{
    return cli_print_json(
        "eval", json_pack("{s:o, s:o, s:s, s:s, s:I, s:I, s:I, s:o, s:s, s:f}", "model",
                          cli_json_text(words->word[0]), "data", cli_json_text(words->word[1]),
                          "split", splits[a->split], "protocol", "remaining", "negatives",
                          (json_int_t)a->eval.negatives, "baskets", (json_int_t)r->baskets, "steps",
                          (json_int_t)r->steps, "metrics", measures(a, r), "fingerprint",
                          r->fingerprint, "seconds", r->seconds));
}

static parsrec_status run(const eval_args *a, const cli_words *words, parsrec_eval_report *report,
                          parsrec_error *err)
{
    parsrec_model *model = NULL;
    parsrec_data *data = NULL;
    parsrec_status status = parsrec_model_load(&model, words->word[0], err);
    if (status == PARSREC_OK)
        status = parsrec_data_load(&data, words->word[1], err);
    if (status == PARSREC_OK)
        status = parsrec_eval(model, data, &a->eval, report, cli_hooks(), err);
    parsrec_data_free(data);
    parsrec_model_free(model);
    return status;
}

int cmd_eval(int argc, char **argv)
{
    eval_args a = {.eval = parsrec_eval_default(), .k = "1,5,10"};
    cli_words words;
    int rc = cli_parse(&cli_eval, &a, &words, argc, argv);
    if (rc != CLI_CONTINUE)
        return rc;
    if (!read_cutoffs(&a.eval, a.k))
        return cli_usage_error(&cli_eval, "--k %s: expected up to %d numbers from 1, as in 1,5,10",
                               a.k, PARSREC_CUTOFFS_MOST);
    a.eval.split = a.split == 0 ? PARSREC_SPLIT_TEST : PARSREC_SPLIT_VALID;
    parsrec_error err = {0};
    parsrec_eval_report report;
    if (run(&a, &words, &report, &err) != PARSREC_OK)
        return cli_report("eval", &err);
    cli_finish_line();
    if (a.json)
        return print_json(&a, &words, &report);
    print_table(&a, &report);
    return cli_close_output("eval");
}
