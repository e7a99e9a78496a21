/* Answers for every user, in rounds of bounded memory.
 *
 * FILE.part grows round by round; after some of them it is synced, and FILE.mark, which is replaced
 * atomically, says how many users and bytes of it are certain, and for which model, data and request.
 * The next run of the same command cuts FILE.part there and continues. Answers do not depend on
 * threads or rounds, so the bytes are those of a run that was never stopped. At the end FILE.part
 * gets its name. */
#include "cli/recommend_all.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/files.h"
#include "base/json.h"
#include "base/memory.h"
#include "base/text.h"
#include "base/writer.h"
#include "base/xxh3.h"
#include "cli/shared.h"
#include "cli/terminal.h"

enum {
    ROUND_MOST = 4096,   /* users */
    HITS_MOST = 1 << 18, /* of a round, unless a single user wants more */
    MARK_SECONDS = 2,
};

typedef struct job {
    const parsrec_model *model;
    const cli_all *all;
    parsrec_request request;
    parsrec_scratch *own; /* for JSON */
    parsrec_hit *hits;
    parsrec_answer *answers;
    int32_t *users;
    size_t round, count; /* users of a round, and in all */
    bool writes;         /* rank 0 */
    bool direct;         /* to stdout, a device or a pipe: no part and no mark */
    char *place;         /* of the finished file; NULL: stdout */
    pr_writer text;
    FILE *part;
    pr_path part_path, mark_path;
    char what[17]; /* of the mark: a hash of everything that the bytes depend on */
    uint64_t done, bytes, first_done;
    double began, marked;
} job;

bool cli_all_is_jsonl(const char *path)
{
    size_t size = strlen(path);
    return (size > 6 && strcmp(path + size - 6, ".jsonl") == 0) ||
           (size > 7 && strcmp(path + size - 7, ".ndjson") == 0);
}

/* ---- what the file depends on ---- */

static void hash_file(XXH3_state_t *state, const char *path)
{
    struct stat about;
    if (path == NULL || stat(path, &about) != 0)
        return;
    int64_t facts[] = {(int64_t)about.st_size, (int64_t)about.st_mtim.tv_sec,
                       (int64_t)about.st_mtim.tv_nsec, (int64_t)about.st_ino};
    XXH3_64bits_update(state, facts, sizeof facts);
}

static void hash_numbers(XXH3_state_t *state, const parsrec_numbers *numbers)
{
    uint64_t count = numbers->count;
    XXH3_64bits_update(state, &count, sizeof count);
    if (count > 0)
        XXH3_64bits_update(state, numbers->list, count * sizeof *numbers->list);
}

static void describe(job *j)
{
    XXH3_state_t state;
    const parsrec_request *r = &j->request;
    const char *version = parsrec_version();
    uint64_t numbers[] = {r->k, r->max_per_category, j->all->jsonl, r->feature_count};
    XXH3_64bits_reset(&state);
    XXH3_64bits_update(&state, version, strlen(version) + 1);
    XXH3_64bits_update(&state, numbers, sizeof numbers);
    hash_file(&state, j->all->model_path);
    hash_file(&state, j->all->data_path);
    hash_numbers(&state, &r->basket);
    hash_numbers(&state, &r->exclude);
    hash_numbers(&state, &r->only);
    hash_numbers(&state, &r->categories);
    hash_numbers(&state, &r->exclude_categories);
    for (size_t i = 0; i < r->feature_count; i++) {
        const parsrec_feature *f = &r->features[i];
        const char *word = f->word != NULL ? f->word : "";
        XXH3_64bits_update(&state, f->name, strlen(f->name) + 1);
        XXH3_64bits_update(&state, word, strlen(word) + 1);
        XXH3_64bits_update(&state, &f->number, sizeof f->number);
    }
    snprintf(j->what, sizeof j->what, "%016llx", (unsigned long long)XXH3_64bits_digest(&state));
}

/* ---- the unfinished file and its mark ---- */

static parsrec_status io_failed(const char *path, const char *what, parsrec_error *err)
{
    return pr_fail(err, PARSREC_E_IO, "%s: %s failed: %s", path, what, strerror(errno));
}

static parsrec_status save_mark(job *j, parsrec_error *err)
{
    pr_writer mark = {0};
    if (fflush(j->part) != 0 || fsync(fileno(j->part)) != 0)
        return io_failed(j->part_path.text, "writing", err);
    pr_write(&mark, "{\"what\": \"%s\", \"users\": %llu, \"bytes\": %llu}\n", j->what,
             (unsigned long long)j->done, (unsigned long long)j->bytes);
    j->marked = pr_now();
    return pr_writer_save(&mark, j->mark_path.text, err);
}

/* Where an earlier run of the same command ended. False if there is none. */
static bool read_mark(job *j, bool *other)
{
    const char *what;
    json_int_t users, bytes;
    struct stat about;
    json_t *mark = NULL;
    bool found =
        pr_json_load(&mark, j->mark_path.text, NULL) == PARSREC_OK &&
        json_unpack(mark, "{s:s, s:I, s:I}", "what", &what, "users", &users, "bytes", &bytes) == 0;
    *other = found && strcmp(what, j->what) != 0;
    found = found && !*other && users >= 0 && (uint64_t)users <= j->count && bytes >= 0 &&
            stat(j->part_path.text, &about) == 0 && about.st_size >= (off_t)bytes;
    if (found) {
        j->done = (uint64_t)users;
        j->bytes = (uint64_t)bytes;
    }
    json_decref(mark);
    return found;
}

/* Two runs to one output would mix their bytes: the second is refused. A file that the first has
 * just renamed is not the one that has the name now. */
static parsrec_status lock_part(job *j, int *out, parsrec_error *err)
{
    const char *path = j->part_path.text;
    for (;;) {
        struct stat mine, there;
        int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
        if (fd < 0)
            return io_failed(path, "opening", err);
        if (flock(fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
            close(fd);
            return pr_fail(err, PARSREC_E_IO,
                           "%s: another run is writing it; wait for its end or name another output",
                           path);
        }
        *out = fd;
        if (fstat(fd, &mine) == 0 && stat(path, &there) == 0 && mine.st_ino == there.st_ino)
            return PARSREC_OK;
        close(fd);
    }
}

static parsrec_status open_part(job *j, parsrec_error *err)
{
    bool other = false;
    int fd = -1;
    const char *path = j->part_path.text;
    if (j->direct) {
        j->part = j->place == NULL ? stdout : fopen(path, "wb");
        return j->part != NULL ? PARSREC_OK : io_failed(path, "opening", err);
    }
    PR_TRY(lock_part(j, &fd, err));
    bool again = read_mark(j, &other);
    j->part = fdopen(fd, "r+b");
    if (j->part == NULL) {
        close(fd);
        return pr_fail_memory(err);
    }
    if (ftruncate(fd, (off_t)j->bytes) != 0 || fseeko(j->part, (off_t)j->bytes, SEEK_SET) != 0)
        return io_failed(path, "cutting", err);
    pr_digits done, all;
    if (again)
        fprintf(stderr, "continuing %s after %s of %s users\n", path, pr_digits_of(&done, j->done),
                pr_digits_of(&all, j->count));
    else if (other)
        fprintf(stderr, "note: %s is of another model or request; starting again\n", path);
    return PARSREC_OK;
}

static parsrec_status close_part(job *j, parsrec_error *err)
{
    FILE *part = j->part;
    parsrec_status status = PARSREC_OK;
    j->part = NULL;
    if (fflush(part) != 0 || (!j->direct && fsync(fileno(part)) != 0))
        status = io_failed(j->part_path.text, "writing", err);
    else if (!j->direct)
        status = pr_put_in_place(fileno(part), j->part_path.text, j->place, err);
    if (status == PARSREC_OK && !j->direct)
        unlink(j->mark_path.text);
    if (part != stdout)
        fclose(part); /* and with it the lock */
    return status;
}

/* ---- lines ---- */

static void write_rows(job *j, int32_t user, const parsrec_answer *answer, const parsrec_hit *hits)
{
    pr_writer *w = &j->text;
    parsrec_name key = parsrec_model_key(j->model, PARSREC_USER, user);
    for (size_t i = 0; i < answer->count; i++) {
        parsrec_name item = parsrec_model_key(j->model, PARSREC_ITEM, hits[i].item);
        pr_write_csv_bytes(w, key.bytes, key.size);
        pr_write_bytes(w, ",", 1);
        pr_write_count(w, i + 1);
        pr_write_bytes(w, ",", 1);
        pr_write_csv_bytes(w, item.bytes, item.size);
        pr_write_bytes(w, ",", 1);
        pr_write_float(w, hits[i].score);
        pr_write_bytes(w, "\n", 1);
    }
}

static parsrec_status write_line(job *j, int32_t user, const parsrec_answer *answer,
                                 const parsrec_hit *hits, parsrec_error *err)
{
    const char *text;
    parsrec_name name = parsrec_model_key(j->model, PARSREC_USER, user);
    char *key = pr_copy_string(name.bytes, name.size);
    if (key == NULL)
        return pr_fail_memory(err);
    parsrec_answer_parts parts = {
        .user = key, .request = &j->request, .answer = *answer, .hits = hits};
    parsrec_status status = parsrec_answer_json(j->model, j->own, &parts, &text, err);
    pr_free(key);
    if (status == PARSREC_OK)
        pr_write(&j->text, "%s\n", text);
    return status;
}

static parsrec_status write_text(job *j, parsrec_error *err)
{
    if (j->text.failed)
        return pr_fail_memory(err);
    if (fwrite(j->text.text, 1, j->text.size, j->part) != j->text.size)
        return io_failed(j->part_path.text, "writing", err);
    j->bytes += j->text.size;
    j->text.size = 0;
    return PARSREC_OK;
}

/* ---- rounds ---- */

/* Reports of a round become those of all of them. */
static int on_progress(void *context, const parsrec_progress *p)
{
    const job *j = context;
    const parsrec_hooks *hooks = cli_hooks();
    char note[96];
    uint64_t done = j->done + p->done;
    pr_digits a, b, c;
    double seconds = pr_now() - j->began;
    double rate = seconds > 0 ? (double)(done - j->first_done) / seconds : 0;
    snprintf(note, sizeof note, "%s of %s users, %s users/s", pr_digits_of(&a, done),
             pr_digits_of(&b, j->count), pr_digits_of(&c, (uint64_t)(rate + 0.5)));
    return hooks->on_progress(hooks->context, &(parsrec_progress){.stage = "recommending",
                                                                  .unit = "users",
                                                                  .note = note,
                                                                  .done = done,
                                                                  .total = j->count});
}

static parsrec_status do_round(job *j, parsrec_error *err)
{
    size_t left = j->count - (size_t)j->done, n = left < j->round ? left : j->round;
    parsrec_hooks hooks = {.context = j, .on_progress = on_progress};
    for (size_t i = 0; i < n; i++)
        j->users[i] = (int32_t)(j->done + i);
    parsrec_many many = {.request = &j->request,
                         .users = j->users,
                         .count = n,
                         .threads = j->all->threads,
                         .ranks = j->all->ranks};
    PR_TRY(parsrec_recommend_many(j->model, &many, j->hits, j->answers, j->writes ? &hooks : NULL,
                                  err));
    for (size_t i = 0; j->writes && i < n; i++) {
        const parsrec_hit *hits = j->hits + i * j->request.k;
        if (j->all->jsonl)
            PR_TRY(write_line(j, j->users[i], &j->answers[i], hits, err));
        else
            write_rows(j, j->users[i], &j->answers[i], hits);
    }
    if (j->writes)
        PR_TRY(write_text(j, err));
    j->done += n;
    return PARSREC_OK;
}

static parsrec_status do_all(job *j, parsrec_error *err)
{
    parsrec_status status = j->writes ? open_part(j, err) : PARSREC_OK;
    PR_TRY(parsrec_ranks_agree(j->all->ranks, status, err));
    PR_TRY(parsrec_ranks_broadcast(j->all->ranks, &j->done, sizeof j->done, err));
    j->began = pr_now();
    j->first_done = j->done;
    if (j->writes && j->done == 0 && !j->all->jsonl) {
        pr_write(&j->text, "user,rank,item,score\n");
        PR_TRY(write_text(j, err));
    }
    while (j->done < j->count) {
        PR_TRY(do_round(j, err));
        if (j->writes && !j->direct && j->done < j->count && pr_now() - j->marked >= MARK_SECONDS)
            PR_TRY(save_mark(j, err));
    }
    return j->writes ? close_part(j, err) : PARSREC_OK;
}

static parsrec_status make_paths(job *j, parsrec_error *err)
{
    j->direct = strcmp(j->all->output, "-") == 0;
    if (!j->direct)
        PR_TRY(pr_output_place(&j->place, &j->direct, j->all->output, err));
    snprintf(j->part_path.text, sizeof j->part_path.text, "%s%s",
             j->place != NULL ? j->place : "standard output", j->direct ? "" : ".part");
    if (!j->direct)
        snprintf(j->mark_path.text, sizeof j->mark_path.text, "%s.mark", j->place);
    return PARSREC_OK;
}

static parsrec_status begin(job *j, parsrec_error *err)
{
    size_t items = parsrec_model_size(j->model, PARSREC_ITEM);
    j->count = parsrec_model_size(j->model, PARSREC_USER);
    j->request.k = j->request.k < items ? j->request.k : items;
    j->round = HITS_MOST / j->request.k;
    j->round = j->round < 1 ? 1 : j->round > ROUND_MOST ? ROUND_MOST : j->round;
    j->round *= parsrec_ranks_size(j->all->ranks);
    j->writes = parsrec_ranks_rank(j->all->ranks) == 0;
    PR_TRY(make_paths(j, err));
    describe(j);
    j->hits = pr_alloc(j->round * j->request.k, sizeof *j->hits);
    j->answers = pr_alloc(j->round, sizeof *j->answers);
    j->users = pr_alloc(j->round, sizeof *j->users);
    if (j->hits == NULL || j->answers == NULL || j->users == NULL)
        return pr_fail_memory(err);
    return parsrec_scratch_new(&j->own, j->model, j->request.basket.count, err);
}

/* What was stopped in order is marked up to its last round; without a round nothing is left. */
static int report_failure(job *j, parsrec_error *err)
{
    parsrec_error more;
    bool ours = !j->direct && j->part != NULL;
    bool marked = ours && j->done > 0 && save_mark(j, &more) == PARSREC_OK;
    if (ours && j->done == 0)
        unlink(j->part_path.text);
    if (!marked || err->status != PARSREC_E_STOPPED)
        return cli_end_ranks("recommend", j->all->ranks, err->status, err);
    pr_digits done, all;
    cli_finish_line();
    fprintf(stderr,
            "parsrec recommend: stopped after %s of %s users; run the same command to continue\n",
            pr_digits_of(&done, j->done), pr_digits_of(&all, j->count));
    return 1;
}

int cli_recommend_all(const parsrec_model *model, const parsrec_request *request,
                      const cli_all *all)
{
    parsrec_error err = {0};
    job j = {.model = model, .all = all, .request = *request};
    parsrec_status status = begin(&j, &err);
    if (status == PARSREC_OK)
        status = do_all(&j, &err);
    int rc = status != PARSREC_OK ? report_failure(&j, &err)
                                  : cli_end_ranks("recommend", all->ranks, status, &err);
    if (j.part != NULL && j.part != stdout)
        fclose(j.part);
    cli_finish_line();
    if (rc == CLI_CONTINUE && strcmp(all->output, "-") != 0) {
        pr_digits users, rate;
        double seconds = pr_now() - j.began;
        fprintf(stderr, "%s: %s users, %s users/s\n", all->output, pr_digits_of(&users, j.count),
                pr_digits_of(&rate, (uint64_t)((double)(j.count - j.first_done) /
                                               (seconds > 1e-9 ? seconds : 1e-9))));
    }
    parsrec_scratch_free(j.own);
    pr_free(j.hits);
    pr_free(j.answers);
    pr_free(j.users);
    pr_free(j.place);
    pr_writer_free(&j.text);
    return rc == CLI_CONTINUE ? CLI_OK : rc;
}
