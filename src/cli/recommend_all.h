/* parsrec recommend --all: answers for every user in one file. */
#ifndef CLI_RECOMMEND_ALL_H
#define CLI_RECOMMEND_ALL_H

#include "parsrec.h"

typedef struct cli_all {
    const char *output;     /* "-": standard output */
    bool jsonl;             /* otherwise CSV */
    unsigned threads;       /* 0: all cores */
    const char *model_path; /* with the data, to tell whether an unfinished file fits */
    const char *data_path;  /* or NULL */
    parsrec_ranks *ranks;   /* that divide the users; NULL: none. Rank 0 writes */
} cli_all;

/* Whether FILE ends as JSON lines do. */
bool cli_all_is_jsonl(const char *path);

/* Writes the answers to `request`, which has no user, and ends the ranks. Returns the exit status. */
int cli_recommend_all(const parsrec_model *model, const parsrec_request *request,
                      const cli_all *all);

#endif
