/* kill -9 in the middle of writing: under the final name there is always a whole file, the old one
 * or the new one. */
#include "support/testing.h"

#include <dirent.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>

#include "base/rng.h"
#include "data/container.h"

/* So many rounds at least; more on a machine so busy that nothing was seen in these. */
enum { ROUNDS = 60, ROUNDS_MOST = 6000, NUMBERS = 1 << 19 };

static char folder[] = "/tmp/parsrec-kill-XXXXXX", path[64];
static int32_t numbers[NUMBERS];
static atomic_int *written; /* files that the child has put in place, shared with it */

/* Every number of a file is its generation, so that a mixture of two would show. */
static parsrec_status write_generation(int32_t generation, parsrec_error *err)
{
    for (size_t i = 0; i < NUMBERS; i++)
        numbers[i] = generation;
    size_t count = NUMBERS - (size_t)(generation % 7) * 1000;
    const pr_tensor tensor = {"numbers", PR_I32, 1, {count}, numbers};
    return pr_container_write(path, "test.kill", 1, NULL, 0, &tensor, 1, err);
}

static _Noreturn void write_for_ever(int32_t generation)
{
    parsrec_error err;
    while (write_generation(generation, &err) == PARSREC_OK) {
        generation++;
        atomic_fetch_add(written, 1);
    }
    _exit(1);
}

/* The generation of the file in place; fails unless all of it is that generation. */
static int32_t read_generation(void)
{
    parsrec_error err;
    pr_container *file;
    const pr_tensor *tensor;
    assert_ok(pr_container_open(&file, path, &err));
    assert_int_equal(strlen(pr_container_checksum(file)), 16);
    assert_ok(pr_container_need(file, "numbers", PR_I32, 1, &tensor, &err));
    const int32_t *all = tensor->data, generation = all[0];
    assert_int_equal(tensor->shape[0], NUMBERS - (size_t)(generation % 7) * 1000);
    for (size_t i = 0; i < tensor->shape[0]; i++)
        if (all[i] != generation)
            fail_msg("number %zu is of generation %d, not %d", i, all[i], generation);
    pr_container_free(file);
    return generation;
}

/* A killed process cannot tidy up: removes what it left beside the file, and counts it. */
static size_t remove_leftovers(void)
{
    size_t count = 0;
    DIR *listing = opendir(folder);
    assert_non_null(listing);
    for (struct dirent *e; (e = readdir(listing)) != NULL;) {
        char name[400];
        snprintf(name, sizeof name, "%s/%s", folder, e->d_name);
        if (strstr(e->d_name, ".tmp") != NULL && unlink(name) == 0)
            count++;
    }
    closedir(listing);
    return count;
}

static void pause_for(long nanoseconds)
{
    nanosleep(&(struct timespec){.tv_nsec = nanoseconds}, NULL);
}

/* Lets the child put some files in place, then kills it at a moment within the next. */
static void kill_after(pid_t child, int files, long nanoseconds)
{
    int status;
    while (atomic_load(written) < files) {
        pause_for(100000);
        assert_int_equal(waitpid(child, &status, WNOHANG), 0); /* it runs until it is killed */
    }
    pause_for(nanoseconds);
    assert_int_equal(kill(child, SIGKILL), 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
}

static void a_killed_writer_leaves_a_whole_file(void **state)
{
    (void)state;
    parsrec_error err;
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/file.st", folder);
    written =
        mmap(NULL, sizeof *written, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_true(written != MAP_FAILED);
    assert_ok(write_generation(0, &err));
    pr_rng rng = pr_rng_make(1, 1);
    pr_stream stream = pr_stream_at(&rng, 0, 0, 0);
    int32_t before = 0;
    size_t interrupted = 0, renewed = 0;
    int round = 0;
    for (; round < ROUNDS || (interrupted == 0 && round < ROUNDS_MOST); round++) {
        atomic_store(written, 0);
        pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0)
            write_for_ever(before + 1);
        kill_after(child, round % 3, (long)pr_stream_below(&stream, 20000000));
        int32_t now = read_generation();
        assert_true(now >= before + round % 3);
        renewed += now > before;
        before = now;
        interrupted += remove_leftovers();
    }
    printf("%zu of %d writers killed in the middle, %zu had replaced the file\n", interrupted,
           round, renewed);
    assert_true(interrupted > 0); /* else the test has shown nothing */
    assert_true(renewed > 0);
    munmap(written, sizeof *written);
    unlink(path);
    assert_int_equal(rmdir(folder), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_killed_writer_leaves_a_whole_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
