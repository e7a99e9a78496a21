/* The container: what is written comes back, and every kind of damage is named. */
#include "support/testing.h"

#include "base/files.h"
#include "data/container.h"
#include "data/file_kind.h"

static char folder[] = "/tmp/parsrec-container-XXXXXX", path[64];

static int make_folder(void **state)
{
    (void)state;
    if (mkdtemp(folder) == NULL)
        return -1;
    snprintf(path, sizeof path, "%s/file.st", folder);
    return 0;
}

static int remove_folder(void **state)
{
    (void)state;
    unlink(path);
    return rmdir(folder); /* fails when something was left behind */
}

/* A file out of a header and this many bytes of data, each the low byte of its place. The buffer is
 * exactly as large as the file, so that AddressSanitizer sees a read beyond it. */
static unsigned char *compose(const char *header, size_t data, size_t *size)
{
    uint64_t length = strlen(header);
    *size = sizeof length + length + data;
    unsigned char *bytes = malloc(*size);
    assert_non_null(bytes);
    memcpy(bytes, &length, sizeof length);
    memcpy(bytes + sizeof length, header, length);
    for (size_t i = 0; i < data; i++)
        bytes[sizeof length + length + i] = (unsigned char)i;
    return bytes;
}

static parsrec_status parse(const char *header, size_t data, parsrec_error *err)
{
    size_t size;
    unsigned char *bytes = compose(header, data, &size);
    pr_container *c = NULL;
    parsrec_status status = pr_container_parse(&c, bytes, size, "x.st", err);
    pr_container_free(c);
    free(bytes);
    return status;
}

#define TENSOR(dtype, shape, offsets) \
    "{\"dtype\":\"" dtype "\",\"shape\":" shape ",\"data_offsets\":" offsets "}"

static const double reals[3] = {1.5, -2, 3};
static const int32_t whole[2][5] = {{1, 2, 3, 4, 5}, {6, 7, 8, 9, 10}};
static const unsigned char octets[3] = {7, 8, 9};
static const pr_tensor tensors[] = {
    {"b.octets", PR_U8, 1, {3}, octets}, {"whole", PR_I32, 2, {2, 5}, whole},
    {"reals", PR_F64, 1, {3}, reals},    {"empty", PR_I64, 2, {0, 7}, ""},
    {"alone", PR_F64, 0, {0}, reals},
};
enum { TENSORS = sizeof tensors / sizeof *tensors };
static const pr_metadata metadata[] = {
    {"config", "{\"a\": \"\\u00e4 \\\"checksum\\\":\\\"0\\\"\"}"}};

static parsrec_status write_sample(parsrec_error *err)
{
    return pr_container_write(path, "test.kind", 3, metadata, 1, tensors, TENSORS, err);
}

static void written_files_come_back(void **state)
{
    (void)state;
    parsrec_error err;
    assert_ok(write_sample(&err));
    pr_container *c;
    assert_ok(pr_container_open(&c, path, &err));
    assert_int_equal(pr_container_tensors(c), TENSORS); /* padding is not counted */
    for (size_t i = 0; i < TENSORS; i++) {
        const pr_tensor *t = pr_container_find(c, tensors[i].name);
        assert_non_null(t);
        assert_int_equal(t->dtype, tensors[i].dtype);
        assert_int_equal(t->rank, tensors[i].rank);
        assert_memory_equal(t->shape, tensors[i].shape, t->rank * sizeof *t->shape);
        size_t bytes = pr_tensor_count(t) * pr_dtype_size(t->dtype);
        assert_memory_equal(t->data, tensors[i].data, bytes);
        if (bytes > 0)
            assert_int_equal((uintptr_t)t->data % 64, 0);
    }
    assert_string_equal(pr_container_metadata(c, "config"), metadata[0].value);
    assert_string_equal(pr_container_metadata(c, "version"), "3");
    assert_null(pr_container_metadata(c, "missing"));
    assert_null(pr_container_find(c, "missing"));
    assert_null(pr_container_find(c, "pad.0"));
    assert_int_equal(strlen(pr_container_checksum(c)), 16);
    assert_string_equal(pr_container_path(c), path);
    uint32_t version;
    const pr_tensor *t;
    assert_ok(pr_container_expect(c, "test.kind", 3, &version, &err));
    assert_int_equal(version, 3);
    assert_fails(pr_container_expect(c, "test.kind", 2, &version, &err), PARSREC_E_VERSION,
                 "test.kind version 3, this parsrec reads up to 2");
    assert_fails(pr_container_expect(c, "other.kind", 3, &version, &err), PARSREC_E_FORMAT,
                 "is 'test.kind', not other.kind");
    assert_ok(pr_container_need(c, "whole", PR_I32, 2, &t, &err));
    assert_fails(pr_container_need(c, "whole", PR_I64, 2, &t, &err), PARSREC_E_FORMAT,
                 "tensor 'whole' is I32 with 2 dimensions, expected I64 with 2");
    assert_fails(pr_container_need(c, "hole", PR_I64, 2, &t, &err), PARSREC_E_FORMAT,
                 "the tensor 'hole' is missing");
    pr_container_free(c);
}

/* Hands out `whole` number by number. */
static parsrec_status next_number(void *context, const void **bytes, size_t *size,
                                  parsrec_error *err)
{
    (void)err;
    size_t *at = context;
    *bytes = &whole[0][0] + (*at)++;
    *size = sizeof **whole;
    return PARSREC_OK;
}

static void bytes_from_a_source_are_those_of_memory(void **state)
{
    (void)state;
    parsrec_error err;
    pr_mapping first, second;
    size_t at = 0;
    pr_tensor_source source = {&at, &at, next_number};
    pr_apart apart = {.sources = &source, .source_count = 1};
    pr_tensor poured[TENSORS];
    memcpy(poured, tensors, sizeof poured);
    poured[1].data = &at;
    assert_ok(write_sample(&err));
    assert_ok(pr_file_map(&first, path, &err));
    assert_fails(pr_container_write_apart("/dev/null", "test.kind", 3, metadata, 1, poured, TENSORS,
                                          &apart, &err),
                 PARSREC_E_ARGUMENT, "must be a plain file");
    assert_ok(
        pr_container_write_apart(path, "test.kind", 3, metadata, 1, poured, TENSORS, &apart, &err));
    assert_int_equal(at, 10);
    assert_ok(pr_file_map(&second, path, &err));
    assert_int_equal(first.size, second.size);
    assert_memory_equal(first.bytes, second.bytes, first.size);
    pr_file_unmap(&first);
    pr_file_unmap(&second);
}

static void equal_arguments_give_equal_bytes(void **state)
{
    (void)state;
    parsrec_error err;
    pr_mapping first, second;
    assert_ok(write_sample(&err));
    assert_ok(pr_file_map(&first, path, &err));
    pr_tensor turned[TENSORS];
    for (size_t i = 0; i < TENSORS; i++)
        turned[i] = tensors[TENSORS - 1 - i];
    assert_ok(pr_container_write(path, "test.kind", 3, metadata, 1, turned, TENSORS, &err));
    assert_ok(pr_file_map(&second, path, &err));
    assert_int_equal(first.size, second.size);
    assert_memory_equal(first.bytes, second.bytes, first.size);
    pr_file_unmap(&first);
    pr_file_unmap(&second);
}

static void the_writer_refuses_what_cannot_be_read(void **state)
{
    (void)state;
    parsrec_error err;
    const pr_tensor twice[] = {tensors[0], {"b.octets", PR_F64, 1, {3}, reals}};
    assert_fails(pr_container_write(path, "k", 1, NULL, 0, twice, 2, &err), PARSREC_E_ARGUMENT,
                 "'b.octets' would occur twice");
    const pr_metadata again = {"version", "7"}, broken = {"key", "a\xFF"};
    assert_fails(pr_container_write(path, "k", 1, &again, 1, NULL, 0, &err), PARSREC_E_ARGUMENT,
                 "'version' would occur twice");
    assert_fails(pr_container_write(path, "k", 1, &broken, 1, NULL, 0, &err), PARSREC_E_ARGUMENT,
                 "not UTF-8");
    assert_fails(pr_container_write("/nonexistent/x", "k", 1, NULL, 0, NULL, 0, &err), PARSREC_E_IO,
                 "No such file");
    assert_fails(pr_container_write("/dev/full", "k", 1, NULL, 0, tensors, 1, &err), PARSREC_E_IO,
                 "No space left");
    assert_ok(pr_container_write(path, "k", 1, NULL, 0, NULL, 0, &err));
}

/* Each single bit of a file: none is read as if nothing had happened. Only in the letters of the key
 * "checksum" itself a flip passes, and then the file shows as one without a checksum. */
static void every_flipped_bit_is_seen(void **state)
{
    (void)state;
    parsrec_error err;
    assert_ok(write_sample(&err));
    pr_mapping map;
    assert_ok(pr_file_map(&map, path, &err));
    unsigned char *copy = malloc(map.size);
    assert_non_null(copy);
    memcpy(copy, map.bytes, map.size);
    uint64_t header;
    memcpy(&header, copy, sizeof header);
    const unsigned char *key = memmem(copy, map.size, "\"checksum\"", 10);
    size_t passed = 0;
    for (size_t bit = 0; bit < map.size * 8; bit++) {
        copy[bit / 8] ^= (unsigned char)(1 << bit % 8);
        pr_container *c = NULL;
        parsrec_status status = pr_container_parse(&c, copy, map.size, "x.st", &err);
        if (c != NULL) {
            assert_true(copy + bit / 8 > key && copy + bit / 8 < key + 9);
            assert_string_equal(pr_container_checksum(c), "");
            pr_container_free(c);
            passed++;
        } else if (bit / 8 >= 8 + header)
            assert_int_equal(status, PARSREC_E_CHECKSUM);
        else
            assert_true(status == PARSREC_E_FORMAT || status == PARSREC_E_CHECKSUM);
        copy[bit / 8] ^= (unsigned char)(1 << bit % 8);
    }
    assert_true(passed <= 64);
    free(copy);
    pr_file_unmap(&map);
}

static void every_cut_is_seen(void **state)
{
    (void)state;
    parsrec_error err;
    assert_ok(write_sample(&err));
    pr_mapping map;
    assert_ok(pr_file_map(&map, path, &err));
    for (size_t size = 0; size < map.size; size++) {
        unsigned char *cut = malloc(size > 0 ? size : 1);
        assert_non_null(cut);
        memcpy(cut, map.bytes, size);
        pr_container *c = NULL;
        assert_fails(pr_container_parse(&c, cut, size, "x.st", &err), PARSREC_E_FORMAT, "x.st: ");
        free(cut);
    }
    pr_file_unmap(&map);
}

static void damaged_headers_are_named(void **state)
{
    (void)state;
    static const struct {
        const char *header;
        size_t data;
        const char *says;
    } cases[] = {
        {"", 0, "not valid JSON"},
        {"[]", 0, "not a JSON object"},
        {"{} x", 0, "not valid JSON"},
        {"{\"a\":" TENSOR("U8", "[1]", "[0,1]") ",\"a\":" TENSOR("U8", "[1]", "[0,1]") "}", 1,
         "duplicate object key"},
        {"{\"a\\u0000b\":1}", 0, "not valid JSON"},
        {"{\"__metadata__\":[]}", 0, "__metadata__ is not a JSON object"},
        {"{\"__metadata__\":{\"version\":1}}", 0, "metadata 'version' is not a string"},
        {"{\"__metadata__\":{\"checksum\":\"12\"}}", 0, "not written as 16 hex digits"},
        {"{\"__metadata__\":{\"check\\u0073um\":\"0123456789abcdef\"}}", 0, "not written as 16"},
        {"{\"\":" TENSOR("U8", "[1]", "[0,1]") "}", 1, "tensor '': a name has 1 to 255 bytes"},
        {"{\"a\":3}", 0, "tensor 'a': its entry is not dtype, shape and data_offsets"},
        {"{\"a\":{\"dtype\":\"U8\",\"shape\":[],\"data_offsets\":[0,1],\"x\":1}}", 1,
         "entry is not"},
        {"{\"a\":{\"dtype\":8,\"shape\":[],\"data_offsets\":[0,1]}}", 1, "has no dtype"},
        {"{\"a\":" TENSOR("F8_E4M3", "[1]", "[0,1]") "}", 1, "dtype 'F8_E4M3' is not known"},
        {"{\"a\":" TENSOR("U8", "3", "[0,1]") "}", 1, "has no shape"},
        {"{\"a\":" TENSOR("U8", "[1,1,1,1,1]", "[0,1]") "}", 1, "5 dimensions, 4 are allowed"},
        {"{\"a\":" TENSOR("U8", "[1,-1]", "[0,1]") "}", 1, "dimension 1 of its shape"},
        {"{\"a\":" TENSOR("U8", "[1.0]", "[0,1]") "}", 1, "dimension 0 of its shape"},
        {"{\"a\":" TENSOR("U8", "[4294967296,4294967296]", "[0,0]") "}", 0, "more elements than"},
        {"{\"a\":" TENSOR("F64", "[2305843009213693952]", "[0,0]") "}", 0, "more elements than"},
        {"{\"a\":" TENSOR("U8", "[99999999999999999999]", "[0,0]") "}", 0, "too big integer"},
        {"{\"a\":" TENSOR("U8", "[1]", "[0]") "}", 1, "data_offsets are not two counts"},
        {"{\"a\":" TENSOR("U8", "[1]", "[-1,0]") "}", 1, "data_offsets are not two counts"},
        {"{\"a\":" TENSOR("U8", "[1]", "[1,0]") "}", 1, "begin at 1, behind their end 0"},
        {"{\"a\":" TENSOR("I32", "[1]", "[0,3]") "}", 3, "takes 4 bytes, its data_offsets hold 3"},
        {"{\"a\":" TENSOR("U8", "[9]", "[0,9]") "}", 8, "ends at byte 9 of 8"},
        {"{\"a\":" TENSOR("U8", "[7]", "[0,7]") "}", 8, "1 bytes at the end belong to no tensor"},
        {"{\"a\":" TENSOR("U8", "[4]", "[0,4]") ",\"b\":" TENSOR("U8", "[4]", "[3,7]") "}", 7,
         "tensor 'b' begins at byte 3, inside another that ends at byte 4"},
        {"{\"a\":" TENSOR("U8", "[4]", "[0,4]") ",\"b\":" TENSOR("U8", "[4]", "[0,4]") "}", 4,
         "inside another"},
        {"{\"a\":" TENSOR("U8", "[4]", "[0,4]") ",\"b\":" TENSOR("U8", "[4]", "[5,9]") "}", 9,
         "tensor 'b' begins at byte 5, behind a hole from byte 4"},
        {"{\"a\":" TENSOR("U8", "[4]", "[2,6]") "}", 6, "behind a hole from byte 0"},
    };
    parsrec_error err;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_fails(parse(cases[i].header, cases[i].data, &err), PARSREC_E_FORMAT, cases[i].says);
}

static void impossible_lengths_are_refused(void **state)
{
    (void)state;
    static const uint64_t lengths[] = {3, 1u << 20, 1ull << 32, 1ull << 63, UINT64_MAX};
    parsrec_error err;
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        unsigned char bytes[10] = {0};
        memcpy(bytes, &lengths[i], sizeof lengths[i]);
        bytes[8] = '{', bytes[9] = '}';
        pr_container *c;
        assert_fails(pr_container_parse(&c, bytes, sizeof bytes, "x.st", &err), PARSREC_E_FORMAT,
                     "the header length is");
    }
    size_t huge = (16 << 20) + 1; /* as long as it says, but more than is allowed */
    unsigned char *bytes = malloc(8 + huge);
    assert_non_null(bytes);
    memcpy(bytes, &(uint64_t){huge}, 8);
    memset(bytes + 8, ' ', huge);
    memcpy(bytes + 8, "{}", 2);
    pr_container *c;
    assert_fails(pr_container_parse(&c, bytes, 8 + huge, "x.st", &err), PARSREC_E_FORMAT,
                 "the header length is");
    free(bytes);
    char deep[5000];
    memset(deep, '[', sizeof deep - 1);
    deep[sizeof deep - 1] = '\0';
    assert_fails(parse(deep, 0, &err), PARSREC_E_FORMAT, "not valid JSON");
}

/* Other programs align nothing and write no checksum: their tensors are copied where needed. */
static void misaligned_foreign_files_are_read(void **state)
{
    (void)state;
    parsrec_error err;
    static const char header[] = "{ \"a\":" TENSOR("U8", "[1]", "[0,1]") ",\"f\":" TENSOR(
        "I32", "[2]", "[1,9]") ",\"g\":" TENSOR("I64", "[]",
                                                "[9,17]") ",\"pad.0\":" TENSOR("F32", "[0]",
                                                                               "[9,9]") " }  ";
    for (size_t shift = 0; shift < 8; shift++) {
        size_t size;
        unsigned char *bytes = compose(header, 17, &size), *moved = malloc(size + shift);
        assert_non_null(moved);
        memcpy(moved + shift, bytes, size);
        pr_container *c;
        assert_ok(pr_container_parse(&c, moved + shift, size, "x.st", &err));
        assert_string_equal(pr_container_checksum(c), "");
        assert_int_equal(pr_container_tensors(c), 4); /* pad.0 of numbers is no padding */
        const pr_tensor *f = pr_container_find(c, "f"), *g = pr_container_find(c, "g");
        assert_int_equal(((const int32_t *)f->data)[0], 0x04030201);
        assert_int_equal(((const int32_t *)f->data)[1], 0x08070605);
        assert_true(*(const int64_t *)g->data == 0x100f0e0d0c0b0a09);
        assert_int_equal(pr_tensor_count(g), 1);
        assert_non_null(pr_container_find(c, "pad.0")->data);
        pr_container_free(c);
        free(moved);
        free(bytes);
    }
}

static void formats_and_versions_are_words_and_numbers(void **state)
{
    (void)state;
    static const struct {
        const char *header, *says;
    } cases[] = {
        {"{}", "without the metadata 'format'"},
        {"{\"__metadata__\":{\"format\":\"k\"}}", "'version' is not a number"},
        {"{\"__metadata__\":{\"format\":\"k\",\"version\":\"0\"}}", "'version' is not a number"},
        {"{\"__metadata__\":{\"format\":\"k\",\"version\":\"1a\"}}", "'version' is not a number"},
        {"{\"__metadata__\":{\"format\":\"k\",\"version\":\"99999999999\"}}", "'version' is not"},
    };
    parsrec_error err;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        size_t size;
        unsigned char *bytes = compose(cases[i].header, 0, &size);
        pr_container *c;
        uint32_t version;
        assert_ok(pr_container_parse(&c, bytes, size, "x.st", &err));
        assert_fails(pr_container_expect(c, "k", 1, &version, &err), PARSREC_E_FORMAT,
                     cases[i].says);
        pr_container_free(c);
        free(bytes);
    }
}

static void files_that_are_none_are_named(void **state)
{
    (void)state;
    parsrec_error err;
    pr_container *c;
    assert_fails(pr_container_open(&c, folder, &err), PARSREC_E_IO, "is a directory");
    assert_fails(pr_container_open(&c, "/nonexistent/x", &err), PARSREC_E_IO, "No such file");
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    fclose(f);
    assert_fails(pr_container_open(&c, path, &err), PARSREC_E_FORMAT, "is empty (0 bytes)");
}

/* ---- what a file is ---- */

static void files_are_told_by_their_first_bytes(void **state)
{
    (void)state;
#define FILE_OF(bytes, kind)           \
    {                                  \
        bytes, sizeof(bytes) - 1, kind \
    }
    static const struct {
        const char *bytes;
        size_t size;
        pr_file_kind kind;
    } cases[] = {
        FILE_OF("", PR_KIND_EMPTY),
        FILE_OF("user,item\n", PR_KIND_TEXT),
        FILE_OF("caf\xE9;1\n", PR_KIND_TEXT),
        FILE_OF("ORC,BZh,PAR1\n1,2,3\n", PR_KIND_TEXT),
        FILE_OF("BZh91AY&SY\x01\x02", PR_KIND_BZIP2),
        FILE_OF("PAR1\x15\x04", PR_KIND_PARQUET),
        FILE_OF("ARROW1\0\0", PR_KIND_ARROW),
        FILE_OF("ORC\n\x03\0\0", PR_KIND_ORC),
        FILE_OF("\x80\x02]q\0.", PR_KIND_PICKLE),
        FILE_OF("\x80\x05\x95\x1D\0\0\0\0\0\0\0]", PR_KIND_PICKLE),
        FILE_OF("\x80 5,1\n", PR_KIND_TEXT), /* the euro sign of Windows */
        FILE_OF("SQLite format 3\0", PR_KIND_SQLITE),
        FILE_OF("%PDF-1.4\n", PR_KIND_PDF),
        FILE_OF("PK\3\4....xl/workbook.xml", PR_KIND_XLSX),
        FILE_OF("PK\3\4....mimetypeapplication/vnd.oasis.opendocument.spreadsheet", PR_KIND_ODS),
        FILE_OF("PK\3\4....[Content_Types].xml...word/document.xml", PR_KIND_OFFICE),
        FILE_OF("PK\3\4....a.csv", PR_KIND_ZIP),
        FILE_OF("\x1F\x8B\x08", PR_KIND_GZIP),
        FILE_OF("\xFF\xFEu\0s\0", PR_KIND_UTF16),
        FILE_OF("u\0s\0e\0r\0", PR_KIND_UTF16),
        FILE_OF("\0u\0s\0e\0r", PR_KIND_UTF16),
        FILE_OF(" <!DOCTYPE html>", PR_KIND_HTML),
        FILE_OF("[{\"user\":1}]", PR_KIND_JSON),
        FILE_OF("\x40\0\0\0\0\0\0\0{\"__metadata__\":{\"format\":\"parsrec.model\"}",
                PR_KIND_MODEL),
        FILE_OF("\x40\0\0\0\0\0\0\0{\"__metadata__\":{\"format\":\"pt\"}", PR_KIND_SAFETENSORS),
        FILE_OF("\x01\x02\x03\x04\x05", PR_KIND_UNKNOWN),
        FILE_OF("\xC1\xC2\xC3\xC4\xC5\xC6\xC7\xC8\xC9\xCA", PR_KIND_UNKNOWN),
    };
#undef FILE_OF
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (pr_file_kind_of(cases[i].bytes, cases[i].size) != cases[i].kind)
            fail_msg("case %zu is taken for %d", i, pr_file_kind_of(cases[i].bytes, cases[i].size));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bytes_from_a_source_are_those_of_memory),
        cmocka_unit_test(written_files_come_back),
        cmocka_unit_test(equal_arguments_give_equal_bytes),
        cmocka_unit_test(the_writer_refuses_what_cannot_be_read),
        cmocka_unit_test(every_flipped_bit_is_seen),
        cmocka_unit_test(every_cut_is_seen),
        cmocka_unit_test(damaged_headers_are_named),
        cmocka_unit_test(impossible_lengths_are_refused),
        cmocka_unit_test(misaligned_foreign_files_are_read),
        cmocka_unit_test(formats_and_versions_are_words_and_numbers),
        cmocka_unit_test(files_that_are_none_are_named),
        cmocka_unit_test(files_are_told_by_their_first_bytes),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
