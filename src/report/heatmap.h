/* Matrices as fields of colour: one map, or several side by side with the same rows, columns and
 * scale. */
#ifndef PR_HEATMAP_H
#define PR_HEATMAP_H

#include "base/writer.h"
#include "report/canvas.h"

/* ---- scale ---- */

/* From numbers to the colours of a heatmap: blue below zero, orange to brown above, nearly white at
 * zero. The two sides differ in blue and yellow, which colour-blind readers can distinguish, and both
 * grow darker away from zero, so that a grey print still shows how strong a cell is.
 *
 * Numbers are shown as they are, as the factors whose logarithms they are ("×2.1"), or as percentages
 * of 1 ("12 %"). */
typedef enum pr_heat_unit { PR_HEAT_PLAIN, PR_HEAT_TIMES, PR_HEAT_PERCENT } pr_heat_unit;

typedef struct pr_heat_scale {
    double limit;   /* the number with the strongest colour; above 0 */
    bool diverging; /* from -limit; else from 0, when no number is below it */
    bool cut;       /* some numbers lie beyond the limit and get the colour of its end */
    bool gaps;      /* some are not known */
    pr_heat_unit unit;
} pr_heat_scale;

/* A scale starts zeroed, sees all numbers, and is then settled: on the limit that is given, or for
 * limit 0 on the largest absolute number seen. */
void pr_heat_scale_see(pr_heat_scale *scale, const double *numbers, size_t count);
void pr_heat_scale_settle(pr_heat_scale *scale, double limit);

pr_colour pr_heat_colour(const pr_heat_scale *scale, double number); /* NaN: quiet grey */
/* What can be read on top of it: nearly black or white. */
pr_colour pr_heat_ink(pr_colour background);

/* Digits after the point that numbers of this scale need to differ. */
int pr_heat_decimals(const pr_heat_scale *scale);
/* A number with that many decimals and a true minus sign, in buffer. Returns buffer. */
char *pr_heat_text(double number, int decimals, char *buffer, size_t size);
/* A number as the unit of the scale shows it, in buffer. Returns buffer. */
char *pr_heat_value(const pr_heat_scale *scale, double number, int decimals, char *buffer,
                    size_t size);

/* ---- maps ---- */

typedef struct pr_heatmap_panel {
    const char *title;   /* "group A"; NULL: none */
    const double *cells; /* [rows · columns]; NaN is drawn as not known */
} pr_heatmap_panel;

/* The names of one side. All arrays are indexed by number, whatever the order. */
typedef struct pr_heatmap_side {
    const char *title; /* what the names are, "recommended"; NULL: none */
    const char *const *names;
    size_t count;
    const size_t *order;            /* [count]: which comes first, second, ...; NULL: as numbered */
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
/* An element of a page, see pr_canvas_inline; wide ones scroll. Cells of small maps show their names
 * and number when pointed at. */
parsrec_status pr_heatmap_inline(const pr_heatmap *map, pr_writer *page, parsrec_error *err);

/* ---- orders of rows in which a map shows its blocks; heatmap_order.c ---- */

/* order[n]: rows of group 0 first, then of group 1, ...; within a group in their old order. */
parsrec_status pr_heatmap_order_groups(size_t *order, const size_t *groups, size_t n,
                                       parsrec_error *err);

/* order[n]: similar rows are next to each other. similarity[n,n] is larger for rows that are more
 * alike; the mean of both triangles counts, NaN as the least. Clusters by average linkage; each is
 * reversed if that makes the rows at its border more alike. Takes time and memory n². */
parsrec_status pr_heatmap_order_clusters(size_t *order, const double *similarity, size_t n,
                                         parsrec_error *err);

#endif
