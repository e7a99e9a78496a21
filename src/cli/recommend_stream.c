/* A stream of requests. Output is flushed whenever the program is about to wait for input: so a
 * person or program that asks one thing at a time gets each answer at once, and a pipe full of
 * requests is answered in large pieces. */
#include "cli/recommend_stream.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/json.h"
#include "base/memory.h"
#include "base/text.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/terminal.h"

enum { LONGEST_LINE = 1 << 20, READ_BYTES = 1 << 16 };

typedef struct stream {
    char *bytes; /* LONGEST_LINE + READ_BYTES */
    size_t begin, end;
    bool skipping; /* the rest of a line that was too long */
    bool at_end;
    uint64_t line, failed;
    const parsrec_model *model;
    parsrec_scratch *own;
    size_t default_k;
} stream;

static void print_error(stream *s, const parsrec_error *err)
{
    s->failed++;
    json_t *json =
        json_pack("{s:{s:s, s:o, s:I}}", "error", "code", parsrec_status_name(err->status),
                  "message", cli_json_text(err->message), "line", (json_int_t)s->line);
    char *text = json != NULL ? json_dumps(json, JSON_COMPACT) : NULL;
    puts(text != NULL ? text : "{\"error\":{\"code\":\"E_MEMORY\",\"message\":\"out of memory\"}}");
    free(text);
    json_decref(json);
}

static parsrec_status ask(stream *s, pr_slice line, const char **text, parsrec_error *err)
{
    if (line.size <= LONGEST_LINE)
        return parsrec_recommend_json(s->model, s->own, line.bytes, line.size, s->default_k, text,
                                      err);
    err->status = PARSREC_E_LIMIT;
    snprintf(err->message, sizeof err->message,
             "a request of more than %d bytes; send shorter ones", LONGEST_LINE);
    return err->status;
}

static void answer(stream *s, pr_slice line)
{
    parsrec_error err = {0};
    const char *text;
    s->line++;
    if (line.size > 0 && line.bytes[line.size - 1] == '\r')
        line.size--;
    if (pr_slice_trim(line).size == 0)
        return;
    if (ask(s, line, &text, &err) == PARSREC_OK)
        puts(text);
    else
        print_error(s, &err);
}

/* Answers all lines that are there; what begins another one stays. */
static void answer_lines(stream *s)
{
    char *newline;
    while ((newline = memchr(s->bytes + s->begin, '\n', s->end - s->begin)) != NULL) {
        size_t next = (size_t)(newline - s->bytes) + 1;
        if (!s->skipping)
            answer(s, (pr_slice){s->bytes + s->begin, next - 1 - s->begin});
        s->skipping = false;
        s->begin = next;
    }
    if (s->end - s->begin > LONGEST_LINE && !s->skipping) {
        answer(s, (pr_slice){s->bytes + s->begin, s->end - s->begin});
        s->skipping = true;
    }
    if (s->skipping)
        s->begin = s->end;
    memmove(s->bytes, s->bytes + s->begin, s->end - s->begin);
    s->end -= s->begin;
    s->begin = 0;
}

/* False when nobody listens or reading fails. */
static bool read_more(stream *s)
{
    if (cli_close_output("recommend") != CLI_OK)
        return false;
    ssize_t n;
    do
        n = read(STDIN_FILENO, s->bytes + s->end, READ_BYTES);
    while (n < 0 && errno == EINTR);
    if (n < 0)
        fprintf(stderr, "parsrec recommend: standard input: reading failed: %s\n", strerror(errno));
    s->end += n > 0 ? (size_t)n : 0;
    s->at_end = n == 0;
    return n >= 0;
}

static bool answer_all(stream *s)
{
    while (!s->at_end) {
        if (!read_more(s))
            return false;
        answer_lines(s);
    }
    if (s->end > 0) /* the last line may lack its newline */
        answer(s, (pr_slice){s->bytes, s->end});
    return cli_close_output("recommend") == CLI_OK;
}

int cli_recommend_stream(const parsrec_model *model, parsrec_scratch *own, size_t default_k)
{
    stream s = {.model = model, .own = own, .default_k = default_k};
    s.bytes = pr_alloc(LONGEST_LINE + READ_BYTES, 1);
    if (s.bytes == NULL) {
        fprintf(stderr, "parsrec recommend: out of memory\n");
        return CLI_FAILED;
    }
    bool done = answer_all(&s);
    pr_free(s.bytes);
    cli_number failed, lines;
    if (s.failed > 0)
        fprintf(stderr,
                "parsrec recommend: %s of %s lines failed; each has an answer with \"error\"\n",
                cli_grouped(&failed, s.failed), cli_grouped(&lines, s.line));
    return done && s.failed == 0 ? CLI_OK : CLI_FAILED;
}
