/* Signatures, and the sentences for files in the wrong place. */
#include "data/file_kind.h"

#include <string.h>
#include <strings.h>

#include "base/text.h"

enum { LOOK_BYTES = 1 << 16, TAR_MAGIC_AT = 257, HEADER_AT = 8 };

/* What a file begins with. */
typedef struct signature {
    const char *bytes;
    size_t size;
    pr_file_kind kind;
} signature;

#define BEGINS(text, kind)           \
    {                                \
        text, sizeof(text) - 1, kind \
    }

static const signature signatures[] = {
    BEGINS("PAR1", PR_KIND_PARQUET),
    BEGINS("ARROW1", PR_KIND_ARROW),
    BEGINS("FEA1", PR_KIND_ARROW),
    BEGINS("ORC", PR_KIND_ORC),
    BEGINS("Obj\x01", PR_KIND_AVRO),
    BEGINS("\x89HDF\r\n", PR_KIND_HDF5),
    BEGINS("\x93NUMPY", PR_KIND_NUMPY),
    BEGINS("\x80\x02", PR_KIND_PICKLE), /* protocols 2 to 5 */
    BEGINS("\x80\x03", PR_KIND_PICKLE),
    BEGINS("\x80\x04", PR_KIND_PICKLE),
    BEGINS("\x80\x05", PR_KIND_PICKLE),
    BEGINS("SQLite format 3", PR_KIND_SQLITE),
    BEGINS("%PDF-", PR_KIND_PDF),
    BEGINS("\x1F\x8B", PR_KIND_GZIP),
    BEGINS("\x28\xB5\x2F\xFD", PR_KIND_ZSTD),
    BEGINS("BZh", PR_KIND_BZIP2),
    BEGINS("\xFD"
           "7zXZ",
           PR_KIND_XZ),
    BEGINS("7z\xBC\xAF\x27\x1C", PR_KIND_7Z),
    BEGINS("Rar!\x1A", PR_KIND_RAR),
    BEGINS("\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1", PR_KIND_XLS),
    BEGINS("\x89PNG", PR_KIND_PICTURE),
    BEGINS("\xFF\xD8\xFF", PR_KIND_PICTURE),
    BEGINS("GIF8", PR_KIND_PICTURE),
    BEGINS("\x7F"
           "ELF",
           PR_KIND_PROGRAM),
    BEGINS("\xFF\xFE", PR_KIND_UTF16),
    BEGINS("\xFE\xFF", PR_KIND_UTF16),
};

static bool holds(const char *bytes, size_t size, const char *text)
{
    return memmem(bytes, size, text, strlen(text)) != NULL;
}

/* A zip archive by the names of its first members. */
static pr_file_kind kind_of_zip(const char *bytes, size_t size)
{
    if (holds(bytes, size, "opendocument.spreadsheet"))
        return PR_KIND_ODS;
    if (holds(bytes, size, "opendocument") || holds(bytes, size, "word/") ||
        holds(bytes, size, "ppt/"))
        return PR_KIND_OFFICE;
    bool office = holds(bytes, size, "[Content_Types].xml");
    return office || holds(bytes, size, "xl/workbook") ? PR_KIND_XLSX : PR_KIND_ZIP;
}

/* A safetensors file by its format name, which is early in the header. */
static pr_file_kind kind_of_tensors(const char *bytes, size_t size)
{
    if (holds(bytes, size, "\"format\":\"parsrec.data\""))
        return PR_KIND_DATA;
    if (holds(bytes, size, "\"format\":\"parsrec.model\""))
        return PR_KIND_MODEL;
    if (holds(bytes, size, "\"format\":\"parsrec.checkpoint\""))
        return PR_KIND_CHECKPOINT;
    return PR_KIND_SAFETENSORS;
}

/* The length of a safetensors header is below 2^32: bytes that no text has there. */
static bool looks_like_tensors(const char *bytes, size_t size)
{
    static const char high[4] = {0};
    return size > HEADER_AT && bytes[HEADER_AT] == '{' && memcmp(bytes + 4, high, 4) == 0;
}

static bool begins_without_case(const char *bytes, size_t size, const char *text)
{
    return size >= strlen(text) && strncasecmp(bytes, text, strlen(text)) == 0;
}

/* Text without NUL and other control bytes; letters beyond ASCII may be of any encoding. */
static pr_file_kind kind_of_text(const char *bytes, size_t size)
{
    size_t zeros = 0, controls = 0, high = 0, at;
    for (size_t i = 0; i < size; i++) {
        unsigned char c = (unsigned char)bytes[i];
        zeros += c == 0;
        high += c >= 0x80;
        controls += c != 0 && c < ' ' && c != '\t' && c != '\r' && c != '\n' && c != '\f';
    }
    if (controls > 0 || (zeros > 0 && zeros * 3 < size))
        return PR_KIND_UNKNOWN;
    if (high * 3 > size && !pr_utf8_valid(bytes, size, &at) && at + 4 < size)
        return PR_KIND_UNKNOWN;
    if (zeros > 0) /* every other byte of Latin letters in UTF-16 without its mark */
        return size >= 4 && (bytes[0] == 0) != (bytes[1] == 0) ? PR_KIND_UTF16 : PR_KIND_UNKNOWN;
    while (size > 0 && strchr(" \t\r\n", bytes[0]) != NULL) {
        bytes++;
        size--;
    }
    if (begins_without_case(bytes, size, "<!doctype html") ||
        begins_without_case(bytes, size, "<html"))
        return PR_KIND_HTML;
    if (begins_without_case(bytes, size, "<?xml"))
        return PR_KIND_XML;
    bool json = size > 1 && ((bytes[0] == '{' && strchr("\"\r\n }", bytes[1]) != NULL) ||
                             (bytes[0] == '[' && strchr("{[\"\r\n ", bytes[1]) != NULL));
    return json ? PR_KIND_JSON : PR_KIND_TEXT;
}

pr_file_kind pr_file_kind_of(const void *start, size_t size)
{
    const char *bytes = start;
    if (size == 0)
        return PR_KIND_EMPTY;
    if (size > LOOK_BYTES)
        size = LOOK_BYTES;
    if (looks_like_tensors(bytes, size))
        return kind_of_tensors(bytes, size);
    if (size >= 4 && memcmp(bytes, "PK\x03\x04", 4) == 0)
        return kind_of_zip(bytes, size);
    for (size_t i = 0; i < sizeof signatures / sizeof *signatures; i++)
        if (size >= signatures[i].size &&
            memcmp(bytes, signatures[i].bytes, signatures[i].size) == 0) {
            /* Short signatures of letters may begin a text: "ORC,BZh". */
            bool letters = signatures[i].size <= 4 && (unsigned char)bytes[0] < 0x7F;
            if (!letters || kind_of_text(bytes, size) == PR_KIND_UNKNOWN)
                return signatures[i].kind;
        }
    if (size >= TAR_MAGIC_AT + 5 && memcmp(bytes + TAR_MAGIC_AT, "ustar", 5) == 0)
        return PR_KIND_TAR;
    return kind_of_text(bytes, size);
}

/* ---- sentences ---- */

/* What it is, and what to do; %s in the advice is the path. */
typedef struct kind_words {
    const char *is, *advice;
} kind_words;

#define AS_CSV    "export the table as CSV, then run parsrec import -o DATA FILE.csv"
#define SHEET     "save the sheet as CSV, then run parsrec import -o DATA FILE.csv"
#define UNPACK    "unpack it, then run parsrec import -o DATA on the table inside"
#define IMPORT_IT "make a data set of it with parsrec import -o DATA %s"

static const kind_words words[] = {
    [PR_KIND_TEXT] = {"a text table", IMPORT_IT},
    [PR_KIND_JSON] = {"JSON text", AS_CSV},
    [PR_KIND_HTML] = {"a web page", "download the table itself, as CSV"},
    [PR_KIND_XML] = {"XML text", AS_CSV},
    [PR_KIND_UTF16] = {"UTF-16 text", "save it as UTF-8, then run parsrec import -o DATA %s"},
    [PR_KIND_XLSX] = {"an Excel workbook (.xlsx)", SHEET},
    [PR_KIND_XLS] = {"an old Excel workbook or Office document (.xls, .doc)", SHEET},
    [PR_KIND_ODS] = {"an OpenDocument spreadsheet (.ods)", SHEET},
    [PR_KIND_OFFICE] = {"an office document", AS_CSV},
    [PR_KIND_ZIP] = {"a zip archive", UNPACK},
    [PR_KIND_7Z] = {"a 7z archive", UNPACK},
    [PR_KIND_RAR] = {"a rar archive", UNPACK},
    [PR_KIND_TAR] = {"a tar archive", UNPACK},
    [PR_KIND_GZIP] = {"gzip-compressed", IMPORT_IT},
    [PR_KIND_ZSTD] = {"zstd-compressed", IMPORT_IT},
    [PR_KIND_BZIP2] = {"bzip2-compressed", "unpack it with bunzip2 %s"},
    [PR_KIND_XZ] = {"xz-compressed", "unpack it with unxz %s"},
    [PR_KIND_PARQUET] = {"a Parquet file",
                         "name it with its prefix: parsrec import -o DATA parquet:%s"},
    [PR_KIND_ARROW] = {"an Arrow or Feather file", AS_CSV},
    [PR_KIND_ORC] = {"an ORC file", AS_CSV},
    [PR_KIND_AVRO] = {"an Avro file", AS_CSV},
    [PR_KIND_HDF5] = {"an HDF5 file", AS_CSV},
    [PR_KIND_NUMPY] = {"a NumPy array", AS_CSV},
    [PR_KIND_PICKLE] = {"a Python pickle", AS_CSV},
    [PR_KIND_SQLITE] = {"an SQLite database",
                        "name it with its prefix: parsrec import -o DATA sqlite:%s --table NAME"},
    [PR_KIND_PDF] = {"a PDF document", AS_CSV},
    [PR_KIND_PICTURE] = {"a picture", AS_CSV},
    [PR_KIND_PROGRAM] = {"a program", AS_CSV},
    [PR_KIND_SAFETENSORS] = {"a safetensors file of another program", AS_CSV},
    [PR_KIND_DATA] = {"a parsrec data set already", "continue with parsrec train -o MODEL %s"},
    [PR_KIND_MODEL] = {"a parsrec model, not a table", "parsrec info %s shows what is in it"},
    [PR_KIND_CHECKPOINT] = {"a checkpoint of a training run, not a table",
                            "continue with parsrec train -o MODEL DATA --resume %s"},
};

/* "PATH: is X<between>; advice with the path". */
static parsrec_status refuse(parsrec_status status, pr_file_kind kind, const char *between,
                             const char *path, parsrec_error *err)
{
    const char *advice = words[kind].advice, *place = strstr(advice, "%s");
    if (place == NULL)
        return pr_fail(err, status, "%s: is %s%s; %s", path, words[kind].is, between, advice);
    return pr_fail(err, status, "%s: is %s%s; %.*s%s%s", path, words[kind].is, between,
                   (int)(place - advice), advice, path, place + 2);
}

parsrec_status pr_kind_expect_table(const void *bytes, size_t size, const char *path,
                                    parsrec_error *err)
{
    pr_file_kind kind = pr_file_kind_of(bytes, size);
    if (kind == PR_KIND_UNKNOWN || kind == PR_KIND_EMPTY || kind == PR_KIND_TEXT)
        return PARSREC_OK;
    if (kind == PR_KIND_GZIP || kind == PR_KIND_ZSTD)
        return pr_fail(err, PARSREC_E_INPUT, "%s: is compressed twice; unpack it once", path);
    bool ours = kind >= PR_KIND_DATA;
    return refuse(PARSREC_E_INPUT, kind, ours ? "" : ", which import does not read", path, err);
}

parsrec_status pr_kind_expect_ours(const void *bytes, size_t size, const char *path,
                                   parsrec_error *err)
{
    pr_file_kind kind = pr_file_kind_of(bytes, size);
    if (kind == PR_KIND_EMPTY)
        return pr_fail(err, PARSREC_E_FORMAT,
                       "%s: is empty (0 bytes); make it again, or take another copy", path);
    if (kind == PR_KIND_UNKNOWN || kind >= PR_KIND_SAFETENSORS)
        return PARSREC_OK;
    return refuse(PARSREC_E_FORMAT, kind, ", not a data set or model", path, err);
}

/* What is there, what was expected, what to do. */
static const struct {
    const char *is, *expected, *sentence;
} swapped[] = {
    {"parsrec.model", "parsrec.data",
     "is a model, not a data set; name the data set that it was trained on"},
    {"parsrec.checkpoint", "parsrec.data",
     "is a checkpoint, not a data set; name the data set of that run, and the checkpoint with "
     "--resume"},
    {"parsrec.data", "parsrec.model",
     "is a data set, not a model; train one with parsrec train -o MODEL DATA, or swap the two "
     "names"},
    {"parsrec.checkpoint", "parsrec.model",
     "is a checkpoint of a training run, not a model; finish it with parsrec train -o MODEL DATA "
     "--resume CHECKPOINT"},
    {"parsrec.model", "parsrec.checkpoint",
     "is a finished model, not a checkpoint; --resume takes the checkpoint that a stopped run "
     "leaves"},
    {"parsrec.shard", "parsrec.data", "is one shard of a data set; name its folder"},
    {"parsrec.dictionary", "parsrec.data", "is the dictionary of a data set; name its folder"},
    {"parsrec.shards", "parsrec.data", "is the manifest of a data set; name its folder"},
    {"parsrec.data", "parsrec.checkpoint",
     "is a data set, not a checkpoint; --resume takes the checkpoint that a stopped run leaves"},
};

parsrec_status pr_kind_fail_other(const char *path, const char *is, const char *expected,
                                  parsrec_error *err)
{
    pr_excerpt hold;
    for (size_t i = 0; i < sizeof swapped / sizeof *swapped; i++)
        if (strcmp(swapped[i].is, is) == 0 && strcmp(swapped[i].expected, expected) == 0)
            return pr_fail(err, PARSREC_E_FORMAT, "%s: %s", path, swapped[i].sentence);
    return pr_fail(err, PARSREC_E_FORMAT, "%s: is %s, not %s", path,
                   pr_show(&hold, pr_slice_of(is)), expected);
}
