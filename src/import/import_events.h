/* The store of `parsrec serve` as an input of import: its purchases, and the mark that keeps a server from
 * counting them a second time when a model of this data is served with that store. */
#ifndef PR_IMPORT_EVENTS_H
#define PR_IMPORT_EVENTS_H

#include "import/rows.h"
#include "import/times.h"

/* Rows of user, session, time and item in the order of time, with times of the given form, which the other
 * inputs have. *mark is what the data set keeps as its `events`; free it with pr_free. */
parsrec_status pr_events_open(pr_rows **out, char **mark, const char *url, pr_time_form form,
                              const parsrec_hooks *hooks, parsrec_error *err);

#endif
