/* ranks: work of unequal length, with a library of messages that the test plays. */
#include "support/testing.h"

#include "ranks/ranks.c" /* for the inside of parsrec_ranks */

/* One other rank, whose messages are written down beforehand. As with Open MPI, a question that finds a
 * message of our own through does not look for others. */
enum { MOST = 8 };
static struct {
    const void *incoming[MOST];
    size_t sizes[MOST], taken, count;
    void *into; /* the receive that is posted; NULL: none */
    size_t into_size, sends, sent;
    signed char last; /* the last single byte that was sent */
} wire;

static void says(const void *bytes, size_t size)
{
    assert_true(wire.count < MOST);
    wire.incoming[wire.count] = bytes;
    wire.sizes[wire.count++] = size;
}

static bool play_send(const void *bytes, size_t size, unsigned to)
{
    assert_int_equal(to, 1);
    if (size == 1)
        memcpy(&wire.last, bytes, 1);
    wire.sends++;
    wire.sent++;
    return true;
}

static bool play_receive(void *bytes, size_t size, unsigned from)
{
    assert_int_equal(from, 1);
    assert_null(wire.into);
    wire.into = bytes;
    wire.into_size = size;
    return true;
}

static int play_test(void)
{
    int through = (int)wire.sends;
    wire.sends = 0;
    if (through > 0 || wire.into == NULL || wire.taken == wire.count)
        return through;
    if (wire.into_size != wire.sizes[wire.taken])
        return -1;
    memcpy(wire.into, wire.incoming[wire.taken++], wire.into_size);
    wire.into = NULL;
    return 1;
}

static size_t play_pending(unsigned *rank)
{
    *rank = 1;
    return wire.sends + (wire.into != NULL);
}

static bool play_receiving(unsigned from)
{
    return from == 1 && wire.into != NULL;
}

static const pr_ranks_plugin play = {.send = play_send,
                                     .receive = play_receive,
                                     .test = play_test,
                                     .pending = play_pending,
                                     .receiving = play_receiving};
static signed char word[2];
static double heard[2];
static const signed char at_work = AT_WORK, done = DONE, has_failed = FAILED;
static const parsrec_error well; /* of a rank that agrees */

static pr_ranks two_ranks(double peer_seconds)
{
    memset(&wire, 0, sizeof wire);
    return (pr_ranks){
        .plugin = &play, .size = 2, .peer_seconds = peer_seconds, .word = word, .heard = heard};
}

static const parsrec_progress somewhere = {.stage = "working"};

static void a_rank_that_ended_early_is_not_taken_for_lost(void **state)
{
    (void)state;
    parsrec_error err;
    pr_ranks r = two_ranks(60);
    pr_ranks_work w;
    says(&done, 1);
    says(&well, sizeof well);
    const parsrec_hooks *hooks = pr_ranks_work_begin(&w, &r, NULL);
    r.said = 0; /* long ago */
    assert_int_equal(hooks->on_progress(hooks->context, &somewhere), 0);
    assert_int_equal(wire.last, AT_WORK);
    r.heard[1] = pr_now() - 1000;
    assert_ok(pr_ranks_work_end(&w, PARSREC_OK, &err));
    assert_int_equal(wire.taken, 2);
}

static void a_rank_at_work_is_waited_for(void **state)
{
    (void)state;
    parsrec_error err;
    pr_ranks r = two_ranks(60);
    pr_ranks_work w;
    for (size_t i = 0; i < 4; i++)
        says(&at_work, 1);
    says(&done, 1);
    says(&well, sizeof well);
    pr_ranks_work_begin(&w, &r, NULL);
    assert_ok(pr_ranks_work_end(&w, PARSREC_OK, &err));
    assert_int_equal(wire.last, DONE);
    assert_int_equal(wire.taken, 6);
}

static void a_failure_stops_the_others_and_is_everybodys(void **state)
{
    (void)state;
    parsrec_error err, theirs = {PARSREC_E_IO, "the disk is full"};
    pr_ranks r = two_ranks(60);
    pr_ranks_work w;
    says(&has_failed, 1);
    says(&theirs, sizeof theirs);
    const parsrec_hooks *hooks = pr_ranks_work_begin(&w, &r, NULL);
    r.said = 0;
    assert_int_not_equal(hooks->on_progress(hooks->context, &somewhere), 0);
    pr_fail(&err, PARSREC_E_STOPPED, "stopped while working");
    assert_fails(pr_ranks_work_end(&w, PARSREC_E_STOPPED, &err), PARSREC_E_IO,
                 "rank 1: the disk is full");
    assert_int_equal(wire.last, FAILED);
}

static void silence_ends_work_and_names_the_rank(void **state)
{
    (void)state;
    parsrec_error err;
    pr_ranks r = two_ranks(0.01);
    pr_ranks_work w;
    const parsrec_hooks *hooks = pr_ranks_work_begin(&w, &r, NULL);
    while (hooks->on_progress(hooks->context, &somewhere) == 0)
        continue;
    assert_fails(pr_ranks_work_end(&w, PARSREC_E_STOPPED, &err), PARSREC_E_PEER,
                 "rank 1 of 2 was not heard of");
}

/* It may have waited in vain for another one itself, and begun later than those who wait for it. */
static void rank_0_is_waited_for_longer(void **state)
{
    (void)state;
    pr_ranks r = two_ranks(100);
    r.heard[0] = r.heard[1] = pr_now() - 110;
    assert_true(is_silent(&r, 1));
    r.rank = 1;
    assert_false(is_silent(&r, 0));
    r.heard[0] = pr_now() - 130;
    assert_true(is_silent(&r, 0));
}

static size_t told;

static int stop_at_once(void *context, const parsrec_progress *progress)
{
    (void)context;
    told += strcmp(progress->stage, "working") == 0;
    return 1;
}

/* Rank 0 says that a rank was lost, then the launcher wakes and ends all: rank 1 has nothing to add. If rank 0 was
 * killed, rank 1 is the one who says so. */
static void a_rank_that_is_ended_speaks_only_for_rank_0(void **state)
{
    (void)state;
    parsrec_error err;
    signed char byte;
    parsrec_hooks outer = {.on_progress = stop_at_once};
    pr_ranks r = two_ranks(1e-9);
    says(&done, 1);
    pr_ranks_receive(&r, 1, &byte, 1);
    assert_ok(pr_ranks_exchange(&r, &err));
    assert_true(r.long_wait > 0); /* nearly too long for a deadline of nothing */
    r = two_ranks(100);
    r.rank = 1;
    r.hooks = &outer;
    assert_fails(show_wait(&r, 0, 1, &err), PARSREC_E_PEER, "rank 0 of 2 did not answer before");
    assert_true(parsrec_ranks_speaks(&r));
    r.long_wait = pr_now();
    assert_fails(show_wait(&r, 0, 1, &err), PARSREC_E_PEER, "rank 0 of 2 did not answer before");
    assert_false(parsrec_ranks_speaks(&r));
    r.long_wait = pr_now() - 101;
    assert_fails(show_wait(&r, 0, 1, &err), PARSREC_E_PEER, "rank 0 of 2 did not answer before");
    assert_true(parsrec_ranks_speaks(&r));
}

static void the_callers_hooks_are_asked_too(void **state)
{
    (void)state;
    parsrec_error err;
    pr_ranks r = two_ranks(60);
    pr_ranks_work w;
    parsrec_hooks outer = {.on_progress = stop_at_once};
    assert_ptr_equal(pr_ranks_work_begin(&w, NULL, &outer), &outer);
    assert_int_equal(pr_ranks_work_end(&w, PARSREC_E_STOPPED, &err), PARSREC_E_STOPPED);
    const parsrec_hooks *hooks = pr_ranks_work_begin(&w, &r, &outer);
    assert_null(hooks->on_log);
    assert_int_not_equal(hooks->on_progress(hooks->context, &somewhere), 0);
    assert_int_equal(told, 1);
}

static void launchers_are_known_by_their_variables(void **state)
{
    (void)state;
    static const char *const names[] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "PMI_RANK", "PMIX_RANK",
                                        "SLURM_STEP_NUM_TASKS"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        unsetenv(names[i]);
    assert_int_equal(parsrec_ranks_launched(), 1);
    setenv("PMIX_RANK", "0", 1);
    assert_int_equal(parsrec_ranks_launched(), 0); /* only joining tells */
    setenv("SLURM_STEP_NUM_TASKS", "3", 1);
    assert_int_equal(parsrec_ranks_launched(), 3);
    setenv("OMPI_COMM_WORLD_SIZE", "1", 1);
    assert_int_equal(parsrec_ranks_launched(), 1);
    setenv("OMPI_COMM_WORLD_SIZE", "4", 1);
    assert_int_equal(parsrec_ranks_launched(), 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_rank_that_ended_early_is_not_taken_for_lost),
        cmocka_unit_test(a_rank_at_work_is_waited_for),
        cmocka_unit_test(a_failure_stops_the_others_and_is_everybodys),
        cmocka_unit_test(silence_ends_work_and_names_the_rank),
        cmocka_unit_test(rank_0_is_waited_for_longer),
        cmocka_unit_test(a_rank_that_is_ended_speaks_only_for_rank_0),
        cmocka_unit_test(the_callers_hooks_are_asked_too),
        cmocka_unit_test(launchers_are_known_by_their_variables),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
