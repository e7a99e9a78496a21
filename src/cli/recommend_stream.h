/* Requests from standard input, one JSON object a line, answered in order on standard output. */
#ifndef CLI_RECOMMEND_STREAM_H
#define CLI_RECOMMEND_STREAM_H

#include "parsrec.h"

/* Ends with the input. Returns the exit status: failed when any line was. */
int cli_recommend_stream(const parsrec_model *model, parsrec_scratch *own, size_t default_k);

#endif
