/* Users at equal distances: without chance, and from all over the group. */
#include "explain/some_users.h"

#include "base/memory.h"
#include "base/status.h"

static uint64_t baskets_of(const pr_user_group *group, const pr_dataset *data)
{
    uint64_t baskets = 0;
    for (size_t i = 0; i < group->count; i++) {
        const int64_t *own = data->user_offsets + group->users[i];
        baskets += (uint64_t)(own[1] - own[0]);
    }
    return baskets;
}

parsrec_status pr_some_users(pr_user_group *some, const pr_user_group *group,
                             const pr_dataset *data, uint64_t baskets_most, parsrec_error *err)
{
    uint64_t baskets = baskets_of(group, data);
    size_t step = 1;
    if (baskets_most > 0 && baskets > baskets_most)
        step = (size_t)((baskets + baskets_most - 1) / baskets_most);
    *some = (pr_user_group){.name = group->name};
    some->users = pr_alloc(group->count, sizeof *some->users);
    if (some->users == NULL)
        return pr_fail_memory(err);
    for (size_t i = 0; i < group->count; i += step)
        some->users[some->count++] = group->users[i];
    return PARSREC_OK;
}
