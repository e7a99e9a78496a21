/* The CSV reader, the reference's text and the byte sources below them. */
#include "support/testing.h"

#include <fcntl.h>
#include <zlib.h>
#include <zstd.h>

#include "base/rng.h"
#include "import/csv_mask.h"
#include "import/rows.h"
#include "support/text_rows.h"

/* What a text gives, as one line: rows end in '/', fields are in <>, line numbers first; a bad row
 * is its sentence, the end is '.'. */
typedef struct outcome {
    char text[4096];
    size_t used;
} outcome;

__attribute__((format(printf, 2, 3))) static void say(outcome *o, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int n = vsnprintf(o->text + o->used, sizeof o->text - o->used, format, args);
    va_end(args);
    assert_true(n >= 0 && (size_t)n < sizeof o->text - o->used);
    o->used += (size_t)n;
}

static void say_rows(outcome *o, pr_rows *rows)
{
    for (;;) {
        pr_row row;
        bool end;
        parsrec_error err;
        parsrec_status status = rows->next(rows, &row, &end, &err);
        if (status != PARSREC_OK) {
            assert_int_equal(status, PARSREC_E_INPUT);
            say(o, "[%s]", err.message);
            continue;
        }
        if (end)
            break;
        say(o, "%d", (int)row.line);
        for (size_t i = 0; i < row.count; i++)
            say(o, "<%.*s>", (int)row.fields[i].size, row.fields[i].bytes);
        say(o, "/");
    }
    say(o, ".");
}

static void parse(outcome *o, const char *text, size_t size, size_t piece, size_t buffer,
                  char delimiter)
{
    pr_rows *rows;
    parsrec_error err;
    *o = (outcome){0};
    pr_csv_options options = {.delimiter = delimiter, .buffer = buffer};
    if (pr_csv_open(&rows, text_source(text, size, piece), &options, &err) != PARSREC_OK) {
        say(o, "![%s]", err.message);
        return;
    }
    say_rows(o, rows);
    pr_rows_free(rows);
}

static const struct {
    const char *text, *expected;
} cases[] = {
    {"a,b\n1,2\n", "2<1><2>/."},
    {"a,b\n1,2", "2<1><2>/."},
    {"a,b\r\n1,2\r\n", "2<1><2>/."},
    {"a,b\r\n1,2\r", "2<1><2>/."},
    {"\xEF\xBB\xBF\"a\",b\n1,2\n", "2<1><2>/."},
    {"a,b\n\n1,2\n\r\n\n3,4\n\n", "3<1><2>/6<3><4>/."},
    {"a,b\n,\n", "2<><>/."},
    {"a,b\n\"\",\"\"\n", "2<><>/."},
    {"a\n\"\"\n\nx\n", "2<>/4<x>/."},
    {"a,b\n\"x,y\",\"z\"\r\n", "2<x,y><z>/."},
    {"a,b\n\"say \"\"hi\"\"\",\"\"\"\"\n", "2<say \"hi\"><\">/."},
    {"a,b\n\"two\nlines\",1\n3,4\n", "2<two\nlines><1>/4<3><4>/."},
    {"a,b\n\"cr\r\nlf\",1\n3,4\n", "2<cr\r\nlf><1>/4<3><4>/."},
    {"a,b\n5\" pipe,x\"y\"\n", "2<5\" pipe><x\"y\">/."},
    {"a,b\n1,\"2\"", "2<1><2>/."},
    {"a,b\n1,\"2\"\r", "2<1><2>/."},
    {"a,b\nc\rd,2\n", "2<c\rd><2>/."},
    {"a,b\n1\n2,3\n", "[t.csv:2:1: 1 fields where the header has 2; is the line cut?]3<2><3>/."},
    {"a,b\n1,2,3\n4,5\n", "[t.csv:2:3: 3 fields where the header has 2; does a value hold the "
                          "delimiter without quotes?]3<4><5>/."},
    {"a,b\n\"1\"x,2\n3,4\n",
     "[t.csv:2:1: text follows the closing quote; write \"\" for a quote inside]3<3><4>/."},
    {"a,b\n\"1\"\rx,2\n3,4\n",
     "[t.csv:2:1: text follows the closing quote; write \"\" for a quote inside]3<3><4>/."},
    {"a,b\n1,\"open\n3,4\n",
     "[t.csv:2:2: a quote is left open to the end of the file; close it]3<3><4>/."},
    {"a,b\n1,\"x\"\"\"\"\n3,4\n",
     "[t.csv:2:2: a quote is left open to the end of the file; close it]3<3><4>/."},
    {"a,b\n\"x\n\"\"y\",\"open\n3,4\n5,6\n",
     "[t.csv:2:2: a quote is left open to the end of the file; close it]"
     "[t.csv:3:1: text follows the closing quote; write \"\" for a quote inside]4<3><4>/5<5><6>/."},
    {"a,b\n1,\xE9\n3,4\n", "[t.csv:2:2: byte 0xE9 is not UTF-8; for ISO 8859-1 or Windows-1252 add "
                           "--encoding latin1]3<3><4>/."},
    {"a,b\n1,\xC3\xA9\n", "2<1><\xC3\xA9>/."},
    {"\xEF\xBB\xBF", "![t.csv: is empty; the first line must name the columns]"},
    {"", "![t.csv: is empty; the first line must name the columns]"},
    {"\n\r\n", "![t.csv: is empty; the first line must name the columns]"},
    {" a ,\tb\n1,2\n", "2<1><2>/."},
    {"a,b\n", "."},
    {"a,b", "."},
    {"\xFF\xFEx",
     "![t.csv: is UTF-16 text, which import does not read; save it as UTF-8, then run parsrec "
     "import -o DATA t.csv]"},
};

static void every_text_reads_the_same_in_any_pieces(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        size_t size = strlen(cases[i].text);
        for (size_t buffer = 3; buffer <= 80; buffer++) {
            outcome o;
            parse(&o, cases[i].text, size, 1 + buffer % 3, buffer, ',');
            if (strcmp(o.text, cases[i].expected) != 0)
                fail_msg("case %zu, buffer %zu: '%s', expected '%s'", i, buffer, o.text,
                         cases[i].expected);
        }
    }
}

static void nul_bytes_are_refused(void **state)
{
    (void)state;
    outcome o;
    parse(&o, "a,b\n1,x\0y\n3,4\n", 14, 5, 0, 0);
    assert_string_equal(o.text, "[t.csv:2:2: a NUL byte; is this a text file?]3<3><4>/.");
}

/* Random texts of the characters that matter: whole and in pieces must agree, error for error. */
static void random_texts_read_the_same_in_any_pieces(void **state)
{
    (void)state;
    static const char alphabet[] = "ab,,\n\n\r\"\"\"\xC3\xA9";
    pr_rng rng = pr_rng_make(7, 1);
    for (uint32_t n = 0; n < 3000; n++) {
        pr_stream s = pr_stream_at(&rng, n, 0, 0);
        char text[64] = "a,b\n";
        size_t size = 4 + pr_stream_below(&s, 40);
        for (size_t i = 4; i < size; i++)
            text[i] = alphabet[pr_stream_below(&s, sizeof alphabet - 1)];
        outcome whole, pieces;
        parse(&whole, text, size, 64, 0, ',');
        parse(&pieces, text, size, 1, 4 + pr_stream_below(&s, 12), ',');
        assert_string_equal(pieces.text, whole.text);
    }
}

static void the_header_names_the_delimiter(void **state)
{
    (void)state;
    outcome o;
    parse(&o, "a\tb\n1,5\t2\n", 10, 64, 0, 0);
    assert_string_equal(o.text, "2<1,5><2>/.");
    parse(&o, "a;b\n1,5;2\n", 10, 64, 0, 0);
    assert_string_equal(o.text, "2<1,5><2>/.");
    parse(&o, "a;x,b\n1,2\n", 10, 64, 0, 0);
    assert_string_equal(o.text, "2<1><2>/.");
}

/* A row of exactly the limit is read, one byte more is not, whatever the buffer. */
static void rows_have_a_longest_size(void **state)
{
    (void)state;
    for (size_t more = 0; more < 2; more++) {
        size_t row = PR_CSV_LONGEST_ROW + more, size = 2 + row + 2;
        char *text = malloc(size);
        assert_non_null(text);
        memset(text, 'x', size);
        memcpy(text, "a\n", 2);
        text[2 + row - 1] = '\n';
        memcpy(text + 2 + row, "y\n", 2);
        for (size_t buffer = 16; buffer <= 1 << 21; buffer *= 128) {
            pr_rows *rows;
            pr_row r;
            bool end;
            parsrec_error err;
            pr_csv_options options = {.delimiter = ',', .buffer = buffer};
            assert_ok(pr_csv_open(&rows, text_source(text, size, size), &options, &err));
            if (more == 0) {
                assert_ok(rows->next(rows, &r, &end, &err));
                assert_int_equal(r.fields[0].size, row - 1);
            } else {
                assert_fails(rows->next(rows, &r, &end, &err), PARSREC_E_INPUT,
                             "t.csv:2: the row is longer than 1 MiB; is a quote left open?");
            }
            assert_ok(rows->next(rows, &r, &end, &err));
            assert_int_equal(r.line, 3);
            assert_memory_equal(r.fields[0].bytes, "y", 1);
            pr_rows_free(rows);
        }
        free(text);
    }
}

static void the_fast_mask_is_the_plain_one(void **state)
{
    (void)state;
    pr_rng rng = pr_rng_make(3, 2);
    for (uint32_t n = 0; n < 2000; n++) {
        char text[PR_CSV_BLOCK];
        for (uint32_t i = 0; i < PR_CSV_BLOCK; i++) {
            uint32_t bits = pr_rng_at(&rng, n, i, 0, 0).word[0];
            text[i] = bits % 4 == 0 ? ",\n\";"[bits / 4 % 4] : (char)(bits >> 8);
        }
        assert_true(pr_csv_mask(text, ',') == pr_csv_mask_plain(text, ','));
        assert_true(pr_csv_mask(text, ';') == pr_csv_mask_plain(text, ';'));
    }
}

static void reference_lines_become_rows(void **state)
{
    (void)state;
    static const char text[] = "user_id,time,session_length,session_items\n"
                               "u,0,2,x,y\nu,1,1,x,y\nv,0,0\nv,0,1,\nv,2,one,x\nv,3,1,\"z,z\"\n";
    pr_csv_options options = {.delimiter = ','};
    pr_rows *csv, *rows;
    parsrec_error err;
    assert_ok(pr_csv_open(&csv, text_source(text, sizeof text - 1, 7), &options, &err));
    assert_true(pr_reference_header(csv));
    assert_ok(pr_reference_open(&rows, csv, &err));
    outcome o = {0};
    say_rows(&o, rows);
    assert_string_equal(o.text,
                        "2<u><0><0><x>/2<u><0><0><y>/"
                        "[t.csv:3:3: session_length is 1 but 2 items follow; is the line cut?]"
                        "[t.csv:4:3: 3 fields where at least 4 belong; is the line cut?]"
                        "[t.csv:5:4: the item is empty; name it]"
                        "[t.csv:6:3: session_length 'one' is not a whole number]"
                        "7<v><3><3><z,z>/.");
    pr_rows_free(rows);
}

static void columns_are_found_by_name(void **state)
{
    (void)state;
    parsrec_error err;
    pr_rows *rows;
    size_t column;
    static const char text[] = "user,item,item\n";
    pr_csv_options options = {.delimiter = ','};
    assert_ok(pr_csv_open(&rows, text_source(text, sizeof text - 1, 99), &options, &err));
    assert_ok(pr_rows_need(rows, "user", "", &column, &err));
    assert_int_equal(column, 0);
    assert_fails(pr_rows_need(rows, "item", "", &column, &err), PARSREC_E_INPUT,
                 "two columns are called 'item'");
    assert_fails(pr_rows_need(rows, "time", "do this", &column, &err), PARSREC_E_NOT_FOUND,
                 "no column 'time', only user, item, item; do this");
    pr_rows_free(rows);
}

/* ---- byte sources ---- */

enum { PLENTY = 700000 };

/* Reads all of a source into a block of PLENTY bytes; returns how many came. */
static size_t drain(pr_bytes *bytes, char *out, parsrec_status expected)
{
    parsrec_error err;
    size_t got = 0;
    parsrec_status status = pr_bytes_fill(bytes, out, PLENTY, &got, &err);
    assert_int_equal(status, expected);
    pr_bytes_free(bytes);
    return got;
}

static char *make_text(void)
{
    char *text = malloc(PLENTY);
    assert_non_null(text);
    for (size_t i = 0; i < PLENTY; i++)
        text[i] = (char)('a' + i * i / 7 % 26);
    return text;
}

static size_t gzip_text(const char *text, size_t size, char *out, size_t room)
{
    z_stream z = {0};
    assert_int_equal(deflateInit2(&z, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
    z.next_in = (unsigned char *)(uintptr_t)text;
    z.avail_in = (unsigned)size;
    z.next_out = (unsigned char *)out;
    z.avail_out = (unsigned)room;
    assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
    deflateEnd(&z);
    return room - z.avail_out;
}

/* Two members, in pieces of every kind, through the thread that reads ahead and without it; cut at
 * any place, the data fail or (between members) end. */
static void gzip_members_are_joined(void **state)
{
    (void)state;
    parsrec_error err;
    char *text = make_text(), *packed = malloc(PLENTY * 2), *out = malloc(PLENTY);
    size_t first = gzip_text(text, 300000, packed, PLENTY);
    size_t all = first + gzip_text(text + 300000, PLENTY - 300000, packed + first, PLENTY);
    for (size_t piece = 1; piece < 1 << 20; piece = piece * 7 + 3) {
        pr_bytes *b;
        assert_ok(pr_bytes_gzip(&b, text_source(packed, all, piece), &err));
        if (piece % 2 == 0)
            assert_ok(pr_bytes_ahead(&b, b, &err));
        assert_int_equal(drain(b, out, PARSREC_OK), PLENTY);
        assert_memory_equal(out, text, PLENTY);
    }
    for (size_t cut = 2; cut < all; cut += all / 37) {
        pr_bytes *b;
        assert_ok(pr_bytes_gzip(&b, text_source(packed, cut, 1000), &err));
        assert_ok(pr_bytes_ahead(&b, b, &err));
        drain(b, out, PARSREC_E_FORMAT);
    }
    pr_bytes *b;
    assert_ok(pr_bytes_gzip(&b, text_source(packed, first, 1000), &err));
    assert_int_equal(drain(b, out, PARSREC_OK), 300000);
    free(text);
    free(packed);
    free(out);
}

static void zstd_frames_are_joined(void **state)
{
    (void)state;
    parsrec_error err;
    size_t room = ZSTD_compressBound(PLENTY);
    char *text = make_text(), *packed = malloc(room * 2), *out = malloc(PLENTY);
    size_t first = ZSTD_compress(packed, room, text, 300000, 3);
    size_t all = first + ZSTD_compress(packed + first, room, text + 300000, PLENTY - 300000, 3);
    for (size_t piece = 1; piece < 1 << 20; piece = piece * 7 + 3) {
        pr_bytes *b;
        assert_ok(pr_bytes_zstd(&b, text_source(packed, all, piece), &err));
        assert_int_equal(drain(b, out, PARSREC_OK), PLENTY);
        assert_memory_equal(out, text, PLENTY);
    }
    for (size_t cut = 5; cut < all; cut += all / 37) {
        pr_bytes *b;
        if (cut == first)
            continue;
        assert_ok(pr_bytes_zstd(&b, text_source(packed, cut, 1000), &err));
        drain(b, out, PARSREC_E_FORMAT);
    }
    free(text);
    free(packed);
    free(out);
}

/* One who gives up while the thread still has much to read. */
static void reading_ahead_can_be_given_up(void **state)
{
    (void)state;
    parsrec_error err;
    char *text = make_text(), some[10];
    for (int i = 0; i < 20; i++) {
        pr_bytes *b;
        size_t got;
        assert_ok(pr_bytes_ahead(&b, text_source(text, PLENTY, 1000), &err));
        if (i % 2 == 0)
            assert_ok(pr_bytes_fill(b, some, sizeof some, &got, &err));
        pr_bytes_free(b);
    }
    free(text);
}

static void latin1_becomes_utf8(void **state)
{
    (void)state;
    parsrec_error err;
    pr_bytes *b;
    char *out = malloc(PLENTY);
    assert_ok(pr_bytes_latin1(&b, text_source("a\xE9\x80\x99\xFF\x81z", 7, 2), &err));
    size_t got = drain(b, out, PARSREC_OK);
    static const char expected[] = "a\xC3\xA9\xE2\x82\xAC\xE2\x84\xA2\xC3\xBF\xC2\x81z";
    assert_int_equal(got, sizeof expected - 1);
    assert_memory_equal(out, expected, got);
    free(out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_text_reads_the_same_in_any_pieces),
        cmocka_unit_test(nul_bytes_are_refused),
        cmocka_unit_test(random_texts_read_the_same_in_any_pieces),
        cmocka_unit_test(the_header_names_the_delimiter),
        cmocka_unit_test(rows_have_a_longest_size),
        cmocka_unit_test(the_fast_mask_is_the_plain_one),
        cmocka_unit_test(reference_lines_become_rows),
        cmocka_unit_test(columns_are_found_by_name),
        cmocka_unit_test(gzip_members_are_joined),
        cmocka_unit_test(zstd_frames_are_joined),
        cmocka_unit_test(reading_ahead_can_be_given_up),
        cmocka_unit_test(latin1_becomes_utf8),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
