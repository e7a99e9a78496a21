/* parsrec size: what a shop of a given size will take on this machine. Generated shops of the same shape are
 * imported, trained on and asked, each step in a process of its own, so that the system tells its peak memory.
 *
 * A large shop is not generated whole, but a part of it and half of that part, and two points give the line. The
 * parts must be like the whole: how many families and links a model has depends on the actions per item, and
 * which loss it learns by on the number of items. So of a catalogue that is too large to be scored as a whole,
 * users, items and actions are all generated in proportion. A smaller one is generated whole, with a part of its users
 * and actions, because the cost of a step depends on it.
 *
 * Memory has parts that do not grow along a line: an evaluation scores fewer users at once where there are more
 * items, and tables for answers are left out where they would be large. The library computes them from the sizes
 * (parsrec_memory_needed). So training takes what is computed for the whole, times what the part took of what is
 * computed for the part; and serving follows the line without its tables. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/files.h"
#include "base/memory.h"
#include "base/rng.h"
#include "base/text.h"
#include "cli/commands.h"
#include "cli/shared.h"
#include "cli/terminal.h"
#include "parsrec.h"

enum { WHOLE_MOST = 24576 }; /* items of a catalogue that `loss = auto` scores as a whole */

typedef struct size_args {
    uint64_t users, items, actions, dim, most, max_memory;
    double basket;
    unsigned threads;
    bool undated, json;
} size_args;

static const cli_option options[] = {
    CLI_COUNT(0, "users", size_args, users, 1, 1e9, "customers of the shop"),
    CLI_COUNT(0, "items", size_args, items, 2, 1e8, "items of its catalogue"),
    CLI_COUNT(0, "actions", size_args, actions, 1, 1e12, "items bought, over all baskets"),
    CLI_REAL(0, "basket", size_args, basket, 1, 1000, "items of a basket, on average"),
    CLI_COUNT(0, "dim", size_args, dim, 0, 4096,
              "dim.user and dim.item of the model (default: those of train)"),
    CLI_COUNT(0, "sample", size_args, most, 1000, 1e9,
              "actions to generate at most, unless the catalogue needs more"),
    CLI_FLAG(0, "undated", size_args, undated, "sessions have an order, but no dates"),
    CLI_BYTES(0, "max-memory", size_args, max_memory,
              "say what train --max-memory SIZE makes of the shop"),
    CLI_THREADS(size_args, threads),
    CLI_FLAG(0, "json", size_args, json, "print the figures as JSON"),
    CLI_END,
};

const cli_command cli_size = {
    .name = "size",
    .summary = "memory, disk and time that a shop of some size will take",
    .usage = "parsrec size --users N --items N --actions N [options]",
    .details =
        "Generates shops of this shape, imports them, trains an epoch with the default settings\n"
        "and asks for answers, and says what the whole shop will take on this machine. A shop "
        "with\n"
        "more actions than --sample is generated in part, and half of that part; the figures "
        "follow\n"
        "the line through both, and what is computed from the sizes where they do not. Up to "
        "24,576 items all of them are there, with 20 actions each "
        "or\n"
        "more; of larger catalogues at least 50,000 items are, with as many actions each as in "
        "all.\n"
        "Memory is the peak of a process, files that it reads included. docs/scale.md.\n",
    .examples = "  parsrec size --users 4000 --items 2000 --actions 100000\n"
                "  parsrec size --users 2000 --items 500 --actions 40000 --dim 32 --json\n",
    .options = options,
    .least_words = 0,
    .most_words = 0,
};

/* ---- what is measured ---- */

enum {
    IMPORT_MEMORY,
    IMPORT_SECONDS,
    DATA_DISK,
    TRAIN_MEMORY,
    TRAIN_LEAST,
    EPOCH_SECONDS,
    ITEMS_PER_SECOND,
    CHECKPOINT_DISK,
    MODEL_DISK,
    SERVE_MEMORY,
    ANSWER_MICROSECONDS,
    FIGURES,
    /* Computed, of the shop that is generated and of the whole one. */
    OWN_TRAIN = FIGURES,
    OWN_TABLES,
    WHOLE_TRAIN,
    WHOLE_TABLES,
    SERVE_HELD, /* by the server in the end; its peak may be that of checking a small file */
    ALL_FIGURES
};

/* How a figure follows from those of parts of the shop; SEARCH is a line where parts have fewer items. */
enum { LINE, SHARE, SAME, SEARCH, COMPUTED };
static const struct {
    const char *name;
    int rule;
} figures[FIGURES] = {
    {"import_memory", LINE},    {"import_seconds", SHARE},        {"data_disk", LINE},
    {"train_memory", COMPUTED}, {"train_memory_least", COMPUTED}, {"epoch_seconds", SHARE},
    {"items_per_second", SAME}, {"checkpoint_disk", LINE},        {"model_disk", LINE},
    {"serve_memory", COMPUTED}, {"answer_microseconds", SEARCH},
};

/* A figure of a part of the shop. */
typedef struct point {
    double share, figure;
} point;

/* At the whole, along the line through a part and a smaller one. A line that would fall is level: then the fixed
 * part is all there is. */
static double along(point small, point large)
{
    double rise = large.figure - small.figure;
    return rise > 0 ? large.figure + rise / (large.share - small.share) * (1 - large.share)
                    : large.figure;
}

/* Of the whole, from a part `share` of it and from half of that part. */
static void conclude(double *whole, const double *part, const double *half, double share,
                     bool drawn)
{
    for (size_t i = 0; i < FIGURES; i++) {
        int rule = figures[i].rule == SEARCH ? drawn ? LINE : SAME : figures[i].rule;
        whole[i] = rule == LINE    ? along((point){share / 2, half[i]}, (point){share, part[i]})
                   : rule == SHARE ? part[i] / share
                                   : part[i];
    }
    whole[TRAIN_MEMORY] = part[WHOLE_TRAIN] * part[TRAIN_MEMORY] / part[OWN_TRAIN];
    whole[SERVE_MEMORY] =
        part[WHOLE_TABLES] + along((point){share / 2, half[SERVE_HELD] - half[OWN_TABLES]},
                                   (point){share, part[SERVE_HELD] - part[OWN_TABLES]});
}

/* ---- a generated shop ---- */

typedef struct shop {
    uint64_t users, items, actions;
    pr_path folder;
} shop;

static const char *file_of(pr_path *hold, const shop *s, const char *name)
{
    snprintf(hold->text, sizeof hold->text, "%.4095s/%.100s", s->folder.text, name);
    return hold->text;
}

/* Few items sell often, most seldom. */
static uint64_t popular(pr_stream *stream, uint64_t items)
{
    double u = pr_stream_unit(stream);
    uint64_t item = (uint64_t)((double)items * u * u * u * u);
    return item < items ? item : items - 1;
}

enum { RELATED = 50, GROUPS = 5, FAVOURITES = 10 };

/* One of the groups of related items that a user knows; `which` is below GROUPS. */
static uint64_t group_of(const pr_rng *rng, uint64_t user, uint64_t which, uint64_t groups)
{
    pr_stream own = pr_stream_at(rng, (uint32_t)user, (uint32_t)(user >> 32), 1 + (uint32_t)which);
    return popular(&own, groups);
}

/* Half of what a user buys is among ten favourites, most of the rest in the group that the basket is about. */
static uint64_t choose(const pr_rng *rng, pr_stream *draws, uint64_t user, uint64_t about,
                       uint64_t items)
{
    uint64_t groups = (items + RELATED - 1) / RELATED, which = about,
             within = popular(draws, RELATED);
    if (pr_stream_unit(draws) < 0.5) {
        uint64_t favourite = pr_stream_below(draws, FAVOURITES);
        pr_stream own = pr_stream_at(rng, (uint32_t)user, (uint32_t)(user >> 32),
                                     1 + GROUPS + (uint32_t)favourite);
        which = favourite % GROUPS;
        within = popular(&own, RELATED);
    } else if (pr_stream_unit(draws) < 0.3) {
        which = pr_stream_below(draws, GROUPS);
    }
    uint64_t item = group_of(rng, user, which, groups) * RELATED + within;
    return item < items ? item : items - 1;
}

/* Baskets of nearly the same size. Now and then an item comes that nobody has had, so that all are there in the end. Items that are
 * bought together by chance alone would take more memory to count than those of a real shop. */
static parsrec_status write_rows(const shop *s, const size_args *a, const char *path,
                                 parsrec_error *err)
{
    enum { DAY = 86400 };
    pr_rng rng = pr_rng_make(1, s->items);
    FILE *file = fopen(path, "w");
    if (file == NULL)
        return pr_fail_errno(err, PARSREC_E_IO, "%s: cannot write", path);
    fputs("user,session,time,item\n", file);
    uint64_t done = 0, shown = 0, about = 0;
    for (uint64_t u = 0; u < s->users; u++) {
        pr_stream draws = pr_stream_at(&rng, (uint32_t)u, (uint32_t)(u >> 32), 0);
        uint64_t end = (uint64_t)((double)(u + 1) * ((double)s->actions / (double)s->users));
        uint64_t session = 0;
        for (uint64_t k = 0; done < end; k++, done++) {
            uint64_t now = (uint64_t)((double)k / a->basket);
            if (k == 0 || now > session)
                about = pr_stream_below(&draws, GROUPS);
            session = now;
            uint64_t item = choose(&rng, &draws, u, about, s->items);
            if ((double)shown * (double)s->actions <= (double)done * (double)s->items &&
                shown < s->items)
                item = shown++;
            uint64_t time = a->undated ? session : 1500000000 + session * 7 * DAY;
            fprintf(file, "u%llu,%llu,%llu,i%llu\n", (unsigned long long)u,
                    (unsigned long long)session, (unsigned long long)time,
                    (unsigned long long)item);
        }
    }
    int bad = ferror(file);
    if (fclose(file) != 0 || bad)
        return pr_fail_errno(err, PARSREC_E_IO, "%s: writing failed; make room or set TMPDIR",
                             path);
    return PARSREC_OK;
}

/* ---- the steps, each in its own process ---- */

typedef struct step {
    const shop *shop;
    const size_args *args;
    double *figures;
} step;

static parsrec_status do_import(const step *s, parsrec_error *err)
{
    pr_path rows, data;
    const char *input = file_of(&rows, s->shop, "rows.csv");
    parsrec_import_options o = parsrec_import_default();
    parsrec_import_report report;
    double began = pr_now();
    PR_TRY(parsrec_import(file_of(&data, s->shop, "data.st"), &input, 1, &o, &report, cli_hooks(),
                          err));
    s->figures[IMPORT_SECONDS] = pr_now() - began;
    return PARSREC_OK;
}

static void note_epoch(void *context, const parsrec_epoch *epoch)
{
    double *figures_of = context;
    figures_of[EPOCH_SECONDS] = epoch->seconds;
    figures_of[ITEMS_PER_SECOND] = epoch->items_per_s;
}

/* How an epoch is trained; `set` is room for settings. */
typedef struct settings {
    char user[32], item[32];
    const char *list[2];
} settings;

static parsrec_train_options options_of(const size_args *a, settings *set)
{
    parsrec_train_options o = parsrec_train_default();
    snprintf(set->user, sizeof set->user, "dim.user=%llu", (unsigned long long)a->dim);
    snprintf(set->item, sizeof set->item, "dim.item=%llu", (unsigned long long)a->dim);
    set->list[0] = set->user;
    set->list[1] = set->item;
    o.epochs = 1;
    o.keep_checkpoint = true;
    o.skip_baselines = true;
    o.threads = a->threads;
    if (a->dim > 0) {
        o.set = set->list;
        o.set_count = 2;
    }
    return o;
}

static parsrec_status do_compute(const step *s, parsrec_error *err)
{
    pr_path path;
    settings set;
    parsrec_train_options o = options_of(s->args, &set);
    const parsrec_shop_size shops[] = {{s->shop->users, s->shop->items, s->shop->actions},
                                       {s->args->users, s->args->items, s->args->actions}};
    parsrec_memory needed[2];
    parsrec_data *data = NULL;
    PR_TRY(parsrec_data_load(&data, file_of(&path, s->shop, "data.st"), err));
    parsrec_status status = parsrec_memory_needed(needed, shops, 2, data, &o, err);
    parsrec_data_free(data);
    if (status != PARSREC_OK)
        return status;
    s->figures[OWN_TRAIN] = needed[0].train;
    s->figures[OWN_TABLES] = needed[0].tables;
    s->figures[WHOLE_TRAIN] = needed[1].train;
    s->figures[TRAIN_LEAST] = needed[1].train_least;
    s->figures[WHOLE_TABLES] = needed[1].tables;
    return PARSREC_OK;
}

static parsrec_status do_train(const step *s, parsrec_error *err)
{
    pr_path data_path, model_path;
    settings set;
    parsrec_train_options o = options_of(s->args, &set);
    parsrec_hooks hooks = {.context = s->figures, .on_epoch = note_epoch};
    parsrec_data *data = NULL;
    PR_TRY(parsrec_data_load(&data, file_of(&data_path, s->shop, "data.st"), err));
    parsrec_status status =
        parsrec_train(data, file_of(&model_path, s->shop, "model.st"), &o, NULL, &hooks, err);
    parsrec_data_free(data);
    return status;
}

enum { BASKET = 3, K = 10 };

/* What a server holds that has answered one question. */
static parsrec_status do_serve(const step *s, parsrec_error *err)
{
    pr_path path;
    parsrec_file_report checked;
    parsrec_model *model = NULL;
    parsrec_live *live = NULL;
    parsrec_scratch *own = NULL;
    parsrec_hit hits[K];
    parsrec_answer answer;
    int32_t basket[BASKET] = {0, 1, 2};
    parsrec_request request = parsrec_request_default();
    PR_TRY(parsrec_file_check(file_of(&path, s->shop, "model.st"), &checked, err));
    PR_TRY(parsrec_model_load(&model, path.text, err));
    size_t items = parsrec_model_size(model, PARSREC_ITEM);
    parsrec_status status = parsrec_live_new(&live, model, err);
    if (status == PARSREC_OK)
        status = parsrec_scratch_new(&own, model, 0, err);
    request.user = 0;
    request.k = K;
    request.live = live;
    request.basket = (parsrec_numbers){basket, items < BASKET ? items : BASKET};
    if (status == PARSREC_OK)
        status = parsrec_recommend(model, own, &request, hits, K, &answer, err);
    s->figures[SERVE_HELD] = (double)pr_memory_resident();
    parsrec_scratch_free(own);
    parsrec_live_free(live);
    parsrec_model_free(model);
    return status;
}

static parsrec_status do_ask(const step *s, parsrec_error *err)
{
    static const double seconds = 1;
    pr_path path;
    parsrec_model *model = NULL;
    parsrec_score_speed speed;
    PR_TRY(parsrec_model_load(&model, file_of(&path, s->shop, "model.st"), err));
    parsrec_status status =
        parsrec_bench_score(model, BASKET, K, seconds, &speed, cli_hooks(), err);
    s->figures[ANSWER_MICROSECONDS] = status == PARSREC_OK ? speed.median : 0;
    parsrec_model_free(model);
    return status;
}

typedef struct outcome {
    parsrec_error err;
    double figures[ALL_FIGURES];
} outcome;

/* Runs a step in another process: its figures, and its peak of memory as `memory` unless that is ALL_FIGURES. */
static parsrec_status apart(parsrec_status (*run)(const step *, parsrec_error *), step *s,
                            size_t memory, parsrec_error *err)
{
    int ends[2];
    outcome o = {0};
    if (pipe(ends) != 0)
        return pr_fail_errno(err, PARSREC_E_IO, "cannot make a pipe");
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        step own = {s->shop, s->args, o.figures};
        memcpy(o.figures, s->figures, sizeof o.figures);
        o.err.status = run(&own, &o.err);
        bool sent = write(ends[1], &o, sizeof o) == (ssize_t)sizeof o;
        _exit(sent ? 0 : 1);
    }
    close(ends[1]);
    size_t got = 0;
    for (ssize_t n = 1; child > 0 && n > 0 && got<sizeof o; got += n> 0 ? (size_t)n : 0)
        while ((n = read(ends[0], (char *)&o + got, sizeof o - got)) < 0 && errno == EINTR)
            ;
    close(ends[0]);
    struct rusage usage = {0};
    int how = 0;
    if (child < 0)
        return pr_fail_errno(err, PARSREC_E_MEMORY, "cannot start another process");
    while (wait4(child, &how, 0, &usage) < 0 && errno == EINTR)
        ;
    if (got < sizeof o)
        return pr_fail(err, PARSREC_E_MEMORY,
                       "the process that measured was ended (signal %d), perhaps for want of "
                       "memory; try a smaller --sample",
                       WIFSIGNALED(how) ? WTERMSIG(how) : 0);
    if (o.err.status != PARSREC_OK) {
        *err = o.err;
        return o.err.status;
    }
    memcpy(s->figures, o.figures, sizeof o.figures);
    if (memory < ALL_FIGURES)
        s->figures[memory] = (double)usage.ru_maxrss * 1024;
    return PARSREC_OK;
}

static double disk(const shop *s, const char *name)
{
    pr_path path;
    struct stat st;
    return stat(file_of(&path, s, name), &st) == 0 ? (double)st.st_size : 0;
}

static void clean(const shop *s)
{
    static const char *const names[] = {"rows.csv",      "data.st",      "model.st",
                                        "model.st.ckpt", "model.st.log", "model.st.png",
                                        "model.st.svg"};
    pr_path path;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        unlink(file_of(&path, s, names[i]));
    rmdir(s->folder.text);
}

static parsrec_status measure_import(shop *s, const size_args *a, double *result,
                                     parsrec_error *err)
{
    pr_path rows;
    step own = {s, a, result};
    cli_stage("generating %llu actions", (unsigned long long)s->actions);
    PR_TRY(write_rows(s, a, file_of(&rows, s, "rows.csv"), err));
    cli_stage("importing them");
    PR_TRY(apart(do_import, &own, IMPORT_MEMORY, err));
    unlink(rows.text);
    result[DATA_DISK] = disk(s, "data.st");
    return PARSREC_OK;
}

static parsrec_status measure_all(shop *s, const size_args *a, double *result, parsrec_error *err)
{
    step own = {s, a, result};
    PR_TRY(measure_import(s, a, result, err));
    PR_TRY(apart(do_compute, &own, ALL_FIGURES, err));
    cli_stage("training an epoch");
    PR_TRY(apart(do_train, &own, TRAIN_MEMORY, err));
    cli_stage("asking for answers");
    PR_TRY(apart(do_serve, &own, SERVE_MEMORY, err));
    PR_TRY(apart(do_ask, &own, ALL_FIGURES, err));
    result[MODEL_DISK] = disk(s, "model.st");
    result[CHECKPOINT_DISK] = disk(s, "model.st.ckpt");
    return PARSREC_OK;
}

/* Catalogues of more items have a loss against drawn items, and the best are searched for. */
static bool is_drawn(const size_args *a)
{
    return a->items > WHOLE_MOST;
}

/* Of a shop with this share of the users and actions, and of the items of a large catalogue. */
static parsrec_status measure(const size_args *a, double share, bool all, double *result,
                              parsrec_error *err)
{
    shop s = {.users = (uint64_t)(share * (double)a->users + 0.5),
              .items = is_drawn(a) ? (uint64_t)(share * (double)a->items + 0.5) : a->items,
              .actions = (uint64_t)(share * (double)a->actions + 0.5)};
    s.users = s.users > 0 ? s.users : 1;
    memset(result, 0, ALL_FIGURES * sizeof *result);
    PR_TRY(cli_temporary_folder(&s.folder, err));
    parsrec_status status = (all ? measure_all : measure_import)(&s, a, result, err);
    clean(&s);
    return status;
}

/* An import is quick, so that a larger part is measured: its tables grow in steps, and between parts that differ
 * much a step counts less. */
static parsrec_status conclude_import(double *whole, const size_args *a, double share,
                                      const double *half, parsrec_error *err)
{
    enum { LARGER = 4 };
    double part[ALL_FIGURES], large = LARGER * share < 1 ? LARGER * share : 1;
    PR_TRY(measure(a, large, false, part, err));
    whole[IMPORT_SECONDS] = part[IMPORT_SECONDS] / large;
    whole[IMPORT_MEMORY] =
        along((point){share / 2, half[IMPORT_MEMORY]}, (point){large, part[IMPORT_MEMORY]});
    whole[DATA_DISK] = along((point){share / 2, half[DATA_DISK]}, (point){large, part[DATA_DISK]});
    return PARSREC_OK;
}

/* ---- the report ---- */

typedef struct amount {
    char text[32];
} amount;

static const char *bytes_text(amount *hold, double bytes)
{
    static const char *const units[] = {"KB", "MB", "GB", "TB"};
    size_t u = 0;
    double value = bytes / 1024;
    for (; value >= 1000 && u < 3; u++)
        value /= 1024;
    snprintf(hold->text, sizeof hold->text, "%.*f %s", value < 10 ? 1 : 0, value, units[u]);
    return hold->text;
}

static const char *seconds_text(amount *hold, double s)
{
    if (s < 120)
        snprintf(hold->text, sizeof hold->text, "%.*f s", s < 10 ? 1 : 0, s);
    else if (s < 7200)
        snprintf(hold->text, sizeof hold->text, "%.0f min", s / 60);
    else
        snprintf(hold->text, sizeof hold->text, "%.1f h", s / 3600);
    return hold->text;
}

/* What train --max-memory would say of the whole shop. */
static void print_limited(const size_args *a, const double *f)
{
    amount limit, least;
    bytes_text(&limit, (double)a->max_memory);
    bytes_text(&least, f[TRAIN_LEAST]);
    if ((double)a->max_memory < f[TRAIN_LEAST])
        printf("train --max-memory %s: too little, at least %s\n", limit.text, least.text);
    else if ((double)a->max_memory < f[TRAIN_MEMORY])
        printf("train --max-memory %s: keeps below it with temporary files; possible from %s on\n",
               limit.text, least.text);
    else
        printf("train --max-memory %s: everything fits\n", limit.text);
}

static int print_text(const size_args *a, const double *f, double share)
{
    pr_digits users, items, actions;
    amount memory, size, other, time;
    printf("%s users, %s items, %s actions\n", pr_digits_of(&users, a->users),
           pr_digits_of(&items, a->items), pr_digits_of(&actions, a->actions));
    if (share < 1)
        printf("from %.2g %% and %.2g %% of the users and actions, generated with %s items\n\n",
               100 * share, 50 * share, is_drawn(a) ? "as many of the" : "all");
    else
        printf("from a generated shop of this size\n\n");
    printf("step    memory    disk      time\n");
    printf("import  %-8s  %-8s  %s\n", bytes_text(&memory, f[IMPORT_MEMORY]),
           bytes_text(&size, f[DATA_DISK]), seconds_text(&time, f[IMPORT_SECONDS]));
    printf("train   %-8s  %-8s  %s per epoch, %.0f items per second; checkpoints take %s more\n",
           bytes_text(&memory, f[TRAIN_MEMORY]), bytes_text(&size, f[MODEL_DISK]),
           seconds_text(&time, f[EPOCH_SECONDS]), f[ITEMS_PER_SECOND],
           bytes_text(&other, f[CHECKPOINT_DISK]));
    printf("serve   %-8s  %-8s  %.0f us per answer: %.0f answers per second and thread\n",
           bytes_text(&memory, f[SERVE_MEMORY]), "", f[ANSWER_MICROSECONDS],
           1e6 / f[ANSWER_MICROSECONDS]);
    if (a->max_memory > 0)
        print_limited(a, f);
    return cli_close_output("size");
}

static int print_json(const size_args *a, const double *f, double share)
{
    json_t *json =
        json_pack("{s:I, s:I, s:I, s:f}", "users", (json_int_t)a->users, "items",
                  (json_int_t)a->items, "actions", (json_int_t)a->actions, "share", share);
    for (size_t i = 0; i < FIGURES; i++)
        json_object_set_new(json, figures[i].name, json_real(f[i]));
    return cli_print_json("size", json);
}

/* The share to generate: all, or as many actions as --sample, unless the catalogue needs more. */
static double share_of(const size_args *a)
{
    enum { ACTIONS_EACH = 20 };
    double share = (double)a->most / (double)a->actions;
    double least = is_drawn(a) ? 2 * (WHOLE_MOST + 424.0) / (double)a->items
                               : ACTIONS_EACH * (double)a->items / (double)a->actions;
    share = share > least ? share : least;
    return share < 1 ? share : 1;
}

int cmd_size(int argc, char **argv)
{
    size_args a = {.most = 200000, .basket = 6};
    cli_words words;
    int rc = cli_parse(&cli_size, &a, &words, argc, argv);
    if (rc != CLI_CONTINUE)
        return rc;
    if (a.users == 0 || a.items == 0 || a.actions == 0)
        return cli_usage_error(&cli_size, "--users, --items and --actions are all needed");
    if (a.actions < a.items || a.actions / 6 < a.users)
        return cli_usage_error(&cli_size,
                               "there are fewer actions than items, or fewer than 6 for each "
                               "user: such a shop cannot be trained on");
    parsrec_error err = {0};
    double part[ALL_FIGURES], half[ALL_FIGURES], whole[FIGURES], share = share_of(&a);
    parsrec_status status = measure(&a, share, true, part, &err);
    memcpy(whole, part, sizeof whole);
    if (status == PARSREC_OK && share < 1) {
        status = measure(&a, share / 2, true, half, &err);
        if (status == PARSREC_OK) {
            conclude(whole, part, half, share, is_drawn(&a));
            status = conclude_import(whole, &a, share, half, &err);
        }
    }
    cli_finish_line();
    if (status != PARSREC_OK)
        return cli_report("size", &err);
    return a.json ? print_json(&a, whole, share) : print_text(&a, whole, share);
}
