/* The store in an SQLite file: a write-ahead log that is synced on every commit, one connection for
 * writing and one for reading.
 *
 * Forgotten data must leave the file. SQLite's secure_delete is not enough: when pages of a tree
 * are split or merged, copies of rows remain in the unused part of a page (found by searching the
 * file). So rows are only appended to their table and overwritten in place with zeros of the same
 * length, which moves nothing; and indexes contain only keyed hashes. Hence the lengths of what was
 * forgotten stay: a row that becomes shorter would move the rows of others. */
#include <errno.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"
#include "serve/store_inside.h"

enum { SCHEMA = 2, BUSY_MILLISECONDS = 10000 };

/* The user_hash of a row whose user was forgotten. */
#define NOBODY "'00000000000000000000000000000000'"

/* In place of a time, a number that takes as many bytes in SQLite's record format. */
#define SOME_TIME                                                   \
    "CASE WHEN time IS NULL THEN NULL WHEN time IN (0, 1) THEN 0"   \
    " WHEN time BETWEEN -128 AND 127 THEN 127"                      \
    " WHEN time BETWEEN -32768 AND 32767 THEN 32767"                \
    " WHEN time BETWEEN -8388608 AND 8388607 THEN 8388607"          \
    " WHEN time BETWEEN -2147483648 AND 2147483647 THEN 2147483647" \
    " WHEN time BETWEEN -140737488355328 AND 140737488355327"       \
    "   THEN 140737488355327 ELSE 9223372036854775807 END"

typedef struct sqlite {
    char *path;
    sqlite3 *writer, *reader;
    sqlite3_stmt *insert, *remove, *select;
    store_identity *identity; /* during open */
    atomic_bool log_due;      /* the log may still contain forgotten data */
} sqlite;

/* ---- calling SQLite ---- */

static parsrec_status fail(const sqlite *self, sqlite3 *connection, const char *what,
                           parsrec_error *err)
{
    int code = sqlite3_errcode(connection) & 0xff;
    const char *why = sqlite3_errmsg(connection);
    if (code == SQLITE_NOMEM)
        return pr_fail_memory(err);
    if (code == SQLITE_NOTADB || code == SQLITE_CORRUPT)
        return pr_fail(err, PARSREC_E_FORMAT, "%s: %s: %s", self->path, what, why);
    if (code == SQLITE_BUSY || code == SQLITE_LOCKED)
        return pr_fail(err, PARSREC_E_IO, "%s: %s: another program holds it; try again", self->path,
                       what);
    return pr_fail(err, PARSREC_E_IO, "%s: %s: %s", self->path, what, why);
}

static parsrec_status run(const sqlite *self, sqlite3 *connection, const char *sql,
                          const char *what, parsrec_error *err)
{
    if (sqlite3_exec(connection, sql, NULL, NULL, NULL) == SQLITE_OK)
        return PARSREC_OK;
    return fail(self, connection, what, err);
}

static parsrec_status prepare(const sqlite *self, sqlite3 *connection, sqlite3_stmt **out,
                              const char *sql, parsrec_error *err)
{
    if (sqlite3_prepare_v3(connection, sql, -1, SQLITE_PREPARE_PERSISTENT, out, NULL) == SQLITE_OK)
        return PARSREC_OK;
    return fail(self, connection, "cannot use it as a store", err);
}

/* The single number that a statement returns. */
static parsrec_status ask_number(const sqlite *self, sqlite3 *connection, const char *sql,
                                 uint64_t *number, parsrec_error *err)
{
    sqlite3_stmt *statement = NULL;
    PR_TRY(prepare(self, connection, &statement, sql, err));
    parsrec_status status = PARSREC_OK;
    if (sqlite3_step(statement) == SQLITE_ROW)
        *number = (uint64_t)sqlite3_column_int64(statement, 0);
    else
        status = fail(self, connection, "cannot use it as a store", err);
    sqlite3_finalize(statement);
    return status;
}

static const char select_newest[] = "SELECT max(id) FROM parsrec_events";

/* ---- opening ---- */

static const char create[] = "CREATE TABLE parsrec_events ("
                             "  id INTEGER PRIMARY KEY AUTOINCREMENT," /* never reused */
                             "  origin INTEGER NOT NULL,"
                             "  user_key TEXT NOT NULL,"
                             "  session TEXT,"
                             "  time INTEGER,"
                             "  items TEXT," /* NULL: the user with user_hash was forgotten */
                             "  user_hash TEXT NOT NULL,"
                             "  type TEXT NOT NULL,"
                             "  event_id TEXT);";

/* Upgrades from version 1, which stored the keys of forgotten users as plain text. The file is
 * rewritten after the commit, because its pages may contain data that was deleted long ago. */
static const char upgrade[] =
    "DROP INDEX IF EXISTS parsrec_events_user;"
    "ALTER TABLE parsrec_events ADD COLUMN user_hash TEXT NOT NULL DEFAULT '';"
    "ALTER TABLE parsrec_events ADD COLUMN type TEXT NOT NULL DEFAULT 'buy';"
    "ALTER TABLE parsrec_events ADD COLUMN event_id TEXT;"
    "UPDATE parsrec_events SET user_hash = parsrec_hash(user_key);"
    "UPDATE parsrec_events SET user_key = '' WHERE items IS NULL;";

static const char finish[] =
    "CREATE INDEX parsrec_events_hash ON parsrec_events (user_hash);"
    "CREATE UNIQUE INDEX parsrec_events_id ON parsrec_events (event_id);"
    "CREATE TABLE parsrec_meta (name TEXT PRIMARY KEY, value TEXT NOT NULL);"
    "PRAGMA user_version = 2;";

static parsrec_status connect_to(const sqlite *self, sqlite3 **out, int flags, parsrec_error *err)
{
    int code = sqlite3_open_v2(self->path, out, flags | SQLITE_OPEN_FULLMUTEX, NULL);
    if (*out == NULL)
        return pr_fail_memory(err);
    sqlite3_busy_timeout(*out, BUSY_MILLISECONDS);
    return code == SQLITE_OK ? PARSREC_OK : fail(self, *out, "cannot open the store", err);
}

/* Makes a new file that only its owner may read: it contains the secret of the hashes. SQLite gives
 * the log and its index the same rights. An existing file is not even opened, because closing it would
 * drop the locks that this process may hold on it. */
static parsrec_status make_private(const char *path, parsrec_error *err)
{
    int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, S_IRUSR | S_IWUSR);
    if (fd < 0 && errno != EEXIST) /* SQLite would not say why */
        return pr_fail_errno(err, PARSREC_E_IO,
                             "%s: cannot open the store (--store names another place)", path);
    if (fd >= 0)
        close(fd);
    return PARSREC_OK;
}

/* parsrec_hash(TEXT) in SQL, while a store is upgraded. */
static void hash_in_sql(sqlite3_context *context, int count, sqlite3_value **values)
{
    const sqlite *self = sqlite3_user_data(context);
    char text[STORE_HASH_TEXT];
    (void)count;
    const char *key = (const char *)sqlite3_value_text(values[0]);
    if (key == NULL) {
        sqlite3_result_error_nomem(context);
        return;
    }
    store_hash_text(text, self->identity, key, (size_t)sqlite3_value_bytes(values[0]));
    sqlite3_result_text(context, text, -1, SQLITE_TRANSIENT);
}

/* Reads a text from the table of store properties, after setting it if missing. */
static parsrec_status settle_text(const sqlite *self, const char *name, char text[STORE_HASH_TEXT],
                                  parsrec_error *err)
{
    sqlite3_stmt *statement = NULL;
    char *sql = sqlite3_mprintf("INSERT OR IGNORE INTO parsrec_meta VALUES (%Q, %Q)", name, text);
    if (sql == NULL)
        return pr_fail_memory(err);
    parsrec_status status = run(self, self->writer, sql, "cannot make the store", err);
    sqlite3_free(sql);
    PR_TRY(status);
    PR_TRY(prepare(self, self->writer, &statement, "SELECT value FROM parsrec_meta WHERE name = ?",
                   err));
    sqlite3_bind_text(statement, 1, name, -1, SQLITE_STATIC);
    if (sqlite3_step(statement) == SQLITE_ROW &&
        sqlite3_column_bytes(statement, 0) == STORE_HASH_TEXT - 1)
        memcpy(text, sqlite3_column_text(statement, 0), STORE_HASH_TEXT);
    else
        status = fail(self, self->writer, "cannot read the store's id and secret", err);
    sqlite3_finalize(statement);
    return status;
}

static parsrec_status settle_identity(const sqlite *self, parsrec_error *err)
{
    char secret[STORE_HASH_TEXT];
    store_bytes_text(secret, self->identity->secret);
    PR_TRY(settle_text(self, "store_id", self->identity->id, err));
    PR_TRY(settle_text(self, "secret", secret, err));
    if (!store_text_bytes(self->identity->secret, secret))
        return pr_fail(err, PARSREC_E_FORMAT, "%s: the store's secret is damaged", self->path);
    return PARSREC_OK;
}

static parsrec_status make_tables(sqlite *self, parsrec_error *err)
{
    uint64_t version = 0;
    PR_TRY(ask_number(self, self->writer, "PRAGMA user_version", &version, err));
    if (version > SCHEMA)
        return pr_fail(err, PARSREC_E_VERSION,
                       "%s: the store has version %d, this parsrec knows up to %d", self->path,
                       (int)version, SCHEMA);
    if (version == 0)
        PR_TRY(run(self, self->writer, create, "cannot make the store", err));
    if (version == 1) {
        if (sqlite3_create_function(self->writer, "parsrec_hash", 1, SQLITE_UTF8, self, hash_in_sql,
                                    NULL, NULL) != SQLITE_OK)
            return fail(self, self->writer, "cannot upgrade the store", err);
        PR_TRY(run(self, self->writer, upgrade, "cannot upgrade the store", err));
    }
    if (version < SCHEMA)
        PR_TRY(run(self, self->writer, finish, "cannot make the store", err));
    if (version == 1)
        PR_TRY(run(self, self->writer, "INSERT INTO parsrec_meta VALUES ('rewrite', 'due')",
                   "cannot upgrade the store", err));
    return settle_identity(self, err);
}

/* Others may be opening the same file. */
static parsrec_status make_alone(sqlite *self, parsrec_error *err)
{
    PR_TRY(run(self, self->writer, "BEGIN IMMEDIATE", "cannot write to the store", err));
    parsrec_status status = make_tables(self, err);
    if (status == PARSREC_OK)
        status = run(self, self->writer, "COMMIT", "cannot make the store", err);
    if (status != PARSREC_OK)
        sqlite3_exec(self->writer, "ROLLBACK", NULL, NULL, NULL);
    return status;
}

/* Completes an upgrade, perhaps one that was interrupted here. */
static parsrec_status rewrite_if_due(sqlite *self, parsrec_error *err)
{
    uint64_t due = 0;
    PR_TRY(ask_number(self, self->writer,
                      "SELECT count(*) FROM parsrec_meta WHERE name = 'rewrite'", &due, err));
    if (due == 0)
        return PARSREC_OK;
    return run(self, self->writer, "VACUUM; DELETE FROM parsrec_meta WHERE name = 'rewrite'",
               "cannot upgrade the store", err);
}

/* Moves the log into the file. This is not possible while a reader uses an older state; it is tried
 * again later, and when the file is next opened. */
static void empty_log(sqlite *self, sqlite3 *connection)
{
    int code = sqlite3_wal_checkpoint_v2(connection, NULL, SQLITE_CHECKPOINT_TRUNCATE, NULL, NULL);
    atomic_store(&self->log_due, code != SQLITE_OK);
}

static parsrec_status connect_both(sqlite *self, parsrec_error *err)
{
    static const char settings[] = "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;"
                                   "PRAGMA secure_delete = ON"; /* deleted data is overwritten */
    PR_TRY(make_private(self->path, err));
    PR_TRY(connect_to(self, &self->writer, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, err));
    PR_TRY(run(self, self->writer, settings, "cannot use it as a store", err));
    PR_TRY(make_alone(self, err));
    PR_TRY(rewrite_if_due(self, err));
    empty_log(self, self->writer);
    PR_TRY(prepare(self, self->writer, &self->insert,
                   "INSERT INTO parsrec_events"
                   " (origin, user_key, session, time, items, user_hash, type, event_id)"
                   " VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (event_id) DO NOTHING",
                   err));
    /* The same number of bytes, so that the row stays where it is. The hash of the id is kept, so
     * that an event that is sent again later is not stored. */
    PR_TRY(prepare(self, self->writer, &self->remove,
                   "UPDATE parsrec_events SET user_hash = " NOBODY ", time = " SOME_TIME ","
                   " user_key = zeroblob(length(CAST(user_key AS BLOB))),"
                   " session = CASE WHEN session IS NOT NULL"
                   "   THEN zeroblob(length(CAST(session AS BLOB))) END,"
                   " items = CASE WHEN items IS NOT NULL"
                   "   THEN zeroblob(length(CAST(items AS BLOB))) END"
                   " WHERE user_hash = ?",
                   err));
    PR_TRY(connect_to(self, &self->reader, SQLITE_OPEN_READWRITE, err));
    return prepare(self, self->reader, &self->select,
                   "SELECT id, origin, user_key, session, time, items, user_hash, type"
                   " FROM parsrec_events WHERE id > ? AND user_hash <> " NOBODY " ORDER BY id",
                   err);
}

static void close_store(void *own)
{
    sqlite *self = own;
    sqlite3_finalize(self->insert);
    sqlite3_finalize(self->remove);
    sqlite3_finalize(self->select);
    sqlite3_close(self->reader);
    sqlite3_close(self->writer);
    pr_free(self->path);
    pr_free(self);
}

static parsrec_status open_store(void **own, const char *url, store_identity *identity,
                                 parsrec_error *err)
{
    const char *path = url + strlen(store_sqlite.prefix);
    if (path[0] == '\0' || path[0] == ':')
        return pr_fail(err, PARSREC_E_ARGUMENT, "sqlite: needs the name of a file, sqlite:FILE");
    sqlite *self = pr_alloc_zero(1, sizeof *self);
    if (self == NULL)
        return pr_fail_memory(err);
    self->identity = identity;
    self->path = pr_copy_string(path, strlen(path));
    parsrec_status status = self->path == NULL ? pr_fail_memory(err) : connect_both(self, err);
    if (status == PARSREC_OK)
        *own = self;
    else
        close_store(self);
    return status;
}

/* ---- writing ---- */

static parsrec_status insert_row(sqlite *self, store_batch *batch, store_row *row,
                                 parsrec_error *err)
{
    sqlite3_stmt *s = self->insert;
    bool forgets = row->items == NULL;
    sqlite3_bind_int64(s, 1, batch->origin);
    sqlite3_bind_text(s, 2, forgets ? "" : row->user, -1, SQLITE_STATIC);
    sqlite3_bind_text(s, 3, row->session, -1, SQLITE_STATIC); /* NULL pointers are NULLs */
    if (row->time == STORE_NO_TIME)
        sqlite3_bind_null(s, 4);
    else
        sqlite3_bind_int64(s, 4, row->time);
    sqlite3_bind_text(s, 5, row->items, -1, SQLITE_STATIC);
    sqlite3_bind_text(s, 6, row->user_hash, -1, SQLITE_STATIC);
    sqlite3_bind_text(s, 7, forgets ? "forget" : row->type, -1, SQLITE_STATIC);
    sqlite3_bind_text(s, 8, row->event_id[0] != '\0' ? row->event_id : NULL, -1, SQLITE_STATIC);
    parsrec_status status = PARSREC_OK;
    if (sqlite3_step(s) != SQLITE_DONE)
        status = fail(self, self->writer, "cannot write to the store", err);
    row->duplicate = sqlite3_changes(self->writer) == 0;
    if (!row->duplicate)
        batch->last = (uint64_t)sqlite3_last_insert_rowid(self->writer);
    sqlite3_reset(s);
    return status;
}

/* What a batch repeats may be the newest row of all. */
static parsrec_status insert_rows(sqlite *self, store_batch *batch, parsrec_error *err)
{
    bool repeats = false;
    for (size_t i = 0; i < batch->count; i++) {
        PR_TRY(insert_row(self, batch, batch->rows[i], err));
        repeats = repeats || batch->rows[i]->duplicate;
    }
    return repeats ? ask_number(self, self->writer, select_newest, &batch->last, err) : PARSREC_OK;
}

static parsrec_status remove_rows(sqlite *self, store_batch *batch, parsrec_error *err)
{
    parsrec_status status = PARSREC_OK;
    sqlite3_bind_text(self->remove, 1, batch->rows[0]->user_hash, -1, SQLITE_STATIC);
    if (sqlite3_step(self->remove) != SQLITE_DONE)
        status = fail(self, self->writer, "cannot forget a user", err);
    sqlite3_reset(self->remove);
    return status == PARSREC_OK ? insert_row(self, batch, batch->rows[0], err) : status;
}

typedef parsrec_status change(sqlite *self, store_batch *batch, parsrec_error *err);

static parsrec_status commit(sqlite *self, change *what, store_batch *batch, parsrec_error *err)
{
    PR_TRY(run(self, self->writer, "BEGIN IMMEDIATE", "cannot write to the store", err));
    parsrec_status status = what(self, batch, err);
    if (status == PARSREC_OK)
        status = run(self, self->writer, "COMMIT", "cannot write to the store", err);
    if (status != PARSREC_OK)
        sqlite3_exec(self->writer, "ROLLBACK", NULL, NULL, NULL);
    return status;
}

static parsrec_status append(void *own, store_batch *batch, parsrec_error *err)
{
    return commit(own, insert_rows, batch, err);
}

static parsrec_status forget(void *own, store_batch *batch, parsrec_error *err)
{
    sqlite *self = own;
    PR_TRY(commit(self, remove_rows, batch, err));
    empty_log(self, self->writer);
    return PARSREC_OK;
}

/* ---- reading ---- */

static const char *text_at(sqlite3_stmt *s, int column)
{
    return (const char *)sqlite3_column_text(s, column);
}

static parsrec_status take_row(sqlite3_stmt *s, store_take *take, void *context, parsrec_error *err)
{
    bool timed = sqlite3_column_type(s, 4) != SQLITE_NULL;
    bool forgets = sqlite3_column_type(s, 5) == SQLITE_NULL;
    const char *hash = text_at(s, 6);
    store_row row = {.user = text_at(s, 2),
                     .session = text_at(s, 3),
                     .items = text_at(s, 5),
                     .time = timed ? sqlite3_column_int64(s, 4) : STORE_NO_TIME,
                     .type = text_at(s, 7)};
    if (row.user == NULL || (row.items == NULL && !forgets) || hash == NULL || row.type == NULL)
        return pr_fail_memory(err); /* text could not be read */
    if (forgets && strlen(hash) < STORE_HASH_TEXT)
        strcpy(row.user_hash, hash);
    return take(context, (uint64_t)sqlite3_column_int64(s, 0), sqlite3_column_int64(s, 1), &row,
                err);
}

static parsrec_status read_rows(void *own, uint64_t after, store_take *take, void *context,
                                parsrec_error *err)
{
    sqlite *self = own;
    parsrec_status status = PARSREC_OK;
    int code;
    sqlite3_bind_int64(self->select, 1, (sqlite3_int64)after);
    while ((code = sqlite3_step(self->select)) == SQLITE_ROW && status == PARSREC_OK)
        status = take_row(self->select, take, context, err);
    if (status == PARSREC_OK && code != SQLITE_DONE)
        status = fail(self, self->reader, "cannot read the store", err);
    sqlite3_reset(self->select);
    /* Forgotten data that could not leave the log leaves it as soon as there is no reader. */
    if (atomic_load(&self->log_due)) {
        sqlite3_busy_timeout(self->reader, 0);
        empty_log(self, self->reader);
        sqlite3_busy_timeout(self->reader, BUSY_MILLISECONDS);
    }
    return status;
}

static parsrec_status newest(void *own, uint64_t *number, parsrec_error *err)
{
    sqlite *self = own;
    return ask_number(self, self->reader, select_newest, number, err);
}

static parsrec_status check(void *own, parsrec_error *err)
{
    sqlite *self = own;
    return run(self, self->reader, "SELECT 1 FROM parsrec_events LIMIT 1", "cannot read the store",
               err);
}

const store_backend store_sqlite = {
    .prefix = "sqlite:",
    .open = open_store,
    .close = close_store,
    .append = append,
    .forget = forget,
    .read = read_rows,
    .newest = newest,
    .check = check,
};
