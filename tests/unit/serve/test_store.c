/* The store of events: order, names of any kind, forgetting, threads that share commits, two servers on one
 * database, memory that fails. PARSREC_STORE names the database; without it a file of SQLite. */
#include "support/testing.h"

#include <pthread.h>
#include <stdatomic.h>
#include <sys/stat.h>
#include <time.h>

#include "base/memory.h"
#include "base/writer.h"
#include "serve/store.h"

static char folder[] = "/tmp/parsrec-store-XXXXXX";
static char url[512];
static bool in_file;

static int choose(void **state)
{
    (void)state;
    const char *given = getenv("PARSREC_STORE");
    if (mkdtemp(folder) == NULL)
        return -1;
    in_file = given == NULL;
    if (in_file)
        snprintf(url, sizeof url, "sqlite:%s/events", folder);
    else
        snprintf(url, sizeof url, "%s", given);
    return 0;
}

static int clear(void **state)
{
    (void)state;
    char command[64];
    snprintf(command, sizeof command, "rm -rf -- '%s'", folder);
    return system(command);
}

static store *open_store(void)
{
    store *s;
    parsrec_error err;
    assert_ok(store_open(&s, url, &err));
    return s;
}

/* ---- what is in it, as text ---- */

static const store_identity *shown; /* of the store that is being read */

/* A forgotten user has no name any more; these are the ones that the tests forget. */
static const char *name_of(const store_entry *e)
{
    static const char *const names[] = {"sheldon-4711", "o'hara", "ann", "old-and-gone"};
    uint8_t hash[PR_SIPHASH_BYTES];
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        pr_siphash(hash, shown->secret, names[i], strlen(names[i]));
        if (memcmp(hash, e->user_hash, sizeof hash) == 0)
            return names[i];
    }
    return "somebody";
}

static parsrec_status write_entry(void *context, const store_entry *e, parsrec_error *err)
{
    (void)err;
    if (e->forget) {
        assert_null(e->event.user);
        pr_write(context, "%s%s is forgotten\n", e->own ? "own " : "", name_of(e));
        return PARSREC_OK;
    }
    pr_write(context, "%s%s", e->own ? "own " : "", e->event.user);
    if (e->event.type != STORE_BUY)
        pr_write(context, " (%s)", store_type_names[e->event.type]);
    pr_write(context, " %s", e->event.session != NULL ? e->event.session : "-");
    if (e->event.time != STORE_NO_TIME)
        pr_write(context, " at %lld", (long long)e->event.time);
    for (size_t i = 0; i < e->event.count; i++)
        if (e->event.quantities[i] == 1)
            pr_write(context, "%s%s", i > 0 ? "," : ": ", e->event.items[i]);
        else
            pr_write(context, "%s%g x %s", i > 0 ? "," : ": ", e->event.quantities[i],
                     e->event.items[i]);
    pr_write(context, "\n");
    return PARSREC_OK;
}

static uint64_t last_number(store *s);

static void assert_entries(store *s, uint64_t after, const char *expected)
{
    parsrec_error err;
    pr_writer text = {0};
    uint64_t last;
    pr_write(&text, "%s", "");
    shown = store_identity_of(s);
    assert_ok(store_replay(s, after, write_entry, &text, &last, &err));
    assert_string_equal(text.text, expected);
    pr_writer_free(&text);
    assert_int_equal(last, last_number(s));
}

static parsrec_status pass_over(void *context, const store_entry *e, parsrec_error *err)
{
    uint64_t *before = context;
    assert_true(e->number > *before);
    *before = e->number;
    (void)err;
    return PARSREC_OK;
}

static uint64_t last_number(store *s)
{
    parsrec_error err;
    uint64_t last, before = 0;
    assert_ok(store_replay(s, 0, pass_over, &before, &last, &err));
    return last;
}

static void append(store *s, const char *user, const char *session, const char *item)
{
    parsrec_error err;
    const char *items[] = {item};
    store_event e = {
        .user = user, .session = session, .items = items, .count = 1, .time = STORE_NO_TIME};
    assert_ok(store_append(s, &e, 1, NULL, &err));
}

/* ---- tests ---- */

static void events_come_back_in_order(void **state)
{
    (void)state;
    parsrec_error err;
    store *s = open_store();
    uint64_t start = last_number(s);
    const char *items[] = {"milk", "a \"quoted\", \\ [key]", "T\xC3\xA9\n\xF0\x9F\x8D\x9E"};
    store_event events[] = {
        {.user = "ann", .session = "till 3", .items = items, .count = 3, .time = 1700000000},
        {.user = "o'neil\"; --", .items = items, .count = 1, .time = -5},
        {.user = "ann", .session = "", .items = items, .count = 0, .time = STORE_NO_TIME},
    };
    assert_ok(store_append(s, events, 3, NULL, &err));
    append(s, "bob", NULL, "eggs");
    assert_ok(store_append(s, NULL, 0, NULL, &err));
    static const char all[] = "own ann till 3 at 1700000000: milk,a \"quoted\", \\ [key],"
                              "T\xC3\xA9\n\xF0\x9F\x8D\x9E\n"
                              "own o'neil\"; -- - at -5: milk\n"
                              "own ann \n"
                              "own bob -: eggs\n";
    assert_entries(s, start, all);
    assert_ok(store_check(s, &err));
    store_close(s);
    /* Opened again, it is all there, and nobody's own. */
    s = open_store();
    assert_entries(s, start,
                   "ann till 3 at 1700000000: milk,a \"quoted\", \\ [key],T\xC3\xA9\n"
                   "\xF0\x9F\x8D\x9E\no'neil\"; -- - at -5: milk\nann \nbob -: eggs\n");
    assert_entries(s, last_number(s), "");
    store_close(s);
}

static void forgetting_removes_and_remembers(void **state)
{
    (void)state;
    parsrec_error err;
    store *s = open_store();
    uint64_t start = last_number(s);
    append(s, "sheldon-4711", "a", "milk");
    append(s, "dora", "b", "eggs");
    append(s, "sheldon-4711", "c", "secret-item");
    assert_ok(store_forget(s, "sheldon-4711", NULL, &err));
    append(s, "sheldon-4711", "d", "tea");
    assert_entries(s, start,
                   "own dora b: eggs\nown sheldon-4711 is forgotten\nown sheldon-4711 d: tea\n");
    assert_ok(store_forget(s, "sheldon-4711", NULL, &err)); /* again, and one who never was there */
    assert_ok(store_forget(s, "o'hara", NULL, &err));
    assert_entries(s, start,
                   "own dora b: eggs\nown sheldon-4711 is forgotten\nown o'hara is forgotten\n");
    assert_fails(store_forget(s, "", NULL, &err), PARSREC_E_ARGUMENT, "key is empty");
    store_close(s);
}

/* How often a text is in the files of the store, the log included. */
static int occurrences(const char *text)
{
    char command[256], line[32] = "";
    snprintf(command, sizeof command, "cat '%s'/events* | grep -aoF -- '%s' | wc -l", folder, text);
    FILE *pipe = popen(command, "r");
    assert_non_null(pipe);
    assert_non_null(fgets(line, sizeof line, pipe));
    pclose(pipe);
    return atoi(line);
}

/* Rows of many lengths, among those of others, some of whom are forgotten too; while the store is open, and
 * with the log that it has then. */
static void nothing_of_the_forgotten_is_in_the_file(void **state)
{
    (void)state;
    parsrec_error err;
    if (!in_file)
        return;
    store *s = open_store();
    static char item[3000];
    const char *items[] = {item, "milk"};
    for (int i = 0; i < 600; i++) {
        char user[16], session[48];
        snprintf(user, sizeof user, i % 3 == 0 ? "Zoe-%d" : "kept-%d", i % 30);
        snprintf(session, sizeof session, "visit-of-%s-%d", user, i);
        int size = snprintf(item, sizeof item, "thing-of-%s", user);
        memset(item + size, 'x', (size_t)(i * 37 % 2900));
        item[size + i * 37 % 2900] = '\0';
        store_event e = {
            .user = user, .session = session, .items = items, .count = 2, .time = i, .id = session};
        if (i % 3 == 0)
            e.time = 0x5A6F652D; /* in 2018; SQLite stores the bytes "Zoe-" */
        assert_ok(store_append(s, &e, 1, NULL, &err));
        if (i % 100 == 99)
            assert_ok(store_forget(s, user, NULL, &err)); /* kept-9, and again */
    }
    assert_true(occurrences("Zoe-") > 100);
    for (int i = 0; i < 30; i += 3) {
        char user[32];
        snprintf(user, sizeof user, "Zoe-%d", i);
        assert_ok(store_forget(s, user, NULL, &err));
    }
    assert_int_equal(occurrences("Zoe-"), 0);
    assert_true(occurrences("thing-of-kept-1") > 20);
    store_close(s);
    assert_int_equal(occurrences("Zoe-"), 0);
}

/* Rights of a file of the store. */
static unsigned rights(const char *ending)
{
    char path[256];
    struct stat file;
    snprintf(path, sizeof path, "%s/private%s", folder, ending);
    assert_int_equal(stat(path, &file), 0);
    return file.st_mode & 0777;
}

/* It contains the secret of the hashes. */
static void only_its_owner_may_read_a_new_store(void **state)
{
    (void)state;
    parsrec_error err;
    char path[256];
    store *s;
    if (!in_file)
        return;
    mode_t before = umask(022);
    snprintf(path, sizeof path, "sqlite:%s/private", folder);
    assert_ok(store_open(&s, path, &err));
    append(s, "ann", "1", "milk");
    umask(before);
    assert_int_equal(rights(""), 0600);
    assert_int_equal(rights("-wal"), 0600);
    assert_int_equal(rights("-shm"), 0600);
    store_close(s);
    assert_int_equal(chmod(path + strlen("sqlite:"), 0640), 0); /* its owner may decide otherwise */
    assert_ok(store_open(&s, path, &err));
    store_close(s);
    assert_int_equal(rights(""), 0640);
}

static void an_id_is_stored_once(void **state)
{
    (void)state;
    parsrec_error err;
    store *s = open_store();
    uint64_t start = last_number(s);
    store_receipt r;
    char id[32]; /* another one in every run on the same database */
    snprintf(id, sizeof id, "order %llu", (unsigned long long)start);
    const char *items[] = {"milk"};
    store_event events[] = {
        {.user = "ida", .session = "1", .items = items, .count = 1, .time = 1, .id = id},
        {.user = "ida", .session = "2", .items = items, .count = 1, .time = 2, .id = id},
        {.user = "otto", .session = "3", .items = items, .count = 1, .time = 3, .id = id},
        {.user = "ida", .session = "4", .items = items, .count = 1, .time = 4},
    };
    assert_ok(store_append(s, events, 4, &r, &err));
    assert_int_equal(r.stored, 3); /* another user's is another event */
    assert_int_equal(r.last, last_number(s));
    assert_ok(store_append(s, events, 1, &r, &err));
    assert_int_equal(r.stored, 0);
    assert_int_equal(r.last, last_number(s)); /* whoever is there has the event that it repeats */
    store *other = open_store();              /* another server */
    assert_ok(store_append(other, events, 4, &r, &err));
    assert_int_equal(r.stored, 1);
    assert_int_equal(r.last, last_number(s));
    store_close(other);
    static const char three[] = "own ida 1 at 1: milk\nown otto 3 at 3: milk\n"
                                "own ida 4 at 4: milk\nida 4 at 4: milk\n";
    assert_entries(s, start, three);
    /* What was forgotten does not come back with a client that tries again. */
    assert_ok(store_forget(s, "ida", &r, &err));
    assert_int_equal(r.last, last_number(s));
    assert_ok(store_append(s, events, 1, &r, &err));
    assert_int_equal(r.stored, 0);
    assert_entries(s, start, "own otto 3 at 3: milk\nown somebody is forgotten\n");
    store_close(s);
}

static void types_and_quantities_are_kept(void **state)
{
    (void)state;
    parsrec_error err;
    store *s = open_store();
    uint64_t start = last_number(s);
    const char *items[] = {"milk", "eggs", "ham"};
    const double quantities[] = {2, 1, 0.125};
    store_event events[] = {
        {.user = "ann", .items = items, .quantities = quantities, .count = 3, .time = 1},
        {.user = "ann", .items = items, .count = 1, .time = 2, .type = STORE_CART},
        {.user = "ann", .items = items, .count = 1, .time = 3, .type = STORE_VIEW},
    };
    assert_ok(store_append(s, events, 3, NULL, &err));
    assert_entries(s, start,
                   "own ann - at 1: 2 x milk,eggs,0.125 x ham\nown ann (cart) - at 2: milk\n"
                   "own ann (view) - at 3: milk\n");
    store_close(s);
}

static void bad_events_get_a_sentence(void **state)
{
    (void)state;
    parsrec_error err;
    store *s = open_store();
    uint64_t start = last_number(s);
    const char *good[] = {"milk"}, *bad[] = {"\xff"};
    char longest[STORE_NAME_MOST + 2];
    memset(longest, 'x', sizeof longest);
    longest[sizeof longest - 1] = '\0';
    store_event e[] = {{.user = "ann", .items = good, .count = 1},
                       {.user = "", .items = good, .count = 1}};
    assert_fails(store_append(s, e, 2, NULL, &err), PARSREC_E_ARGUMENT, "no user");
    e[1] = (store_event){.user = "ann", .items = bad, .count = 1};
    assert_fails(store_append(s, e, 2, NULL, &err), PARSREC_E_ARGUMENT,
                 "an item's key is not valid");
    e[1] = (store_event){.user = "\xc0", .items = good, .count = 1};
    assert_fails(store_append(s, e, 2, NULL, &err), PARSREC_E_ARGUMENT,
                 "the user's key is not valid");
    e[1] = (store_event){.user = longest, .items = good, .count = 1};
    assert_fails(store_append(s, e, 2, NULL, &err), PARSREC_E_LIMIT,
                 "has 1025 bytes, at most 1024");
    e[1] = (store_event){.user = "ann", .session = longest, .items = good, .count = 1};
    assert_fails(store_append(s, e, 2, NULL, &err), PARSREC_E_LIMIT, "the session's name has");
    assert_entries(s, start, ""); /* all or none */
    longest[STORE_NAME_MOST] = '\0';
    e[1] = (store_event){.user = longest, .session = longest, .items = good, .count = 1};
    assert_ok(store_append(s, e, 2, NULL, &err));
    store_close(s);
}

static parsrec_status stop_at(void *context, const store_entry *e, parsrec_error *err)
{
    (void)e;
    return ++*(int *)context == 2 ? pr_fail(err, PARSREC_E_STOPPED, "enough") : PARSREC_OK;
}

static void a_visitor_may_stop(void **state)
{
    (void)state;
    parsrec_error err;
    store *s = open_store();
    uint64_t start = last_number(s), last;
    append(s, "ann", "1", "milk");
    append(s, "ann", "2", "milk");
    append(s, "ann", "3", "milk");
    int calls = 0;
    assert_fails(store_replay(s, start, stop_at, &calls, &last, &err), PARSREC_E_STOPPED, "enough");
    assert_entries(s, last, "own ann 2: milk\nown ann 3: milk\n");
    store_close(s);
}

/* ---- threads, and two servers ---- */

enum { THREADS = 8, ROUNDS = 60 };

typedef struct writer {
    pthread_t thread;
    store *s;
    int number;
    atomic_int *done, *problems;
} writer;

static void *write_many(void *context)
{
    writer *w = context;
    for (int i = 0; i < ROUNDS; i++) {
        char user[32], session[16];
        snprintf(user, sizeof user, "writer %d", w->number);
        snprintf(session, sizeof session, "%d", i);
        const char *items[] = {"milk", "eggs"};
        store_event e[] = {{.user = user, .session = session, .items = items, .count = 2},
                           {.user = "all", .items = items, .count = 1}};
        *w->problems += store_append(w->s, e, 2, NULL, NULL) != PARSREC_OK;
        if (i % 20 == 0)
            *w->problems += store_forget(w->s, "somebody", NULL, NULL) != PARSREC_OK;
    }
    ++*w->done;
    return NULL;
}

typedef struct census {
    int next[THREADS]; /* session that each writer must come with */
    int all;
    uint64_t last;
    bool good;
} census;

static parsrec_status count_entry(void *context, const store_entry *e, parsrec_error *err)
{
    (void)err;
    census *c = context;
    int number;
    c->good = c->good && e->number > c->last;
    c->last = e->number;
    if (e->forget)
        return PARSREC_OK;
    if (sscanf(e->event.user, "writer %d", &number) == 1)
        c->good = c->good && atoi(e->event.session) == c->next[number]++ && e->event.count == 2;
    c->all += strcmp(e->event.user, "all") == 0;
    return PARSREC_OK;
}

/* Follows while it is written: nothing is missed, nothing comes twice, each writer's events in order. */
static void threads_and_servers_share_it(void **state)
{
    (void)state;
    parsrec_error err;
    store *stores[] = {open_store(), open_store()};
    store *third = open_store();
    uint64_t last = last_number(third);
    census c = {.good = true, .last = last};
    atomic_int done = 0, problems = 0;
    writer writers[THREADS];
    for (int i = 0; i < THREADS; i++) {
        writers[i] =
            (writer){.s = stores[i % 2], .number = i, .done = &done, .problems = &problems};
        assert_int_equal(pthread_create(&writers[i].thread, NULL, write_many, &writers[i]), 0);
    }
    for (bool more = true; more;) {
        more = done < THREADS;
        assert_ok(store_replay(third, last, count_entry, &c, &last, &err));
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(writers[i].thread, NULL);
    assert_int_equal(problems, 0);
    assert_true(c.good);
    assert_int_equal(c.all, THREADS * ROUNDS);
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(c.next[i], ROUNDS);
    for (int i = 0; i < 2; i++)
        store_close(stores[i]);
    store_close(third);
}

typedef struct follower {
    store *s;
    uint64_t last;
    atomic_uint_fast64_t seen;
    atomic_bool stop;
    _Atomic parsrec_status status;
} follower;

/* As a server does it: replays only after news. */
static void *follow_news(void *context)
{
    follower *f = context;
    while (!f->stop && f->status == PARSREC_OK) {
        uint64_t news = 0, before = f->last;
        f->status = store_wait(f->s, 60000, &news, NULL);
        if (f->status == PARSREC_OK && news > f->last)
            f->status = store_replay(f->s, f->last, pass_over, &before, &f->last, NULL);
        f->seen = f->last;
    }
    return NULL;
}

/* In PostgreSQL it waits a minute for news: a test that relied on anything else would take an hour. */
static void who_waits_hears_of_what_others_add(void **state)
{
    (void)state;
    parsrec_error err;
    store *s = open_store();
    follower f = {.s = open_store()};
    pthread_t thread;
    uint64_t first = last_number(s);
    f.last = first;
    assert_int_equal(pthread_create(&thread, NULL, follow_news, &f), 0);
    const char *items[] = {"milk"};
    const store_event e = {.user = "ann", .items = items, .count = 1};
    store_receipt r = {0};
    for (int i = 0; i < (in_file ? 4 : 50); i++) { /* SQLite announces nothing: it takes a while */
        if (i == 2)
            assert_ok(store_forget(s, "ann", &r, &err));
        else
            assert_ok(store_append(s, &e, 1, &r, &err));
        assert_true(r.last > first);
        for (const struct timespec pause = {.tv_nsec = 1000000}; f.seen < r.last && f.status == 0;)
            nanosleep(&pause, NULL);
    }
    f.stop = true;
    store_wake(f.s);
    pthread_join(thread, NULL);
    assert_int_equal(f.status, PARSREC_OK);
    assert_int_equal(f.last, r.last);
    store_close(s);
    store_close(f.s);
}

/* ---- what can go wrong ---- */

static void out_of_memory_is_a_status(void **state)
{
    (void)state;
    parsrec_error err;
    bool whole = false;
    size_t failures = 0;
    /* Only new entries are replayed: every entry needs memory, and a database that other tests filled has
     * thousands of them. */
    store *filled = open_store();
    uint64_t from = last_number(filled);
    store_close(filled);
    for (size_t i = 0; !whole; i++) {
        store *s = NULL;
        const char *items[] = {"milk"};
        store_event e = {.user = "ann", .items = items, .count = 1};
        uint64_t last, before = 0;
        pr_memory_fail_after(i);
        parsrec_status status = store_open(&s, url, &err);
        if (status == PARSREC_OK)
            status = store_append(s, &e, 1, NULL, &err);
        if (status == PARSREC_OK)
            status = store_forget(s, "ann", NULL, &err);
        if (status == PARSREC_OK)
            status = store_replay(s, from, pass_over, &before, &last, &err);
        pr_memory_fail_after(SIZE_MAX);
        whole = status == PARSREC_OK;
        if (!whole)
            assert_int_equal(status, PARSREC_E_MEMORY);
        failures += !whole;
        store_close(s);
    }
    assert_true(failures > 3);
}

static void stores_that_are_none(void **state)
{
    (void)state;
    parsrec_error err;
    store *s;
    char other[600];
    assert_fails(store_open(&s, "mysql://x", &err), PARSREC_E_ARGUMENT, "a store is sqlite:FILE");
    assert_null(s);
    assert_fails(store_open(&s, "sqlite:", &err), PARSREC_E_ARGUMENT, "name of a file");
    assert_fails(store_open(&s, "sqlite::memory:", &err), PARSREC_E_ARGUMENT, "name of a file");
    snprintf(other, sizeof other, "sqlite:%s/no/such/folder", folder);
    assert_fails(store_open(&s, other, &err), PARSREC_E_IO, "cannot open the store");
    snprintf(other, sizeof other, "%s/text", folder);
    FILE *f = fopen(other, "w");
    assert_non_null(f);
    for (int i = 0; i < 300; i++)
        fputs("this is no database\n", f);
    fclose(f);
    snprintf(other, sizeof other, "sqlite:%s/text", folder);
    assert_fails(store_open(&s, other, &err), PARSREC_E_FORMAT, "not a database");
    assert_fails(store_open(&s, "postgresql://a:secret@/x?nonsense", &err), PARSREC_E_ARGUMENT,
                 "the store's address");
    assert_null(strstr(err.message, "secret"));
    assert_fails(store_open(&s, "postgresql://a:secret@/x?host=/nowhere", &err), PARSREC_E_IO,
                 "cannot connect");
    assert_null(strstr(err.message, "secret"));
    assert_null(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(events_come_back_in_order),
        cmocka_unit_test(forgetting_removes_and_remembers),
        cmocka_unit_test(nothing_of_the_forgotten_is_in_the_file),
        cmocka_unit_test(only_its_owner_may_read_a_new_store),
        cmocka_unit_test(an_id_is_stored_once),
        cmocka_unit_test(types_and_quantities_are_kept),
        cmocka_unit_test(bad_events_get_a_sentence),
        cmocka_unit_test(a_visitor_may_stop),
        cmocka_unit_test(threads_and_servers_share_it),
        cmocka_unit_test(who_waits_hears_of_what_others_add),
        cmocka_unit_test(out_of_memory_is_a_status),
        cmocka_unit_test(stores_that_are_none),
    };
    return cmocka_run_group_tests(tests, choose, clear);
}
