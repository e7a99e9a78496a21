/* The option parser and --help. */
#include "cli/options.h"

#include <assert.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/text.h"
#include "cli/passwords.h"

int cli_usage_error(const cli_command *command, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fprintf(stderr, "parsrec %s: ", command->name);
    vfprintf(stderr, format, args);
    fprintf(stderr, "; see parsrec %s --help\n", command->name);
    va_end(args);
    return CLI_USAGE;
}

static void *field_of(const cli_option *option, void *fields)
{
    return (char *)fields + option->offset;
}

/* ---- help ---- */

/* "15s", "2m", "1h": the largest unit that divides it. */
static void print_duration(int64_t seconds)
{
    static const struct {
        int64_t seconds;
        char letter;
    } units[] = {{86400, 'd'}, {3600, 'h'}, {60, 'm'}, {1, 's'}};
    size_t u = 0;
    while (seconds % units[u].seconds != 0)
        u++;
    printf(" [%lld%c]", (long long)(seconds / units[u].seconds), units[u].letter);
}

/* A default that is not a plain value is part of the help text: "(default: one per core)". */
static void print_default(const cli_option *o, void *fields)
{
    void *field = field_of(o, fields);
    if (strstr(o->help, "(default") != NULL)
        return;
    switch (o->kind) {
    case CLI_KIND_TEXT:
    case CLI_KIND_ADDRESS: {
        const char *text = *(const char **)field;
        if (text != NULL)
            printf(" [%s]", text);
        break;
    }
    case CLI_KIND_COUNT: /* a number below the range means none */
        if ((double)*(uint64_t *)field >= o->low)
            printf(" [%llu]", (unsigned long long)*(uint64_t *)field);
        break;
    case CLI_KIND_THREADS:
        printf(" [%u]", *(unsigned *)field);
        break;
    case CLI_KIND_REAL:
        printf(" [%g]", *(double *)field);
        break;
    case CLI_KIND_CHOICE:
        printf(" [%s]", o->choices[*(int *)field]);
        break;
    case CLI_KIND_DURATION:
        if (*(int64_t *)field > 0)
            print_duration(*(int64_t *)field);
        break;
    case CLI_KIND_BYTES: /* 0: what the help says */
    case CLI_KIND_OPTIONAL:
    case CLI_KIND_FLAG:
    case CLI_KIND_LIST:
    case CLI_KIND_END:
        break;
    }
}

static void print_option(const cli_option *o, void *fields)
{
    char left[160];
    int n = o->letter != 0 ? snprintf(left, sizeof left, "  -%c, --%s", o->letter, o->name)
                           : snprintf(left, sizeof left, "      --%s", o->name);
    size_t used = (size_t)n;
    if (o->argument != NULL)
        used += (size_t)snprintf(left + used, sizeof left - used, " %s", o->argument);
    if (o->kind == CLI_KIND_OPTIONAL)
        used += (size_t)snprintf(left + used, sizeof left - used, "[=N]");
    for (size_t i = 0; o->kind == CLI_KIND_CHOICE && o->choices[i] != NULL; i++)
        used += (size_t)snprintf(left + used, sizeof left - used, "%s%s", i > 0 ? "|" : " ",
                                 o->choices[i]);
    if (used > 28)
        printf("%s\n%30s", left, "");
    else
        printf("%-30s", left);
    printf("%s", o->help);
    print_default(o, fields);
    putchar('\n');
}

/* ---- the man page ---- */

static bool as_manual;

void cli_help_as_manual(void)
{
    as_manual = true;
}

void cli_print_roff(const char *text)
{
    bool verbatim = false;
    for (const char *at = text; *at != '\0';) {
        bool indented = *at == ' ';
        if (indented != verbatim)
            puts(indented ? ".nf" : ".fi");
        verbatim = indented;
        if (*at == '.' || *at == '\'')
            fputs("\\&", stdout);
        for (; *at != '\0' && *at != '\n'; at++)
            if (*at == '-')
                fputs("\\-", stdout);
            else if (*at == '\\')
                fputs("\\e", stdout);
            else
                putchar(*at);
        if (*at == '\n') {
            putchar('\n');
            at++;
        }
    }
    if (verbatim)
        puts(".fi");
}

/* A section: usage, options, details, examples. */
static void print_manual(const cli_command *command, void *fields)
{
    printf(".SS %s\n", command->name);
    cli_print_roff(command->summary);
    printf("\n.PP\n.B ");
    cli_print_roff(command->usage);
    putchar('\n');
    for (const cli_option *o = command->options; o->kind != CLI_KIND_END; o++) {
        printf(".TP\n.B ");
        if (o->letter != 0)
            printf("\\-%c, ", o->letter);
        fputs("\\-\\-", stdout);
        cli_print_roff(o->name);
        if (o->argument != NULL) {
            fputs(" \\fI", stdout);
            cli_print_roff(o->argument);
            fputs("\\fR", stdout);
        }
        if (o->kind == CLI_KIND_OPTIONAL)
            fputs("[=\\fIN\\fR]", stdout);
        for (size_t i = 0; o->kind == CLI_KIND_CHOICE && o->choices[i] != NULL; i++) {
            putchar(i > 0 ? '|' : ' ');
            cli_print_roff(o->choices[i]);
        }
        putchar('\n');
        cli_print_roff(o->help);
        print_default(o, fields);
        putchar('\n');
    }
    if (command->details != NULL) {
        puts(".PP");
        cli_print_roff(command->details);
    }
    puts(".PP\nExamples:");
    cli_print_roff(command->examples);
}

static void print_help(const cli_command *command, void *fields)
{
    if (as_manual) {
        print_manual(command, fields);
        return;
    }
    printf("%s\n\nusage: %s\n\n", command->summary, command->usage);
    for (const cli_option *o = command->options; o->kind != CLI_KIND_END; o++)
        print_option(o, fields);
    printf("  -h, --help                  show this text\n");
    if (command->details != NULL)
        printf("\n%s", command->details);
    printf("\nexamples:\n%s", command->examples);
}

/* ---- parsing ---- */

static int bad_value(const cli_command *command, const cli_option *o, const char *value,
                     const char *expected)
{
    return cli_usage_error(command, "--%s %s: expected %s", o->name, value, expected);
}

static int set_number(const cli_command *command, const cli_option *o, void *fields,
                      const char *value)
{
    char expected[96];
    pr_slice text = pr_slice_of(value);
    uint64_t whole;
    double real;
    if (o->kind == CLI_KIND_REAL) {
        snprintf(expected, sizeof expected, "a number from %g to %g", o->low, o->high);
        if (!pr_parse_f64(text, &real) || real < o->low || real > o->high)
            return bad_value(command, o, value, expected);
        *(double *)field_of(o, fields) = real;
        return CLI_CONTINUE;
    }
    snprintf(expected, sizeof expected, "a whole number from %.0f to %.0f", o->low, o->high);
    if (!pr_parse_u64(text, &whole) || (double)whole < o->low || (double)whole > o->high)
        return bad_value(command, o, value, expected);
    if (o->kind == CLI_KIND_THREADS)
        *(unsigned *)field_of(o, fields) = (unsigned)whole;
    else
        *(uint64_t *)field_of(o, fields) = whole;
    return CLI_CONTINUE;
}

static int set_choice(const cli_command *command, const cli_option *o, void *fields,
                      const char *value)
{
    char expected[320] = "one of";
    pr_suggest near;
    pr_suggest_start(&near, pr_slice_of(value));
    for (int i = 0; o->choices[i] != NULL; i++) {
        pr_suggest_offer(&near, pr_slice_of(o->choices[i]));
        if (strcmp(o->choices[i], value) == 0) {
            *(int *)field_of(o, fields) = i;
            return CLI_CONTINUE;
        }
        size_t used = strlen(expected);
        snprintf(expected + used, sizeof expected - used, "%s %s", i > 0 ? "," : "", o->choices[i]);
    }
    size_t used = strlen(expected);
    snprintf(expected + used, sizeof expected - used, "%s", pr_suggest_sentence(&near));
    return bad_value(command, o, value, expected);
}

static int set_value(const cli_command *command, const cli_option *o, void *fields,
                     const char *value)
{
    switch (o->kind) {
    case CLI_KIND_TEXT:
        *(const char **)field_of(o, fields) = value;
        return CLI_CONTINUE;
    case CLI_KIND_ADDRESS:
        *(const char **)field_of(o, fields) = cli_with_password(value);
        return CLI_CONTINUE;
    case CLI_KIND_DURATION:
        if (!pr_parse_duration(pr_slice_of(value), field_of(o, fields)) ||
            *(int64_t *)field_of(o, fields) <= 0)
            return bad_value(command, o, value, "a time such as 30m, 2h or 1d");
        return CLI_CONTINUE;
    case CLI_KIND_BYTES:
        if (!pr_parse_bytes(pr_slice_of(value), field_of(o, fields)))
            return bad_value(command, o, value, "a size such as 500M, 8G or 1T");
        return CLI_CONTINUE;
    case CLI_KIND_CHOICE:
        return set_choice(command, o, fields, value);
    case CLI_KIND_LIST: {
        cli_strings *list = field_of(o, fields);
        if (list->count == CLI_LIST_MOST)
            return cli_usage_error(command, "--%s can be given %d times", o->name, CLI_LIST_MOST);
        list->word[list->count++] = value;
        return CLI_CONTINUE;
    }
    default:
        return set_number(command, o, fields, value);
    }
}

static const cli_option *find_long(const cli_command *command, const char *name, size_t length)
{
    for (const cli_option *o = command->options; o->kind != CLI_KIND_END; o++)
        if (strlen(o->name) == length && memcmp(o->name, name, length) == 0)
            return o;
    return NULL;
}

static const cli_option *find_letter(const cli_command *command, char letter)
{
    for (const cli_option *o = command->options; o->kind != CLI_KIND_END; o++)
        if (o->letter == letter)
            return o;
    return NULL;
}

static int unknown_option(const cli_command *command, const char *text)
{
    char known[64];
    pr_suggest near;
    pr_suggest_start(&near, (pr_slice){text, strcspn(text, "=")});
    for (const cli_option *o = command->options; o->kind != CLI_KIND_END; o++) {
        snprintf(known, sizeof known, "--%s", o->name);
        pr_suggest_offer(&near, pr_slice_of(known));
    }
    return cli_usage_error(command, "unknown option %s%s", text, pr_suggest_sentence(&near));
}

/* One argument that begins with '-', and its value if that is the next one. */
static int parse_option(const cli_command *command, void *fields, int argc, char **argv, int *at)
{
    const char *text = argv[*at], *value = NULL;
    const cli_option *o;
    if (text[1] == '-') {
        const char *name = text + 2, *equals = strchr(name, '=');
        o = find_long(command, name, equals != NULL ? (size_t)(equals - name) : strlen(name));
        value = equals != NULL ? equals + 1 : NULL;
    } else {
        o = find_letter(command, text[1]);
        value = text[2] != '\0' ? text + 2 : NULL;
    }
    if (o == NULL)
        return unknown_option(command, text);
    if (o->kind == CLI_KIND_FLAG) {
        if (value != NULL)
            return cli_usage_error(command, "%s: --%s takes no value", text, o->name);
        *(bool *)field_of(o, fields) = true;
        return CLI_CONTINUE;
    }
    if (o->kind == CLI_KIND_OPTIONAL && value == NULL) {
        *(uint64_t *)field_of(o, fields) = 0;
        return CLI_CONTINUE;
    }
    if (value == NULL && *at + 1 < argc)
        value = argv[++*at];
    if (value == NULL)
        return cli_usage_error(command, "%s needs a value", text);
    return set_value(command, o, fields, value);
}

/* Finds mistakes in a table when its command first runs. */
static void check_table(const cli_command *command)
{
    assert(command->summary != NULL && command->usage != NULL && command->examples != NULL);
    assert(command->least_words <= command->most_words);
    for (const cli_option *o = command->options; o->kind != CLI_KIND_END; o++) {
        assert(o->help != NULL && o->low <= o->high);
        assert((o->kind == CLI_KIND_CHOICE) == (o->choices != NULL));
        assert((o->kind == CLI_KIND_FLAG || o->kind == CLI_KIND_OPTIONAL ||
                o->kind == CLI_KIND_CHOICE) == (o->argument == NULL));
    }
}

/* ---- outputs and inputs ---- */

static const char *const outputs[] = {"output", "csv", "dump-scores", "access-log"};

static bool is_output(const cli_option *o)
{
    for (size_t i = 0; i < sizeof outputs / sizeof *outputs; i++)
        if (strcmp(o->name, outputs[i]) == 0)
            return o->kind == CLI_KIND_TEXT;
    return false;
}

/* A file; folders do not take the place of one. */
static bool writes(const cli_option *o)
{
    return is_output(o) && strcmp(o->argument, "DIR") != 0;
}

/* Links and other spellings of a path included. Only files that exist can be lost. */
static bool same_file(const struct stat *output, const char *input)
{
    struct stat in;
    return input != NULL && stat(input, &in) == 0 && in.st_dev == output->st_dev &&
           in.st_ino == output->st_ino;
}

/* The word or value that names the same file as option `o`, or NULL. */
static const char *input_like(const cli_command *command, const void *fields,
                              const cli_words *words, const cli_option *o)
{
    struct stat output;
    const char *path = *(const char *const *)((const char *)fields + o->offset);
    if (path == NULL || stat(path, &output) != 0 || !S_ISREG(output.st_mode))
        return NULL;
    for (size_t i = 0; i < words->count; i++)
        if (same_file(&output, words->word[i]))
            return words->word[i];
    for (const cli_option *other = command->options; other->kind != CLI_KIND_END; other++) {
        const void *field = (const char *)fields + other->offset;
        if (other->kind == CLI_KIND_TEXT && !writes(other) &&
            same_file(&output, *(const char *const *)field))
            return *(const char *const *)field;
        for (size_t i = 0; other->kind == CLI_KIND_LIST && i < ((const cli_strings *)field)->count;
             i++)
            if (same_file(&output, ((const cli_strings *)field)->word[i]))
                return ((const cli_strings *)field)->word[i];
    }
    return NULL;
}

/* Writing would replace what is read: somebody's only copy, perhaps. */
static int check_outputs(const cli_command *command, const void *fields, const cli_words *words)
{
    for (const cli_option *o = command->options; o->kind != CLI_KIND_END; o++) {
        const char *const *path = (const char *const *)((const char *)fields + o->offset);
        if (is_output(o) && *path != NULL && (*path)[0] == '\0')
            return cli_usage_error(command, "--%s: the name is empty", o->name);
        const char *input =
            writes(o) && !command->in_place ? input_like(command, fields, words, o) : NULL;
        if (input != NULL)
            return cli_usage_error(
                command, "--%s would replace %s, which is read; name another file", o->name, input);
    }
    return CLI_CONTINUE;
}

int cli_parse(const cli_command *command, void *fields, cli_words *words, int argc, char **argv)
{
    assert(argc > 0 && words != NULL);
    size_t count = 0;
    bool only_words = false;
    check_table(command);
    for (int i = 1; i < argc; i++) {
        if (only_words || argv[i][0] != '-' || argv[i][1] == '\0') {
            argv[1 + count++] = argv[i];
        } else if (strcmp(argv[i], "--") == 0) {
            only_words = true;
        } else if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) {
            print_help(command, fields);
            return CLI_OK;
        } else {
            int rc = parse_option(command, fields, argc, argv, &i);
            if (rc != CLI_CONTINUE)
                return rc;
        }
    }
    *words = (cli_words){(const char *const *)argv + 1, count};
    if (count < command->least_words)
        return cli_usage_error(command, "an argument is missing: %s", command->usage);
    if (count > command->most_words)
        return cli_usage_error(command, "unexpected argument '%s'",
                               words->word[command->most_words]);
    for (size_t i = 1; command->addresses && i <= count; i++)
        argv[i] = cli_with_password(argv[i]);
    return check_outputs(command, fields, words);
}
