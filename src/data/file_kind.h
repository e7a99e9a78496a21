/* What a file is, by its first bytes. People pass a spreadsheet to import, a table to train, a data
 * set where the model belongs; a sentence that says what the file is, and which command helps,
 * saves them the search. Every reader asks here when a file is not what it expected. */
#ifndef PR_FILE_KIND_H
#define PR_FILE_KIND_H

#include "base/status.h"

typedef enum pr_file_kind {
    PR_KIND_UNKNOWN,
    PR_KIND_EMPTY,
    PR_KIND_TEXT, /* a table, as far as can be seen */
    PR_KIND_JSON,
    PR_KIND_HTML,
    PR_KIND_XML,
    PR_KIND_UTF16,
    PR_KIND_XLSX,
    PR_KIND_XLS,
    PR_KIND_ODS,
    PR_KIND_OFFICE, /* another document of an office program */
    PR_KIND_ZIP,
    PR_KIND_7Z,
    PR_KIND_RAR,
    PR_KIND_TAR,
    PR_KIND_GZIP,
    PR_KIND_ZSTD,
    PR_KIND_BZIP2,
    PR_KIND_XZ,
    PR_KIND_PARQUET,
    PR_KIND_ARROW,
    PR_KIND_ORC,
    PR_KIND_AVRO,
    PR_KIND_HDF5,
    PR_KIND_NUMPY,
    PR_KIND_PICKLE,
    PR_KIND_SQLITE,
    PR_KIND_PDF,
    PR_KIND_PICTURE,
    PR_KIND_PROGRAM,
    PR_KIND_SAFETENSORS, /* of another program */
    PR_KIND_DATA,        /* ours */
    PR_KIND_MODEL,
    PR_KIND_CHECKPOINT,
} pr_file_kind;

/* By the first bytes; the more there are, up to 64 KiB, the surer. */
pr_file_kind pr_file_kind_of(const void *bytes, size_t size);

/* E_INPUT with the sentence for a file that import cannot read as a table. OK for one that it may
 * try: text, and unknown kinds. */
parsrec_status pr_kind_expect_table(const void *bytes, size_t size, const char *path,
                                    parsrec_error *err);

/* E_FORMAT with the sentence for a file that is not one of ours. OK for one of ours, even a damaged
 * one, and for unknown kinds. */
parsrec_status pr_kind_expect_ours(const void *bytes, size_t size, const char *path,
                                   parsrec_error *err);

/* E_FORMAT for one of ours where another was expected; both by their format names. */
parsrec_status pr_kind_fail_other(const char *path, const char *is, const char *expected,
                                  parsrec_error *err);

#endif
