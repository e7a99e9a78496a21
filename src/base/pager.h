/* Blocks of numbers whose pages may leave memory, and a limit on what the process holds of them.
 *
 * A block is memory up to some byte and pages of a file without a name from there on. The program uses it as
 * any other memory. A thread of the pager looks at how much the process holds; above the limit it gives pages
 * back, first those of blocks that are seldom used. They are read again when they are used again: what is in
 * them never changes, so where a block lies changes no result. Pages that the machine has room for stay in the
 * cache of the system, and coming back to them costs little more than a look.
 *
 * The files are in the folder of the result. Their room is taken at once, so that a full disk is a sentence
 * before the work and not a crash within it; nothing of them is left when the process ends. */
#ifndef PR_PAGER_H
#define PR_PAGER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"

typedef struct pr_pager pr_pager;

/* Keeps the process below `limit` bytes as far as pages of files can; `beside` is the path of the result. */
parsrec_status pr_pager_new(pr_pager **out, const char *beside, uint64_t limit, parsrec_error *err);
void pr_pager_free(pr_pager *pager); /* after its blocks; NULL is fine */

/* count * size zeroed bytes, 64-byte aligned, of which the first `kept` bytes are memory. With everything
 * kept, or without a pager (NULL), it is pr_alloc_aligned. `seldom`: give its pages back first. */
parsrec_status pr_pager_take(void **out, pr_pager *pager, size_t count, size_t size, size_t kept,
                             bool seldom, parsrec_error *err);
void pr_pager_give(pr_pager *pager, void *block); /* NULL is fine; also those of no pager */

/* Pages of a file that is mapped and only read, such as a data set: may be given back as well. They must stay
 * mapped as long as the pager lives. */
parsrec_status pr_pager_watch(pr_pager *pager, const void *bytes, size_t size, parsrec_error *err);

/* How much below `limit` everything that is no page of a file must stay, for the limit to be kept. */
double pr_pager_usable(uint64_t limit);
/* Whether files in the folder of the result are themselves memory (tmpfs). */
bool pr_pager_in_memory(const pr_pager *pager);

#endif
