/* store_tool URL write THREADS | fill COUNT | list: events from so many threads, for ever, each told on
 * standard output once it was stored, without a buffer between; so many events and how fast; or all events,
 * one "user session" a line. For tests that kill. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "serve/store.h"

static int complain(const parsrec_error *err)
{
    fprintf(stderr, "store_tool: %s\n", err->message);
    return 1;
}

typedef struct worker {
    pthread_t thread;
    store *s;
    int number, rounds;
} worker;

static void *work(void *context)
{
    worker *w = context;
    parsrec_error err = {0};
    const char *items[] = {"milk", "eggs"};
    for (int i = 0; w->rounds == 0 || i < w->rounds; i++) {
        char user[32], session[32], line[80];
        snprintf(user, sizeof user, "w%d", w->number);
        snprintf(session, sizeof session, "%d-%d", (int)getpid(), i);
        store_event e = {
            .user = user, .session = session, .items = items, .count = 2, .time = STORE_NO_TIME};
        if (store_append(w->s, &e, 1, NULL, &err) != PARSREC_OK) {
            if (w->rounds > 0)
                exit(complain(&err));
            usleep(20000); /* the database may come back */
            continue;
        }
        int size = snprintf(line, sizeof line, "%s %s\n", user, session);
        if (w->rounds == 0 && write(STDOUT_FILENO, line, (size_t)size) != size)
            exit(1);
    }
    return NULL;
}

static void run(store *s, int threads, int rounds)
{
    worker workers[64];
    for (int i = 0; i < threads; i++) {
        workers[i] = (worker){.s = s, .number = i, .rounds = rounds};
        if (pthread_create(&workers[i].thread, NULL, work, &workers[i]) != 0)
            exit(1);
    }
    for (int i = 0; i < threads; i++)
        pthread_join(workers[i].thread, NULL);
}

static parsrec_status print(void *context, const store_entry *e, parsrec_error *err)
{
    (void)context;
    (void)err;
    if (!e->forget)
        printf("%s %s\n", e->event.user, e->event.session != NULL ? e->event.session : "-");
    return PARSREC_OK;
}

int main(int argc, char **argv)
{
    parsrec_error err = {0};
    store *s;
    uint64_t last;
    enum { FILLERS = 32 };
    if (argc < 3)
        return 2;
    if (store_open(&s, argv[1], &err) != PARSREC_OK)
        return complain(&err);
    parsrec_status status = PARSREC_OK;
    if (strcmp(argv[2], "list") == 0) {
        status = store_replay(s, 0, print, NULL, &last, &err);
    } else if (strcmp(argv[2], "fill") == 0) {
        int rounds = (atoi(argv[3]) + FILLERS - 1) / FILLERS;
        double begin = pr_now();
        run(s, FILLERS, rounds);
        printf("%.0f events a second\n", rounds * FILLERS / (pr_now() - begin));
    } else {
        run(s, atoi(argv[3]), 0);
    }
    store_close(s);
    return status == PARSREC_OK ? 0 : complain(&err);
}
