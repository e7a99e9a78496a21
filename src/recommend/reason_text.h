/* Reasons as a sentence that a person can read. */
#ifndef PR_REASON_TEXT_H
#define PR_REASON_TEXT_H

#include "data/dataset.h"
#include "parsrec.h"

/* In buffer, terminated. Returns buffer. */
char *pr_reason_sentence(const pr_dataset *data, const parsrec_why *why, char *buffer, size_t size);

#endif
