/* Rows in memory: every type of column gives the bytes that CSV gives, broken streams get a sentence,
 * streams are released whatever happens, and every allocation may fail. */
#include "support/testing.h"

#include "base/duckdb.h"
#include "base/memory.h"
#include "data/dataset.h"
#include "import/rows.h"

static char folder[] = "/tmp/parsrec-arrow-XXXXXX", csv_path[64], csv_out[64], arrow_out[64];

/* ---- a table of four columns in `batches` equal parts, built by hand ---- */

enum { COLUMNS = 5, MOST_BUFFERS = 5 };

typedef struct part {
    const char *format, *name;
    const void *buffers[MOST_BUFFERS];
    int64_t buffer_count, null_count, offset;
    const char *words_format; /* of a dictionary; NULL: none */
    const void *words[3];
    int64_t word_count;
} part;

typedef struct shop {
    part columns[COLUMNS];
    int64_t column_count, rows, batch_rows, given;
    int fail_next, fail_schema; /* errno */
    int open;                   /* schemas, arrays and streams that are not released */
    struct ArrowSchema schemas[COLUMNS], dictionaries[COLUMNS], *schema_list[COLUMNS];
    struct ArrowArray arrays[COLUMNS], words[COLUMNS], *array_list[COLUMNS];
} shop;

static void release_schema(struct ArrowSchema *s)
{
    ((shop *)s->private_data)->open--;
    s->release = NULL;
}

static void release_array(struct ArrowArray *a)
{
    ((shop *)a->private_data)->open--;
    a->release = NULL;
}

static void release_stream(struct ArrowArrayStream *s)
{
    ((shop *)s->private_data)->open--;
    s->release = NULL;
}

static int get_schema(struct ArrowArrayStream *stream, struct ArrowSchema *out)
{
    shop *t = stream->private_data;
    if (t->fail_schema != 0)
        return t->fail_schema;
    for (int64_t i = 0; i < t->column_count; i++) {
        const part *p = &t->columns[i];
        t->schemas[i] = (struct ArrowSchema){.format = p->format, .name = p->name};
        t->dictionaries[i] = (struct ArrowSchema){.format = p->words_format};
        if (p->words_format != NULL)
            t->schemas[i].dictionary = &t->dictionaries[i];
        t->schema_list[i] = &t->schemas[i];
    }
    *out = (struct ArrowSchema){.format = "+s",
                                .n_children = t->column_count,
                                .children = t->schema_list,
                                .release = release_schema,
                                .private_data = t};
    t->open++;
    return 0;
}

/* Batches are slices: by the offset of the struct for even ones, of the columns for odd ones. */
static int get_next(struct ArrowArrayStream *stream, struct ArrowArray *out)
{
    shop *t = stream->private_data;
    *out = (struct ArrowArray){0};
    if (t->fail_next != 0 && t->given > 0)
        return t->fail_next;
    if (t->given == t->rows)
        return 0;
    int64_t left = t->rows - t->given, count = left < t->batch_rows ? left : t->batch_rows;
    bool outer = t->given / t->batch_rows % 2 == 0;
    for (int64_t i = 0; i < t->column_count; i++) {
        part *p = &t->columns[i];
        t->arrays[i] = (struct ArrowArray){.length = outer ? t->given + count : count,
                                           .offset = p->offset + (outer ? 0 : t->given),
                                           .null_count = p->null_count,
                                           .n_buffers = p->buffer_count,
                                           .buffers = p->buffers};
        t->words[i] =
            (struct ArrowArray){.length = p->word_count, .n_buffers = 3, .buffers = p->words};
        if (p->words_format != NULL)
            t->arrays[i].dictionary = &t->words[i];
        t->array_list[i] = &t->arrays[i];
    }
    *out = (struct ArrowArray){.length = count,
                               .offset = outer ? t->given : 0,
                               .n_children = t->column_count,
                               .children = t->array_list,
                               .release = release_array,
                               .private_data = t};
    t->given += count;
    t->open++;
    return 0;
}

static const char *last_error(struct ArrowArrayStream *stream)
{
    (void)stream;
    return "the cable was pulled";
}

static struct ArrowArrayStream stream_of(shop *t)
{
    t->open++;
    t->given = 0;
    return (struct ArrowArrayStream){get_schema, get_next, last_error, release_stream, t};
}

/* ---- the same rows as text ---- */

static const char csv[] = "user,session,time,item,price\n"
                          "u1,1,2010-03-02T13:08:00,a,0.5\n"
                          "u1,1,2010-03-02T13:08:00,bread of a longer name,\n"
                          "u1,2,2010-03-03T00:00:01,a,2\n"
                          "u2,1,1969-12-31T23:59:59,\xC3\xA9,3\n"
                          "u2,-7,1970-01-02T00:00:00,a,1\n";
enum { ROWS = 5 };

static const int32_t user_offsets[] = {0, 2, 4, 6, 8, 10};
static const int64_t long_offsets[] = {0, 2, 4, 6, 8, 10};
static const int64_t sessions[] = {1, 1, 2, 1, -7};
static const int32_t small_sessions[] = {1, 1, 2, 1, -7};
static const int8_t tiny_sessions[] = {1, 1, 2, 1, -7};
static const double real_sessions[] = {1, 1, 2, 1, -7};
static const int64_t seconds[] = {1267535280, 1267535280, 1267574401, -1, 86400};
static int64_t thousandths[ROWS], billionths[ROWS];
static const int32_t item_offsets[] = {0, 1, 23, 24, 26, 27};
static const char item_text[] = "abread of a longer namea\xC3\xA9"
                                "a";
static const double prices[] = {.5, 9, 2, 3, 1};
static const uint8_t all_but_second = 0x1D;
static const uint8_t codes[] = {0, 1, 0, 2, 0};
static const int32_t word_offsets[] = {0, 1, 23, 25};
static const char word_text[] = "abread of a longer name\xC3\xA9";
static char views[ROWS][16];
static const int64_t view_sizes[] = {22};

static void make_tables(void)
{
    for (size_t i = 0; i < ROWS; i++) {
        thousandths[i] = seconds[i] * 1000 + 999; /* fractions are cut off */
        billionths[i] = seconds[i] * 1000000000 + 1;
        const char *text = item_text + item_offsets[i];
        int32_t size = item_offsets[i + 1] - item_offsets[i], zero = 0;
        memcpy(views[i], &size, 4);
        memcpy(views[i] + 4, text, size <= 12 ? (size_t)size : 4);
        if (size > 12)
            memcpy(views[i] + 12, &zero, 4); /* buffer 0 at offset 0 */
    }
}

static shop a_shop(void)
{
    return (shop){
        .columns =
            {{.format = "u",
              .name = "user",
              .buffers = {NULL, user_offsets, "u1u1u1u2u2"},
              .buffer_count = 3},
             {.format = "l", .name = "session", .buffers = {NULL, sessions}, .buffer_count = 2},
             {.format = "tss:UTC", .name = "time", .buffers = {NULL, seconds}, .buffer_count = 2},
             {.format = "u",
              .name = "item",
              .buffers = {NULL, item_offsets, item_text},
              .buffer_count = 3},
             {.format = "g",
              .name = "price",
              .buffers = {&all_but_second, prices},
              .buffer_count = 2,
              .null_count = 1}},
        .column_count = 5,
        .rows = ROWS,
        .batch_rows = 2};
}

static parsrec_status import_shop(shop *t, parsrec_import_report *report, parsrec_error *err)
{
    struct ArrowArrayStream actions = stream_of(t);
    parsrec_import_streams streams = {.actions = &actions, .name = "shop.csv"};
    parsrec_status status = parsrec_import_rows(arrow_out, &streams, NULL, report, NULL, err);
    assert_null(actions.release);
    assert_int_equal(t->open, 0);
    return status;
}

/* The files' bytes, all of them. */
static void assert_same_files(void)
{
    FILE *a = fopen(csv_out, "rb"), *b = fopen(arrow_out, "rb");
    assert_non_null(a);
    assert_non_null(b);
    int x, y;
    do {
        x = getc(a);
        y = getc(b);
        assert_int_equal(x, y);
    } while (x != EOF);
    fclose(a);
    fclose(b);
}

static void expect_as_csv(shop t)
{
    parsrec_error err = {0};
    for (t.batch_rows = 1; t.batch_rows <= ROWS; t.batch_rows++) {
        unlink(arrow_out);
        assert_ok(import_shop(&t, NULL, &err));
        assert_same_files();
    }
}

static void every_type_gives_the_bytes_of_the_csv(void **state)
{
    (void)state;
    shop t = a_shop();
    expect_as_csv(t);
    t.columns[0] = (part){.format = "U",
                          .name = "user",
                          .buffers = {NULL, long_offsets, "u1u1u1u2u2"},
                          .buffer_count = 3};
    t.columns[1] = (part){
        .format = "i", .name = "session", .buffers = {NULL, small_sessions}, .buffer_count = 2};
    t.columns[2] =
        (part){.format = "tsm:", .name = "time", .buffers = {NULL, thousandths}, .buffer_count = 2};
    t.columns[3] = (part){.format = "C",
                          .name = "item",
                          .buffers = {NULL, codes},
                          .buffer_count = 2,
                          .words_format = "u"};
    memcpy(t.columns[3].words, (const void *[]){NULL, word_offsets, word_text},
           sizeof t.columns[3].words);
    t.columns[3].word_count = 3;
    expect_as_csv(t);
    t.columns[1] = (part){
        .format = "c", .name = "session", .buffers = {NULL, tiny_sessions}, .buffer_count = 2};
    t.columns[2] = (part){.format = "tsn:Europe/Paris",
                          .name = "time",
                          .buffers = {NULL, billionths},
                          .buffer_count = 2};
    t.columns[3] = (part){.format = "vu",
                          .name = "item",
                          .buffers = {NULL, views, item_text + 1, view_sizes},
                          .buffer_count = 4};
    expect_as_csv(t);
    t.columns[1] = (part){
        .format = "g", .name = "session", .buffers = {NULL, real_sessions}, .buffer_count = 2};
    t.columns[4] = (part){.format = "+l",
                          .name = "unused",
                          .buffers = {NULL},
                          .buffer_count = 1}; /* of a type that is not read */
    expect_as_csv(t);
}

static void dates_and_nulls(void **state)
{
    (void)state;
    static const int32_t days[] = {14670, 14670, 14671, -1, 1};
    static const uint8_t valid = 0x1F;
    parsrec_error err = {0};
    pr_dataset *d;
    shop t = a_shop();
    t.columns[2] = (part){.format = "tdD",
                          .name = "time",
                          .buffers = {&valid, days},
                          .buffer_count = 2,
                          .null_count = -1};
    assert_ok(import_shop(&t, NULL, &err));
    assert_ok(pr_dataset_load(&d, arrow_out, &err));
    assert_int_equal(d->times[0], 14670 * 86400);
    assert_int_equal(d->times[2], -86400);
    pr_dataset_free(d);
    parsrec_import_report report;
    t.columns[3].buffers[0] = &all_but_second;
    t.columns[3].null_count = 1;
    assert_fails(import_shop(&t, &report, &err), PARSREC_E_INPUT,
                 "shop.csv: row 2, column 4: the item has no name");
}

/* Cells of DuckDB, with short texts inside and long ones elsewhere; and rows that say which of their fields
 * are those of the row above, whether by their bits or by their texts. */
static void repeated_fields_are_known(void **state)
{
    (void)state;
    enum { CELLS = 2500 }; /* more than are looked at in one go */
    static pr_duckdb_text users[CELLS], items[CELLS];
    static int16_t visits[CELLS];
    static int32_t times[CELLS], note_offsets[CELLS + 1];
    static uint8_t valid[CELLS / 8 + 1];
    static char long_names[2][32] = {"a user with a long name, once",
                                     "a user with a long name, once"};
    parsrec_error err = {0};
    memset(valid, 0xFF, sizeof valid);
    for (int i = 0; i < CELLS; i++) {
        bool outside = i % 20 >= 10; /* equal texts at two addresses */
        users[i] = (pr_duckdb_text){.inside = {.size = 3, .bytes = "ann"}};
        if (outside)
            users[i] = (pr_duckdb_text){.outside = {29, "a us", long_names[i % 2]}};
        items[i].inside.size =
            (uint32_t)snprintf(items[i].inside.bytes, sizeof items[i].inside.bytes, "%d", i);
        visits[i] = (int16_t)(i / 5);
        times[i] = i / 3;
        valid[i / 8] &= (uint8_t)(i % 100 == 50 ? ~(1 << i % 8) : 0xFF);
        note_offsets[i + 1] = 2 * (i + 1);
    }
    static char notes[2 * CELLS];
    memset(notes, 'n', sizeof notes);
    shop t = {.columns = {{PR_ARROW_CELLS, "user", {NULL, users}, 2, .null_count = 0},
                          {"s", "session", {NULL, visits}, 2, .null_count = 0},
                          {"i", "time", {valid, times}, 2, .null_count = -1},
                          {PR_ARROW_CELLS, "item", {NULL, items}, 2, .null_count = 0},
                          {"u", "note", {NULL, note_offsets, notes}, 3, .null_count = 0}},
              .column_count = 5,
              .rows = CELLS,
              .batch_rows = 2100};
    struct ArrowArrayStream stream = stream_of(&t);
    pr_rows *rows;
    assert_ok(pr_arrow_open(&rows, "cells", &stream, &err));
    for (size_t c = 0; c < 5; c++)
        assert_ok(rows->choose(rows, &c, 1, &err));
    char above[5][40] = {""};
    size_t known[5] = {0};
    for (int i = 0; i <= CELLS; i++) {
        pr_row row;
        bool end;
        assert_ok(rows->next(rows, &row, &end, &err));
        assert_int_equal(end, i == CELLS);
        for (size_t c = 0; c < 5 && !end; c++) {
            char text[40] = "";
            memcpy(text, row.fields[c].bytes, row.fields[c].size);
            bool same = (row.same & pr_row_bit(c)) != 0;
            assert_true(!same || strcmp(text, above[c]) == 0);
            known[c] += same;
            strcpy(above[c], text);
        }
    }
    assert_string_equal(above[3], "2499");
    assert_int_equal(known[0], CELLS - 250); /* a user changes every ten rows */
    assert_int_equal(known[1], CELLS - 500); /* a session every five */
    assert_int_equal(known[2], 0);           /* may be null, and is a number */
    assert_int_equal(known[3], 0);
    assert_int_equal(known[4], CELLS - 2); /* two batches */
    pr_rows_free(rows);
    stream.release(&stream);
    assert_int_equal(t.open, 0);
    /* A NUL inside a short text, behind plain ones. */
    items[30].inside.bytes[1] = '\0';
    assert_fails(import_shop(&t, NULL, &err), PARSREC_E_INPUT,
                 "row 31, column 4: a NUL byte; is this a text?");
}

static void tables_about_items_may_be_streams(void **state)
{
    (void)state;
    parsrec_error err = {0};
    pr_dataset *d;
    static const int32_t name_offsets[] = {0, 5, 10, 15};
    static const double weights[] = {1.25, 3, 0.1};
    shop actions = a_shop(),
         items = {.columns = {{.format = "u",
                               .name = "item",
                               .buffers = {NULL, word_offsets, word_text},
                               .buffer_count = 3},
                              {.format = "u",
                               .name = "name",
                               .buffers = {NULL, name_offsets, "AppleBreadGrass"},
                               .buffer_count = 3},
                              {.format = "g",
                               .name = "weight",
                               .buffers = {NULL, weights},
                               .buffer_count = 2}},
                  .column_count = 3,
                  .rows = 3,
                  .batch_rows = 2};
    struct ArrowArrayStream a = stream_of(&actions), b = stream_of(&items);
    parsrec_import_streams streams = {.actions = &a, .items = &b};
    assert_ok(parsrec_import_rows(arrow_out, &streams, NULL, NULL, NULL, &err));
    assert_int_equal(actions.open + items.open, 0);
    assert_ok(pr_dataset_load(&d, arrow_out, &err));
    assert_int_equal(pr_name(&d->item_names, 1).size, 5);
    assert_memory_equal(pr_name(&d->item_names, 1).bytes, "Bread", 5);
    assert_string_equal(d->features[PR_OF_ITEM][0].name, "weight");
    assert_true(d->features[PR_OF_ITEM][0].number[2] == (float)0.1);
    pr_dataset_free(d);
    /* Features need every column. */
    items.columns[2].format = "+l";
    a = stream_of(&actions);
    b = stream_of(&items);
    assert_fails(parsrec_import_rows(arrow_out, &streams, NULL, NULL, NULL, &err), PARSREC_E_INPUT,
                 "items: column 'weight' has the Arrow type '+l', which is not read");
    assert_int_equal(actions.open + items.open, 0);
    /* A file and a stream of the same table, or no actions. */
    parsrec_import_options o = parsrec_import_default();
    o.items_path = csv_path;
    a = stream_of(&actions);
    b = stream_of(&items);
    assert_fails(parsrec_import_rows(arrow_out, &streams, &o, NULL, NULL, &err), PARSREC_E_ARGUMENT,
                 "from a stream or a file, not both");
    assert_int_equal(actions.open + items.open, 0);
    assert_fails(parsrec_import_rows(arrow_out, &streams, NULL, NULL, NULL, &err),
                 PARSREC_E_ARGUMENT, "has been released before");
    streams = (parsrec_import_streams){.name = "nothing"};
    assert_fails(parsrec_import_rows(arrow_out, &streams, NULL, NULL, NULL, &err),
                 PARSREC_E_ARGUMENT, "needs a stream of actions");
}

static void broken_streams_get_a_sentence(void **state)
{
    (void)state;
    parsrec_error err = {0};
    static const int32_t back[] = {0, 2, 1, 6, 8, 10};
    static const uint8_t wrong[] = {0, 1, 3, 2, 0};
    static const int64_t far_away[] = {INT64_MAX, 0, 0, 0, 0};
    shop t = a_shop();
    t.fail_schema = 5;
    assert_fails(import_shop(&t, NULL, &err), PARSREC_E_IO,
                 "shop.csv: the schema cannot be read: the cable was pulled");
    t = a_shop();
    t.fail_next = 5;
    assert_fails(import_shop(&t, NULL, &err), PARSREC_E_IO, "reading rows failed: the cable");
    t = a_shop();
    t.columns[3].format = "z";
    assert_fails(import_shop(&t, NULL, &err), PARSREC_E_INPUT,
                 "column 'item' has the Arrow type 'z'");
    t = a_shop();
    t.columns[3].buffer_count = 2;
    assert_fails(import_shop(&t, NULL, &err), PARSREC_E_FORMAT, "does not match its schema");
    t = a_shop();
    t.columns[0].buffers[1] = back;
    assert_fails(import_shop(&t, NULL, &err), PARSREC_E_INPUT,
                 "row 2, column 1: the offsets of the text are wrong");
    t = a_shop();
    t.columns[0].buffers[2] = "u1u1u\xFFu2u2";
    assert_fails(import_shop(&t, NULL, &err), PARSREC_E_INPUT, "the text is not UTF-8");
    t = a_shop();
    t.columns[0].buffers[2] = "u1u1u\0u2u2";
    assert_fails(import_shop(&t, NULL, &err), PARSREC_E_INPUT, "a NUL byte");
    t = a_shop();
    t.columns[2].buffers[1] = far_away;
    assert_fails(import_shop(&t, NULL, &err), PARSREC_E_INPUT, "outside the years 0 to 9999");
    t = a_shop();
    t.columns[3] = (part){.format = "C",
                          .name = "item",
                          .buffers = {NULL, wrong},
                          .buffer_count = 2,
                          .words_format = "u"};
    memcpy(t.columns[3].words, (const void *[]){NULL, word_offsets, word_text},
           sizeof t.columns[3].words);
    t.columns[3].word_count = 3;
    assert_fails(import_shop(&t, NULL, &err), PARSREC_E_INPUT,
                 "code 3 is not in the dictionary of 3 values");
    t = a_shop();
    t.columns[0].name = "colour"; /* sessions without customers would be users */
    t.columns[1].name = "shape";
    assert_fails(import_shop(&t, NULL, &err), PARSREC_E_NOT_FOUND,
                 "no column is recognised as the user among colour");
    t = a_shop();
    t.column_count = 0;
    assert_fails(import_shop(&t, NULL, &err), PARSREC_E_INPUT, "no named columns");
    t = a_shop();
    t.rows = 0;
    assert_fails(import_shop(&t, NULL, &err), PARSREC_E_INPUT, "no rows");
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    parsrec_error err;
    parsrec_status status = PARSREC_E_MEMORY;
    shop t = a_shop();
    for (size_t n = 0; status != PARSREC_OK; n++) {
        pr_memory_fail_after(n);
        status = import_shop(&t, NULL, &err);
        pr_memory_fail_after(SIZE_MAX);
        if (status != PARSREC_OK)
            assert_int_equal(status, PARSREC_E_MEMORY);
    }
    assert_same_files();
}

static int make_csv(void **state)
{
    (void)state;
    parsrec_error err = {0};
    if (mkdtemp(folder) == NULL)
        return -1;
    snprintf(csv_path, sizeof csv_path, "%s/shop.csv", folder);
    snprintf(csv_out, sizeof csv_out, "%s/csv.st", folder);
    snprintf(arrow_out, sizeof arrow_out, "%s/arrow.st", folder);
    FILE *f = fopen(csv_path, "wb");
    assert_non_null(f);
    assert_true(fputs(csv, f) >= 0);
    assert_int_equal(fclose(f), 0);
    const char *input = csv_path;
    assert_ok(parsrec_import(csv_out, &input, 1, NULL, NULL, NULL, &err));
    make_tables();
    return 0;
}

static int remove_files(void **state)
{
    (void)state;
    unlink(csv_path);
    unlink(csv_out);
    unlink(arrow_out);
    return rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_type_gives_the_bytes_of_the_csv),
        cmocka_unit_test(dates_and_nulls),
        cmocka_unit_test(repeated_fields_are_known),
        cmocka_unit_test(tables_about_items_may_be_streams),
        cmocka_unit_test(broken_streams_get_a_sentence),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, make_csv, remove_files);
}
