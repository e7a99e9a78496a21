/* From words to numbers: users and items by key, items also by name and categories by path or name,
 * where it is unique. Read-only once made, so threads may share it. */
#ifndef PR_DIRECTORY_H
#define PR_DIRECTORY_H

#include "base/intern.h"
#include "data/dataset.h"

/* Words that need not be different: each with its number, or PR_SEVERAL less the number of one of those that
 * share it. */
enum { PR_SEVERAL = -2 };
typedef struct pr_words {
    pr_intern table;
    int32_t *numbers;
    size_t capacity;
} pr_words;

typedef struct pr_directory {
    const pr_dataset *data;
    pr_intern users, items;
    pr_words item_names, category_paths, category_names;
    int32_t *next_named; /* [named items]: the next item of the same name, or -1 */
} pr_directory;

/* The data set must outlive the directory. */
parsrec_status pr_directory_init(pr_directory *directory, const pr_dataset *data,
                                 parsrec_error *err);
void pr_directory_free(pr_directory *directory); /* a zeroed one is fine */

/* E_NOT_FOUND with a sentence for a word that is unknown or not unique. The sentence suggests similar names, for
 * which up to 40,000 are compared: pass NULL for err where nobody reads it. The name of a category may be
 * written in other upper and lower case. */
parsrec_status pr_directory_user(const pr_directory *directory, pr_slice key, int32_t *user,
                                 parsrec_error *err);
parsrec_status pr_directory_item(const pr_directory *directory, pr_slice word, int32_t *item,
                                 parsrec_error *err);
parsrec_status pr_directory_category(const pr_directory *directory, pr_slice word,
                                     int32_t *category, parsrec_error *err);

/* The items that have exactly this name, in the order of their numbers, `capacity` at most; returns how
 * many. */
size_t pr_directory_named(const pr_directory *directory, pr_slice name, int32_t *items,
                          size_t capacity);

/* How often names were searched for suggestions, in this process; for tests. */
uint64_t pr_directory_searches(void);

#endif
