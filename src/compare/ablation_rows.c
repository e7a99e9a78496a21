/* Every row once: its name and what it sets. */
#include "compare/ablation_rows.h"

#include <stdio.h>
#include <string.h>

/* The paper's table, in its order. */
static const pr_ablation_row paper[] = {
    {"remove-ln", "layer_norm=off"},
    {"remove-dropout", "dropout.user=0:dropout.history=0:dropout.keys=0:dropout.output=none"},
    {"remove-q-in-ln", "layer_norm.query=off"},
    {"layers-2", "layers=2"},
    {"heads-1", "heads=1"},
    {"heads-4", "heads=4"},
    {"ffn-pre", "ffn=pre"},
    {"ffn-post", "ffn=post"},
    {"extra-features", "features.user=on:features.session=on:features.item=on"},
};

/* What the default settings add to the paper's, taken away one at a time, and what could stand in the place
 * of cell and loss. */
static const pr_ablation_row parts[] = {
    {"no-bias", "bias=off"},
    {"no-pull", "pull=off"},
    {"no-past", "past=off"},
    {"no-recall", "recall=off:neighbours=0"},
    {"no-neighbours", "neighbours=0"},
    {"no-kin", "kin=off"},
    {"no-order", "order=any"},
    {"no-unique", "unique=off"},
    {"no-weight-decay", "weight_decay=0"},
    {"gru", "cell=gru"},
    {"lstm", "cell=lstm"},
    {"bpr", "loss=bpr"},
    {"sampled", "loss=sampled"},
    {"user-features", "features.user=on"},
    {"session-features", "features.session=on"},
    {"item-features", "features.item=on"},
};

#define ROWS(list) list, sizeof list / sizeof *list
const pr_ablation_group pr_ablation_groups[] = {
    {"paper", "paper", "parsrec:preset=paper", true, ROWS(paper)},
    {"parts", "default", "parsrec", false, ROWS(parts)},
};
const size_t pr_ablation_group_count = sizeof pr_ablation_groups / sizeof *pr_ablation_groups;

bool pr_ablation_knows(const char *name, size_t name_size, char *list, size_t size)
{
    size_t used = 0;
    for (size_t g = 0; g < pr_ablation_group_count; g++)
        for (size_t i = 0; i < pr_ablation_groups[g].count; i++) {
            const char *known = pr_ablation_groups[g].rows[i].name;
            if (strlen(known) == name_size && memcmp(known, name, name_size) == 0)
                return true;
            if (used < size)
                used +=
                    (size_t)snprintf(list + used, size - used, "%s%s", used > 0 ? ", " : "", known);
        }
    return false;
}
