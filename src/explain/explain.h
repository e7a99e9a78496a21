/* What parsrec explain found, and everything that is written about it. */
#ifndef PR_EXPLANATION_H
#define PR_EXPLANATION_H

#include "base/json.h"
#include "base/writer.h"
#include "explain/maps.h"
#include "explain/recovery.h"

/* Sums of a map over the pairs of classes that a category holds, by category. */
typedef struct pr_tree_sums {
    double *sum;   /* [categories] */
    size_t *cells; /* [categories] */
} pr_tree_sums;

parsrec_status pr_tree_sums_init(pr_tree_sums *tree, const pr_axis *axis, const double *map,
                                 parsrec_error *err);
void pr_tree_sums_free(pr_tree_sums *tree); /* a zeroed one is fine */

/* One group of users. */
typedef struct pr_explained_group {
    char *name;
    size_t users;
    uint64_t baskets, cut, steps;
    double *maps[PR_MAP_KINDS]; /* [N,N] each, or NULL */
    double *placed;             /* [N]: how often a class was left out; NULL without drop effects */
    pr_evidence evidence;       /* what was counted in all of the group's baskets */
    pr_tree_sums tree;          /* of the drop map */
    double step_agreement; /* Kendall's tau of attention and effect within steps; NaN: not known */
    double map_agreement;  /* Spearman's rho of the two maps, without the diagonal; NaN likewise */
    pr_recovery recovery[PR_MAP_KINDS];
} pr_explained_group;

/* The first group less the second. */
typedef struct pr_explained_difference {
    size_t a, b; /* groups */
    double *maps[PR_MAP_KINDS];
    pr_difference_recovery recovery[PR_MAP_KINDS];
} pr_explained_difference;

/* The public handle is this very struct. */
struct parsrec_explanation {
    pr_axis axis;
    bool has[PR_MAP_KINDS];
    pr_explained_group *groups;
    size_t group_count;
    bool has_difference, has_truth;
    pr_explained_difference difference;
    double *embedding; /* [N,N]: the same for all groups; or NULL */
    size_t *order;     /* [N]: in which pictures show the classes */
    size_t basket_most;
    char model_kind[32], checksum[17];
    char *model_name, *data_name, *command; /* command may be NULL */
    double seconds;
};
typedef struct parsrec_explanation pr_explanation;

/* What it is asked for. */
typedef struct pr_explain_request {
    const pr_model *model;
    const pr_dataset *data;
    const parsrec_explain_options *options;
    pr_pool *pool;
    const parsrec_hooks *hooks;
} pr_explain_request;

/* `out` begins zeroed and is to be freed also on failure. */
parsrec_status pr_explain(pr_explanation *out, const pr_explain_request *request,
                          parsrec_error *err);
void pr_explanation_clear(pr_explanation *e);

/* The map of a group, or NULL. */
static inline const double *pr_explained_map(const pr_explanation *e, size_t group,
                                             pr_map_kind kind)
{
    return kind == PR_MAP_EMBEDDING ? e->embedding : e->groups[group].maps[kind];
}

/* ---- the strongest relationships ---- */

enum { PR_STRONGEST = 10, PR_PLACED_LEAST = 10 };

/* Maps that have a list of strongest relationships. */
static inline bool pr_map_is_listed(pr_map_kind kind)
{
    return kind == PR_MAP_DROP || kind == PR_MAP_LIFT || kind == PR_MAP_ATTENTION;
}

/* What a cell of a listed map says, what was counted, and the verdict. */
void pr_relation_set(parsrec_relation *relation, const pr_explanation *e, size_t group,
                     pr_map_kind kind, size_t row, size_t column);

/* As parsrec_explanation_relations. Columns of the drop map that were left out fewer than PR_PLACED_LEAST times
 * do not count. */
size_t pr_relations(parsrec_relation *list, size_t most, const pr_explanation *e, size_t group,
                    pr_map_kind kind, bool confirmed);

/* One cell of the difference of two groups. */
typedef struct pr_contrast {
    parsrec_relation first, second; /* in either group */
    double value;                   /* of the difference */
} pr_contrast;

/* The largest differences, whatever their sign, that the counted lifts of the two groups confirm. */
size_t pr_contrasts(pr_contrast *list, size_t most, const pr_explanation *e, pr_map_kind kind);

/* ---- what is written ---- */

void pr_explanation_plain(pr_writer *text, const pr_explanation *e);
json_t *pr_explanation_json(const pr_explanation *e, bool with_maps); /* NULL: out of memory */
void pr_explanation_csv(pr_writer *csv, const pr_explanation *e, const double *map);
parsrec_status pr_explanation_html(pr_writer *page, const pr_explanation *e, parsrec_error *err);

/* Everything into a folder: report.html, report.json, and each map as CSV, PNG, SVG and PDF. */
parsrec_status pr_explanation_save(const pr_explanation *e, const char *folder,
                                   const parsrec_hooks *hooks, parsrec_error *err);

/* One map of some groups side by side, or of the difference (group_count 0), to a file or, with a NULL
 * path, into a page. */
typedef struct pr_explained_picture {
    pr_map_kind kind;
    size_t first_group, group_count;
} pr_explained_picture;
parsrec_status pr_explanation_draw(const pr_explanation *e, const pr_explained_picture *picture,
                                   const char *path, pr_writer *page, parsrec_error *err);

/* "group A", "A - B": cut to size. Returns buffer. */
char *pr_difference_name(const pr_explanation *e, char *buffer, size_t size);

#endif
