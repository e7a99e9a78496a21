#include "base/cairo.h"

pr_cairo_table pr_cairo;

#define SYMBOL(name) "cairo_" #name,
static const char *const symbols[] = {PR_CAIRO(SYMBOL) NULL};
static const char *const names[] = {"libcairo.so.2", "libcairo.so", NULL};

pr_library pr_cairo_library = {
    .purpose = "picture files",
    .label = "cairo",
    .advice = "install it (Debian: apt install libcairo2) or name its file in PARSREC_CAIRO",
    .variable = "PARSREC_CAIRO",
    .names = names,
    .symbols = symbols,
    .table = &pr_cairo,
};
