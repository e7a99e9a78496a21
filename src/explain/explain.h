/* parsrec explain: how items or categories relate to each other, for groups of users.
 *
 * An explanation is made once, from a model and a data set, and is then only read. Its parts, in
 * the order in which they are made:
 *
 *     axis.h       which classes (items or categories) are the rows and columns of all maps
 *     evidence.h   per group: how many baskets have each pair of classes, and how certain that is
 *     maps.h       per group: square maps of numbers, one for each kind that was asked for
 *     recovery.h   synthetic data: how well each map finds the relations the data were made with
 *     relations.c  the strongest cells of a map, each with a verdict, and sentences about them
 *
 * The rule of the room: the model proposes and the baskets decide. A map may say anything; a
 * sentence is shown as a finding only if the counts confirm it (parsrec_relation_verdict), and what
 * they do not confirm is shown apart. That is why every group has evidence, whatever maps were
 * asked for.
 *
 * An explanation owns all of its memory, also the names of classes and groups, so it outlives model
 * and data. Reports (explain_report.c, explain_files.c) read it and keep
 * nothing. */
#ifndef PR_EXPLAIN_H
#define PR_EXPLAIN_H

#include <assert.h>

#include "base/json.h"
#include "base/writer.h"
#include "explain/maps.h"
#include "explain/recovery.h"

/* Sums of a map over the pairs of classes within a category, by category. */
typedef struct pr_tree_sums {
    double *sum;   /* [categories] */
    size_t *cells; /* [categories] */
} pr_tree_sums;

/* The sums live in the region. */
parsrec_status pr_tree_sums_init(pr_tree_sums *tree, pr_region *region, const pr_axis *axis,
                                 const double *map, parsrec_error *err);

/* One group of users. */
typedef struct pr_explained_group {
    char *name;  /* "user:K02", for programs and file names */
    char *label; /* "K02", for readers */
    size_t users;
    uint64_t baskets, cut, steps;
    double *maps[PR_MAP_KINDS]; /* [N,N] each, or NULL */
    double *placed;             /* [N]: how often a class was left out; NULL without drop effects */
    pr_evidence evidence;       /* counted in all of the group's baskets */
    pr_tree_sums tree;          /* of the drop map */
    double step_agreement; /* Kendall's tau of attention and effect within steps; NaN: unknown */
    double map_agreement;  /* Spearman's rho of the two maps, without the diagonal; NaN likewise */
    pr_recovery recovery[PR_MAP_KINDS];
} pr_explained_group;

/* The first group less the second. */
typedef struct pr_explained_difference {
    size_t a, b; /* groups */
    double *maps[PR_MAP_KINDS];
    pr_difference_recovery recovery[PR_MAP_KINDS];
} pr_explained_difference;

/* The public handle is this struct. */
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
    char *model_name, *data_name, *command; /* may be NULL */
    double seconds;
    pr_region
        region; /* holds all of the above but the axis and the evidence, which have their own */
};
typedef struct parsrec_explanation pr_explanation;

/* `out` is zeroed, and to be cleared also on failure. */
parsrec_status pr_explain(pr_explanation *out, const pr_model *model, const pr_dataset *data,
                          const parsrec_explain_options *options, pr_pool *pool,
                          const parsrec_hooks *hooks, parsrec_error *err);
void pr_explanation_clear(pr_explanation *e);

/* The map of a group, or NULL. `kind`: a parsrec_map or PR_MAP_*, here and below. */
static inline const double *pr_explained_map(const pr_explanation *e, size_t group, size_t kind)
{
    assert(group < e->group_count && kind < PR_MAP_KINDS);
    return kind == PARSREC_MAP_EMBEDDING ? e->embedding : e->groups[group].maps[kind];
}

/* ---- the strongest relationships ---- */

enum { PR_STRONGEST = 10, PR_PLACED_LEAST = 10 };

/* Maps that have a list of strongest relationships. */
static inline bool pr_map_is_listed(size_t kind)
{
    return kind == PARSREC_MAP_DROP || kind == PARSREC_MAP_LIFT || kind == PARSREC_MAP_ATTENTION;
}

/* What a cell of a listed map says, what was counted, and the verdict. */
void pr_relation_set(parsrec_relation *relation, const pr_explanation *e, size_t group, size_t kind,
                     size_t row, size_t column);

/* As parsrec_explanation_relations. Columns of the drop map that were left out fewer than
 * PR_PLACED_LEAST times do not count. */
size_t pr_relations(parsrec_relation *list, size_t most, const pr_explanation *e, size_t group,
                    size_t kind, bool confirmed);

/* The map whose sentences come first: the drop effect, or else lift, or attention; PR_MAP_KINDS: no
 * map has a list. */
size_t pr_first_list(const pr_explanation *e);

/* ---- sentences; all are cut to size and return buffer ---- */

/* Why a relation is not confirmed: "too few baskets to tell". */
char *pr_verdict_words(const parsrec_relation *relation, char *buffer, size_t size);
/* The rule by which sentences are chosen, with its figures. */
char *pr_rule_words(const pr_explanation *e, char *buffer, size_t size);
/* 1234567 as "1,234,567". */
char *pr_explain_count(uint64_t count, char *buffer, size_t size);
/* How far attention and drop effects agree; empty where that is unknown. */
char *pr_agreement_words(const pr_explained_group *group, char *buffer, size_t size);
/* "A against B" */
char *pr_difference_name(const pr_explanation *e, char *buffer, size_t size);

/* ---- reports ---- */

/* PARSREC_TEXT_PLAIN or PARSREC_TEXT_HTML. */
parsrec_status pr_explanation_write(pr_writer *out, const pr_explanation *e, parsrec_text_kind kind,
                                    parsrec_error *err);
json_t *pr_explanation_json(const pr_explanation *e, bool with_maps); /* NULL: out of memory */
/* The same as one line. */
parsrec_status pr_explanation_write_json(pr_writer *out, const pr_explanation *e, bool with_maps,
                                         parsrec_error *err);

/* One map of some groups side by side, or of the difference (group_count 0). */
typedef struct pr_explained_picture {
    size_t kind, first_group, group_count;
} pr_explained_picture;
/* Its first cell says what the numbers are. */
void pr_explanation_csv(pr_writer *csv, const pr_explanation *e,
                        const pr_explained_picture *picture, const double *map);
/* To a file or, with a NULL path, into a page. */
parsrec_status pr_explanation_draw(const pr_explanation *e, const pr_explained_picture *picture,
                                   const char *path, pr_writer *page, parsrec_error *err);

#endif
