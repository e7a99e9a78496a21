/* parsrec doctor: what this machine has and what parsrec uses of it. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/cairo.h"
#include "base/duckdb.h"
#include "base/memory.h"
#include "base/pq.h"
#include "cli/commands.h"
#include "cli/terminal.h"
#include "serve/serve.h"

typedef struct doctor_args {
    const char *store, *store_path, *server;
    bool json;
} doctor_args;

static const cli_option options[] = {
    CLI_ADDRESS("store", "STORE", doctor_args, store,
                "also look at this store of a server: sqlite:FILE or postgresql://..."),
    CLI_STORE_FILE(doctor_args, store_path),
    CLI_TEXT(0, "server", "HOST:PORT", doctor_args, server,
             "only ask whether this server is ready: a health check"),
    CLI_FLAG(0, "json", doctor_args, json, "print the report as JSON"),
    CLI_END,
};

const cli_command cli_doctor = {
    .name = "doctor",
    .summary = "show what parsrec finds on this machine",
    .usage = "parsrec doctor [options]",
    .details =
        "Versions, vector units of the processor, memory, the library of matrix products and its\n"
        "kernels, and the optional libraries: what each is for, and how to get one that is\n"
        "missing. Exit status 1 if a store or --server is given and does not answer. Nothing is\n"
        "changed.\n",
    .examples = "  parsrec doctor\n"
                "  parsrec doctor --store sqlite:shop.model.events --json\n",
    .options = options,
    .least_words = 0,
    .most_words = 0,
};

/* ---- what there is ---- */

typedef struct optional {
    const char *name, *use;
    pr_library *library;
    char version[64];
    parsrec_error missing; /* status PARSREC_OK: it is there */
} optional;

enum { OPTIONALS = 3 };

typedef struct findings {
    char processor[128];
    long cores;
    double memory, available; /* GB */
    parsrec_machine machine;
    optional libraries[OPTIONALS];
    const char *store;
    serve_store_look look;
    parsrec_error store_error;
} findings;

/* The model name of the first processor, as Linux knows it. */
static void read_processor(char *name, size_t room)
{
    char line[256];
    FILE *file = fopen("/proc/cpuinfo", "r");
    snprintf(name, room, "unknown");
    while (file != NULL && fgets(line, sizeof line, file) != NULL) {
        char *value = strstr(line, ": ");
        if (strncmp(line, "model name", strlen("model name")) != 0 || value == NULL)
            continue;
        snprintf(name, room, "%.*s", (int)strcspn(value + 2, "\n"), value + 2);
        break;
    }
    if (file != NULL)
        fclose(file);
}

static void load_libraries(optional libraries[OPTIONALS])
{
    static const optional all[OPTIONALS] = {
        {.name = "cairo", .use = "picture files", .library = &pr_cairo_library},
        {.name = "libpq", .use = "PostgreSQL", .library = &pr_pq_library},
        {.name = "libduckdb", .use = "Parquet, SQL over files", .library = &pr_duckdb_library}};
    memcpy(libraries, all, sizeof all);
    for (size_t i = 0; i < OPTIONALS; i++)
        libraries[i].missing.status = pr_library_load(all[i].library, &libraries[i].missing);
    if (libraries[0].missing.status == PARSREC_OK)
        snprintf(libraries[0].version, sizeof libraries[0].version, "%s",
                 pr_cairo.version_string());
    if (libraries[1].missing.status == PARSREC_OK)
        snprintf(libraries[1].version, sizeof libraries[1].version, "%d.%d",
                 pr_pq.libVersion() / 10000, pr_pq.libVersion() % 10000);
    if (libraries[2].missing.status == PARSREC_OK)
        snprintf(libraries[2].version, sizeof libraries[2].version, "%s",
                 pr_duckdb.library_version());
}

static void find(findings *f, const char *store)
{
    const double giga = 1e9;
    *f = (findings){.cores = sysconf(_SC_NPROCESSORS_ONLN), .store = store};
    read_processor(f->processor, sizeof f->processor);
    f->memory = (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE) / giga;
    f->available = (double)pr_memory_available() / giga;
    f->machine = parsrec_machine_of();
    load_libraries(f->libraries);
    if (store != NULL)
        f->store_error.status = serve_look_at_store(store, &f->look, &f->store_error);
}

/* ---- showing it ---- */

static void print_text(const findings *f)
{
    const parsrec_machine *m = &f->machine;
    printf("parsrec      %s\n", parsrec_version());
    printf("processor    %s, %ld cores\n", f->processor, f->cores);
    printf("vector units %s; own loops use %s\n", m->features[0] != '\0' ? m->features : "unknown",
           m->level);
    printf("memory       %.1f GB, %.1f GB available\n", f->memory, f->available);
    if (m->blas == NULL)
        printf("BLAS         none: training is slow; install one (Debian: apt install "
               "libopenblas0-pthread) or name its file in PARSREC_BLAS\n");
    else
        printf("BLAS         %s, kernels %s\n", m->blas,
               m->blas_kernels != NULL ? m->blas_kernels : "unknown");
    for (size_t i = 0; i < OPTIONALS; i++) {
        const optional *o = &f->libraries[i];
        if (o->missing.status == PARSREC_OK)
            printf("%-12s %s, for %s\n", o->name, o->version, o->use);
        else
            printf("%-12s none: %s\n", o->name, o->missing.message);
    }
    printf("server       %s\n", serve_http_version());
    if (f->store != NULL && f->store_error.status == PARSREC_OK) {
        pr_digits events;
        if (f->look.made)
            printf("store        %s, %s events\n", f->look.version,
                   pr_digits_of(&events, f->look.events));
        else
            printf("store        %s, not used by a server yet\n", f->look.version);
    }
}

static json_t *library_json(const optional *o)
{
    if (o->missing.status != PARSREC_OK)
        return json_pack("{s:s, s:b, s:s, s:o}", "name", o->name, "found", 0, "for", o->use,
                         "message", pr_json_string(o->missing.message));
    return json_pack("{s:s, s:b, s:s, s:s, s:o}", "name", o->name, "found", 1, "for", o->use,
                     "version", o->version, "file",
                     pr_json_string(o->library->file != NULL ? o->library->file : ""));
}

static int print_json(const findings *f)
{
    const parsrec_machine *m = &f->machine;
    json_t *libraries = json_array();
    for (size_t i = 0; i < OPTIONALS; i++)
        json_array_append_new(libraries, library_json(&f->libraries[i]));
    json_t *all = json_pack(
        "{s:s, s:{s:o, s:I, s:s, s:s}, s:{s:f, s:f}, s:{s:b, s:s*, s:s*}, s:o, s:s}", "version",
        parsrec_version(), "processor", "name", pr_json_string(f->processor), "cores",
        (json_int_t)f->cores, "features", m->features, "level", m->level, "memory", "gb", f->memory,
        "available_gb", f->available, "blas", "found", m->blas != NULL, "file", m->blas, "kernels",
        m->blas_kernels, "libraries", libraries, "server", serve_http_version());
    if (f->store != NULL)
        json_object_set_new(all, "store",
                            f->store_error.status == PARSREC_OK
                                ? json_pack("{s:b, s:s, s:b, s:I}", "reachable", 1, "database",
                                            f->look.version, "used", (int)f->look.made, "events",
                                            (json_int_t)f->look.events)
                                : json_pack("{s:b, s:o}", "reachable", 0, "message",
                                            pr_json_string(f->store_error.message)));
    return cli_print_json("doctor", all);
}

int cmd_doctor(int argc, char **argv)
{
    doctor_args a = {0};
    cli_words words;
    findings f;
    int rc = cli_parse(&cli_doctor, &a, &words, argc, argv);
    if (rc != CLI_CONTINUE)
        return rc;
    if (a.server != NULL) {
        parsrec_error err = {0};
        if (serve_ask_ready(a.server, &err) != PARSREC_OK)
            return cli_report("doctor", &err);
        printf("%s is ready\n", a.server);
        return cli_close_output("doctor");
    }
    char *read = NULL;
    if (a.store != NULL && a.store_path != NULL)
        return cli_usage_error(&cli_doctor, "--store and --store-file exclude each other");
    if (a.store_path != NULL) {
        parsrec_error err = {0};
        if (serve_read_store_file(&read, a.store_path, &err) != PARSREC_OK)
            return cli_report("doctor", &err);
        a.store = read;
    }
    find(&f, a.store);
    if (a.json)
        rc = print_json(&f);
    else
        print_text(&f);
    pr_free(read);
    if (f.store_error.status != PARSREC_OK) {
        fflush(stdout);
        return cli_report("doctor", &f.store_error);
    }
    return a.json ? rc : cli_close_output("doctor");
}
