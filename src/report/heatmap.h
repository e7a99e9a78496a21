/* Matrices as fields of colour: one map, or several side by side with the same rows, columns and
 * scale. */
#ifndef PR_HEATMAP_H
#define PR_HEATMAP_H

#include "base/writer.h"
#include "report/heat_scale.h"

typedef struct pr_heatmap_panel {
    const char *title;   /* "group A"; NULL: none */
    const double *cells; /* [rows · columns]; NaN is drawn as not known */
} pr_heatmap_panel;

/* The names of one side. All arrays are indexed by number, whatever the order. */
typedef struct pr_heatmap_side {
    const char *title; /* what the names are, "recommended"; NULL: none */
    const char *const *names;
    size_t count;
    const size_t *order;            /* [count]: who stands first, second, ...; NULL: as numbered */
    const size_t *groups;           /* [count]: a line is drawn where it changes; NULL: no groups */
    const char *const *group_names; /* shown where there is no room for all names; or NULL */
} pr_heatmap_side;

typedef struct pr_heatmap {
    const char *title, *subtitle; /* subtitle may be NULL */
    pr_heatmap_side rows, columns;
    const pr_heatmap_panel *panels;
    size_t panel_count;
    const char *scale_title; /* what the numbers are, "attention weight"; NULL: none */
    pr_heat_unit unit;       /* how they are shown */
    double limit;            /* number with the strongest colour; 0: the largest there is */
} pr_heatmap;

/* .png, .svg or .pdf by the ending of path. E_LIMIT for a map of more cells than a picture can show. */
parsrec_status pr_heatmap_draw(const pr_heatmap *map, const char *path, parsrec_error *err);
/* As a piece of a page, see pr_canvas_inline; wide ones scroll. Cells of small maps say their names and
 * number when pointed at. */
parsrec_status pr_heatmap_inline(const pr_heatmap *map, pr_writer *page, parsrec_error *err);

#endif
