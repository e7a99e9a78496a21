/* Item names, and category paths such as "GROCERY > COOKIES" as a tree. */
#include <string.h>

#include "base/memory.h"
#include "import/import_features.h"

static const pr_table_column *find_column(const pr_table *table, pr_column_type type)
{
    for (size_t i = 0; i < table->column_count; i++)
        if (table->columns[i].type == type && table->columns[i].texts.count > 0)
            return &table->columns[i];
    return NULL;
}

/* The texts of a column for each item, -1 where there is none; NULL when out of memory. */
static int32_t *cells_of_items(const pr_table_column *c, const int32_t *rows, size_t items)
{
    int32_t *cells = pr_alloc(items, sizeof *cells);
    for (size_t i = 0; cells != NULL && i < items; i++)
        cells[i] = rows[i] >= 0 ? c->cells[rows[i]] : -1;
    return cells;
}

static bool any(const int32_t *cells, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (cells[i] >= 0)
            return true;
    return false;
}

static parsrec_status gather_names(pr_dataset *data, const pr_table_column *c, const int32_t *rows,
                                   pr_region *region, parsrec_error *err)
{
    int32_t *cells = cells_of_items(c, rows, data->items);
    if (cells == NULL)
        return pr_fail_memory(err);
    pr_names texts = pr_intern_view(&c->texts);
    parsrec_status status = PARSREC_OK;
    if (any(cells, data->items))
        status = pr_names_choose(&data->item_names, &texts, cells, data->items, region, err);
    pr_free(cells);
    return status;
}

/* ---- the tree ---- */

/* A node is known by its parent's number in 4 bytes, then its name. */
typedef struct tree {
    pr_intern nodes;
    char *scratch;
    size_t scratch_capacity;
} tree;

static parsrec_status add_node(tree *t, int32_t parent, pr_slice name, int32_t *node,
                               parsrec_error *err)
{
    uint32_t number;
    size_t size = sizeof parent + name.size;
    PR_TRY(pr_grow(&t->scratch, &t->scratch_capacity, size, 1, err));
    memcpy(t->scratch, &parent, sizeof parent);
    memcpy(t->scratch + sizeof parent, name.bytes, name.size);
    PR_TRY(pr_intern_add(&t->nodes, (pr_slice){t->scratch, size}, &number, err));
    *node = (int32_t)number;
    return PARSREC_OK;
}

/* Takes the first level off a path. */
static pr_slice next_level(pr_slice *path)
{
    static const char separator[] = " > ";
    const char *at = memmem(path->bytes, path->size, separator, strlen(separator));
    size_t size = at != NULL ? (size_t)(at - path->bytes) : path->size;
    size_t used = at != NULL ? size + strlen(separator) : size;
    pr_slice level = pr_slice_trim((pr_slice){path->bytes, size});
    *path = (pr_slice){path->bytes + used, path->size - used};
    return level;
}

size_t pr_category_depth(pr_slice path)
{
    size_t depth = 0;
    while (path.size > 0)
        depth += next_level(&path).size > 0;
    return depth;
}

/* The deepest node of a path below *node, its ancestors added before it. */
static parsrec_status add_path(tree *t, pr_slice path, int32_t *node, parsrec_error *err)
{
    while (path.size > 0) {
        pr_slice level = next_level(&path);
        if (level.size > 0)
            PR_TRY(add_node(t, *node, level, node, err));
    }
    return PARSREC_OK;
}

/* Splits the nodes' keys into names and parents. */
static parsrec_status write_tree(pr_dataset *data, const tree *t, pr_region *region,
                                 parsrec_error *err)
{
    size_t count = t->nodes.count;
    size_t bytes = count > 0 ? (size_t)t->nodes.offsets[count] - count * sizeof(int32_t) : 0;
    char *text = pr_region_take(region, bytes, 1);
    int64_t *offsets = pr_region_take(region, count + 1, sizeof *offsets);
    int32_t *parents = pr_region_take(region, count, sizeof *parents);
    if (text == NULL || offsets == NULL || parents == NULL)
        return pr_fail_memory(err);
    for (size_t i = 0; i < count; i++) {
        pr_slice key = pr_intern_name(&t->nodes, i);
        size_t size = key.size - sizeof *parents;
        memcpy(&parents[i], key.bytes, sizeof *parents);
        memcpy(text + offsets[i], key.bytes + sizeof *parents, size);
        offsets[i + 1] = offsets[i] + (int64_t)size;
    }
    data->categories = count;
    data->category_names = (pr_names){text, offsets, count};
    data->category_parent = parents;
    return PARSREC_OK;
}

/* The columns of the path, broad before narrow; returns how many. */
enum { PATH_COLUMNS = 16 };
static size_t path_columns(const pr_table *table, const pr_table_column **columns)
{
    size_t count = 0;
    for (size_t i = 0; i < table->column_count && count < PATH_COLUMNS; i++) {
        const pr_table_column *c = &table->columns[i];
        if (c->type != PR_COLUMN_TREE || c->texts.count == 0)
            continue;
        size_t at = count++;
        for (; at > 0 && columns[at - 1]->level > c->level; at--)
            columns[at] = columns[at - 1];
        columns[at] = c;
    }
    return count;
}

static parsrec_status fill_tree(tree *t, int32_t *item_category, const pr_table *table,
                                const int32_t *rows, size_t items, parsrec_error *err)
{
    const pr_table_column *columns[PATH_COLUMNS];
    size_t count = path_columns(table, columns);
    for (size_t i = 0; i < items; i++) {
        item_category[i] = -1;
        for (size_t k = 0; k < count; k++) {
            int32_t cell = rows[i] >= 0 ? columns[k]->cells[rows[i]] : -1;
            if (cell >= 0)
                PR_TRY(add_path(t, pr_intern_name(&columns[k]->texts, (size_t)cell),
                                &item_category[i], err));
        }
    }
    return PARSREC_OK;
}

static parsrec_status gather_tree(pr_dataset *data, const pr_table *table, const int32_t *rows,
                                  pr_region *region, parsrec_error *err)
{
    tree t = {0};
    int32_t *item_category = pr_region_take(region, data->items, sizeof *item_category);
    if (item_category == NULL)
        return pr_fail_memory(err);
    parsrec_status status = fill_tree(&t, item_category, table, rows, data->items, err);
    if (status == PARSREC_OK && t.nodes.count > 0) {
        data->item_category = item_category;
        status = write_tree(data, &t, region, err);
    }
    pr_intern_free(&t.nodes);
    pr_free(t.scratch);
    return status;
}

parsrec_status pr_catalogue_gather(pr_dataset *data, const pr_table *table, const int32_t *rows,
                                   pr_region *region, parsrec_error *err)
{
    const pr_table_column *names = find_column(table, PR_COLUMN_NAME);
    const pr_table_column *categories = find_column(table, PR_COLUMN_TREE);
    if (names != NULL)
        PR_TRY(gather_names(data, names, rows, region, err));
    if (categories != NULL)
        PR_TRY(gather_tree(data, table, rows, region, err));
    return PARSREC_OK;
}
