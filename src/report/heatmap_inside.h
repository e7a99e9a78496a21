/* Where the parts of a heatmap lie, as its files share it. */
#ifndef PR_HEATMAP_INSIDE_H
#define PR_HEATMAP_INSIDE_H

#include "report/canvas.h"
#include "report/heat_scale.h"
#include "report/heatmap.h"

/* A name beside the map: of one row, or of a run of rows that form a group. */
typedef struct pr_heat_label {
    const char *text;
    double first, length; /* of what it names, from the map's edge */
} pr_heat_label;

typedef struct pr_heat_labels {
    pr_heat_label *list;
    size_t count;
    double room;   /* that the names take across their side of the map */
    bool every;    /* every row has one; else some do, with a tick, or groups, with a bracket */
    bool brackets; /* they name groups */
    bool level;    /* columns: read without turning the head */
} pr_heat_labels;

typedef struct pr_heat_layout {
    double width, height;       /* of the picture */
    double cell, gap;           /* side of a cell, and the white between two */
    double label_size;          /* of names */
    double value_size;          /* of numbers in the cells; 0: they do not fit */
    double left, top;           /* corner of the first map */
    double map_w, map_h;        /* size of a map */
    double pitch;               /* from one map to the next */
    double bar_x, bar_y, bar_h; /* of the colour bar */
    double bar_end;             /* right of its numbers and title */
    int decimals;
    bool boxes; /* cells are drawn one by one, not as an image */
    pr_heat_scale scale;
    pr_heat_labels rows, columns;
} pr_heat_layout;

enum {
    PR_HEAT_SIDE = 10,       /* margin of the picture */
    PR_HEAT_NEAR = 7,        /* between names and map */
    PR_HEAT_BAR = 14,        /* width of the colour bar */
    PR_HEAT_TICK_SIZE = 10,  /* of its numbers */
    PR_HEAT_TITLE_SIZE = 15, /* of the letters of titles */
    PR_HEAT_SMALL = 11,
    PR_HEAT_PANEL = 12,
    PR_HEAT_NAME_BYTES = 160, /* of a name that is shown */
};

parsrec_status pr_heat_lay_out(pr_heat_layout *layout, const pr_heatmap *map, parsrec_error *err);
void pr_heat_layout_free(pr_heat_layout *layout);

/* The colour bar with its title, or NULL, and what a cell without number looks like. */
void pr_heat_bar(pr_canvas *canvas, const pr_heat_layout *layout, const char *title);
void pr_heat_hatch(pr_canvas *canvas, double x, double y, double side);
void pr_heat_frame(pr_canvas *canvas, double x, double y, double width, double height);

/* Who stands at a place of a side. */
static inline size_t pr_heat_at(const pr_heatmap_side *side, size_t place)
{
    return side->order != NULL ? side->order[place] : place;
}

/* The group of who stands there; everybody is in one where there are no groups. */
static inline size_t pr_heat_group(const pr_heatmap_side *side, size_t place)
{
    return side->groups != NULL ? side->groups[pr_heat_at(side, place)] : 0;
}

static inline double pr_heat_cell(const pr_heatmap *map, size_t panel, size_t row, size_t column)
{
    return map->panels[panel].cells[pr_heat_at(&map->rows, row) * map->columns.count +
                                    pr_heat_at(&map->columns, column)];
}

#endif
