/* parsrec eval: what a model is worth on sessions it has not seen. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "cli/commands.h"
#include "cli/output.h"
#include "cli/terminal.h"
#include "parsrec.h"

typedef struct eval_args {
    parsrec_eval_options eval;
    int split, protocol;
    const char *k;
    bool full, json;
} eval_args;

static const char *const splits[] = {"test", "valid", NULL};
static const char *const protocols[] = {"remaining", "next", NULL};

static const cli_option options[] = {
    CLI_CHOICE(0, "split", eval_args, split, splits,
               "the last session of each user, or the one before"),
    CLI_CHOICE(0, "protocol", eval_args, protocol, protocols,
               "any remaining item counts, or one fixed target at a time"),
    CLI_COUNT(0, "negatives", eval_args, eval.negatives, 1, 1e9,
              "sampled items that a basket's own are ranked against"),
    CLI_FLAG(0, "full", eval_args, full, "rank against the whole catalogue instead"),
    CLI_FLAG(0, "exclude-seen", eval_args, eval.exclude_seen,
             "items that the user had before leave the ranking"),
    CLI_COUNT(0, "last", eval_args, eval.last, 0, 1e6,
              "sessions of each user in the test; 0 for as many as training left out"),
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
        "A tie counts against the model. docs/evaluation.md explains protocols and measures.\n",
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
    cli_number baskets, steps;
    printf("%s sessions, %s of them with %s steps, against ",
           a->split == 0 ? "last" : "second to last", cli_grouped(&baskets, r->baskets),
           cli_grouped(&steps, r->steps));
    if (a->full)
        puts("the whole catalogue\n");
    else
        printf("%llu sampled items\n\n", (unsigned long long)a->eval.negatives);
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
    printf("%-14s %10s %10s %10s %10s\n", "", "all", "repeat", "new", "random");
    for (size_t i = 0; i < r->measure_count; i++) {
        const parsrec_measure *m = &r->measures[i];
        char name[48];
        printf("%-14s", measure_name(m, name, sizeof name));
        print_number(m->value);
        print_number(m->repeat);
        print_number(m->fresh);
        print_number(m->random);
        putchar('\n');
    }
    printf("\nprotocol %s, fingerprint %s, %.1f s\n", protocols[a->protocol], r->fingerprint,
           r->seconds);
}

static json_t *number(double value)
{
    return isnan(value) ? json_null() : json_real(value);
}

/* One column of the measures as an object. */
static json_t *measures(const parsrec_eval_report *r, size_t column)
{
    json_t *object = json_object();
    for (size_t i = 0; i < r->measure_count; i++) {
        const parsrec_measure *m = &r->measures[i];
        char name[48];
        double value;
        memcpy(&value, (const char *)m + column, sizeof value);
        json_object_set_new(object, measure_name(m, name, sizeof name), number(value));
    }
    return object;
}

static json_t *part(const parsrec_eval_report *r, uint64_t steps, size_t column, size_t random)
{
    return json_pack("{s:I, s:o, s:o}", "steps", (json_int_t)steps, "metrics", measures(r, column),
                     "random", measures(r, random));
}

static int print_json(const eval_args *a, const cli_words *words, const parsrec_eval_report *r)
{
    return cli_print_json(
        "eval",
        json_pack("{s:o, s:o, s:s, s:s, s:I, s:b, s:I, s:I, s:o, s:o, s:o, s:o, s:s, s:f}", "model",
                  cli_json_text(words->word[0]), "data", cli_json_text(words->word[1]), "split",
                  splits[a->split], "protocol", protocols[a->protocol], "negatives",
                  (json_int_t)a->eval.negatives, "full", (int)a->full, "baskets",
                  (json_int_t)r->baskets, "steps", (json_int_t)r->steps, "metrics",
                  measures(r, offsetof(parsrec_measure, value)), "random",
                  measures(r, offsetof(parsrec_measure, random)), "repeat",
                  part(r, r->repeat_steps, offsetof(parsrec_measure, repeat),
                       offsetof(parsrec_measure, repeat_random)),
                  "new",
                  part(r, r->fresh_steps, offsetof(parsrec_measure, fresh),
                       offsetof(parsrec_measure, fresh_random)),
                  "fingerprint", r->fingerprint, "seconds", r->seconds));
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
    if (a.full)
        a.eval.negatives = 0;
    a.eval.protocol = (parsrec_protocol)a.protocol;
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
