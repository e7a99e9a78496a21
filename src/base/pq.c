#include "base/pq.h"

pr_pq_table pr_pq;

#define SYMBOL(name) "PQ" #name,
static const char *const symbols[] = {PR_PQ(SYMBOL) NULL};
static const char *const names[] = {"libpq.so.5", "libpq.so", NULL};

pr_library pr_pq_library = {
    .purpose = "PostgreSQL addresses",
    .label = "libpq",
    .advice = "install it (Debian: apt install libpq5) or name its file in PARSREC_LIBPQ",
    .variable = "PARSREC_LIBPQ",
    .names = names,
    .symbols = symbols,
    .table = &pr_pq,
};
