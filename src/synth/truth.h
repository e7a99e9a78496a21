/* The ground truth of a synthetic data set: all that was drawn, as stored in the file. */
#ifndef PR_TRUTH_H
#define PR_TRUTH_H

#include "data/dataset.h"
#include "synth/synth.h"

/* Tensors `truth.NAME`: name, type, rank, shape (U users, V items, G groups, C categories,
 * P products of a category). Group names are beside them as truth.group_names. */
#define PR_TRUTH_TENSORS(X)                                                        \
    X(group, I32, int32_t, 1, U, 0, 0)              /* of each user */             \
    X(sigma, F64, double, 3, G, C, C)               /* covariance of categories */ \
    X(alpha, F64, double, 1, C, 0, 0)               /* utility of each category */ \
    X(base_utility, F32, float, 2, U, V, 0)         /* omega - beta * price */     \
    X(price, F64, double, 1, V, 0, 0)               /* of each item */             \
    X(base_price, F64, double, 1, C, 0, 0)          /* of each category */         \
    X(product_correlation, F64, double, 3, C, P, P) /* of omega, by the vine */

/* Views into the data set, which must outlive them. Category c has the items c * products to
 * (c + 1) * products - 1. */
typedef struct pr_truth {
    size_t users, items, groups, categories, products;
    pr_names group_names;
#define PR_TRUTH_FIELD(name, dtype, type, rank, a, b, c) const type *name;
    PR_TRUTH_TENSORS(PR_TRUTH_FIELD)
#undef PR_TRUTH_FIELD
    parsrec_synth_options options; /* as given to synth; paths NULL, threads 0 */
} pr_truth;

/* E_NOT_FOUND when the data set is not synthetic, E_FORMAT when its truth does not fit it. */
parsrec_status pr_truth_read(pr_truth *truth, const pr_dataset *data, parsrec_error *err);

/* The choices that made the data set, to make its trips again: free with pr_choice_free, also on
 * failure. A shopper becomes user u with truth->group[u] and truth->base_utility + u * items. */
parsrec_status pr_truth_choice(pr_choice *choice, const pr_truth *truth, parsrec_error *err);

/* ---- for the writer ---- */

enum { PR_TRUTH_MOST_TENSORS = 16 };

/* Fills at most PR_TRUTH_MOST_TENSORS tensors; returns how many. */
size_t pr_truth_tensors(const pr_truth *truth, pr_tensor *tensors);

/* The data set's `source`: options and constants, enough to draw everything again. Free with
 * pr_free; NULL when out of memory. */
char *pr_truth_source(const parsrec_synth_options *options);

#endif
