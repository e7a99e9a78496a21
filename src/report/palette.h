/* The colours of all pictures and pages, for light and for dark paper. Those of series stay apart
 * for colour-blind readers (after Okabe and Ito). */
#ifndef PR_PALETTE_H
#define PR_PALETTE_H

#include "base/writer.h"

typedef struct pr_colour {
    double red, green, blue;
} pr_colour;

/* What a colour is for; series i is PR_SERIES + i, over and over. */
enum { PR_PAPER, PR_INK, PR_QUIET, PR_SERIES, PR_SERIES_COLOURS = 8 };

pr_colour pr_palette_role(size_t role, bool dark);
/* Series i on light paper. */
pr_colour pr_palette(size_t i);

/* Name of the CSS variable of a role, without the dashes: "ink", "s3". */
const char *pr_palette_name(size_t role);
/* All of them as CSS declarations: "--ink:#212529;...". */
void pr_palette_css(pr_writer *writer, bool dark);

#endif
