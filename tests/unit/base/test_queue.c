/* queue: jobs side by side, callbacks on the calling thread, one error. */
#include "support/testing.h"

#include <pthread.h>
#include <stdatomic.h>

#include "base/memory.h"
#include "base/status.h"
#include "base/threads.h"

enum { TASKS = 12, STEPS = 5 };

typedef struct scene {
    atomic_size_t done, at_work, most;
    size_t failing, stopping; /* tasks; TASKS: none */
    pthread_t caller;
    size_t logs, epochs, strangers, told;
    uint64_t furthest;
    bool went_back, stop;
} scene;

static const char *name_of(void *context, size_t task)
{
    static const char *const names[TASKS] = {"a", "b", "c", "d", "e", "f",
                                             "g", "h", "i", "j", "k", "l"};
    (void)context;
    return names[task];
}

static parsrec_status work(void *context, size_t task, const parsrec_hooks *hooks,
                           parsrec_error *err)
{
    scene *s = context;
    size_t now = atomic_fetch_add(&s->at_work, 1) + 1, most = atomic_load(&s->most);
    while (now > most && !atomic_compare_exchange_weak(&s->most, &most, now))
        continue;
    pr_say(hooks, PARSREC_LOG_INFO, "begins");
    parsrec_status status = PARSREC_OK;
    for (uint64_t step = 1; step <= STEPS && status == PARSREC_OK; step++) {
        status = pr_progress(hooks, "working", "steps", step, STEPS, err);
        parsrec_epoch epoch = {.number = (uint32_t)step};
        hooks->on_epoch(hooks->context, &epoch);
    }
    while (task == s->stopping && status == PARSREC_OK)
        status = pr_progress(hooks, "working", "steps", STEPS, STEPS, err);
    if (task == s->failing)
        status = pr_fail(err, PARSREC_E_INPUT, "task %s is bad", name_of(s, task));
    atomic_fetch_sub(&s->at_work, 1);
    atomic_fetch_add(&s->done, 1);
    return status;
}

static void on_log(void *context, parsrec_log_level level, const char *text)
{
    scene *s = context;
    (void)level;
    s->strangers += pthread_equal(pthread_self(), s->caller) == 0;
    s->logs += strstr(text, ": begins") == text + 1;
}

static int on_progress(void *context, const parsrec_progress *p)
{
    scene *s = context;
    s->strangers += pthread_equal(pthread_self(), s->caller) == 0;
    s->went_back |= p->done < s->furthest;
    s->furthest = p->done;
    s->told++;
    return s->stop;
}

static void on_epoch(void *context, const parsrec_epoch *epoch)
{
    scene *s = context;
    s->strangers += pthread_equal(pthread_self(), s->caller) == 0;
    s->epochs += epoch->name != NULL && strlen(epoch->name) == 1;
}

static parsrec_status run(scene *s, unsigned jobs, parsrec_error *err)
{
    parsrec_hooks hooks = {s, on_log, on_progress, on_epoch};
    pr_queue queue = {s, work, name_of, TASKS, jobs, "working on it", "working"};
    s->caller = pthread_self();
    return pr_queue_run(&queue, &hooks, err);
}

static void every_task_once(void **state)
{
    (void)state;
    for (unsigned jobs = 1; jobs <= 20; jobs += 3) {
        parsrec_error err;
        scene s = {.failing = TASKS, .stopping = TASKS};
        assert_ok(run(&s, jobs, &err));
        assert_int_equal(atomic_load(&s.done), TASKS);
        assert_true(atomic_load(&s.most) <= jobs);
        assert_int_equal(s.logs, TASKS);
        assert_int_equal(s.epochs, TASKS * STEPS);
        assert_int_equal(s.strangers, 0);
        assert_false(s.went_back);
    }
}

/* Those that were only asked to stop do not hide the one that failed. */
static void the_error_is_the_cause(void **state)
{
    (void)state;
    for (unsigned jobs = 2; jobs <= 8; jobs *= 2) {
        parsrec_error err = {0};
        scene s = {.failing = 1, .stopping = 0};
        assert_fails(run(&s, jobs, &err), PARSREC_E_INPUT, "task b is bad");
        if (jobs ==
            2) /* one waits to be stopped, so that the other begins none after its failure */
            assert_int_equal(atomic_load(&s.done), 2);
    }
}

static void the_caller_can_stop(void **state)
{
    (void)state;
    parsrec_error err = {0};
    scene s = {.failing = TASKS, .stopping = 0, .stop = true};
    assert_fails(run(&s, 2, &err), PARSREC_E_STOPPED, "stopped while working");
}

static void nothing_to_do_and_nobody_to_tell(void **state)
{
    (void)state;
    parsrec_error err;
    scene s = {.failing = TASKS, .stopping = TASKS};
    pr_queue queue = {&s, work, name_of, 0, 3, "x", "working"};
    assert_ok(pr_queue_run(&queue, NULL, &err));
    queue.jobs = TASKS;
    assert_ok(pr_queue_run(&queue, NULL, &err));
    assert_int_equal(atomic_load(&s.done), TASKS);
    pr_memory_fail_after(0);
    parsrec_status status = pr_queue_run(&queue, NULL, &err);
    pr_memory_fail_after(SIZE_MAX);
    assert_int_equal(status, PARSREC_E_MEMORY);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_task_once),
        cmocka_unit_test(the_error_is_the_cause),
        cmocka_unit_test(the_caller_can_stop),
        cmocka_unit_test(nothing_to_do_and_nobody_to_tell),
    };
    return cmocka_run_group_tests_name("queue", tests, NULL, NULL);
}
