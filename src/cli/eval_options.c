/* Reads the words of evaluation options. */
#include "cli/eval_options.h"

#include <string.h>

#include "base/text.h"

const char *const cli_splits[] = {"test", "valid", NULL};
const char *const cli_protocols[] = {"all", "remaining", "next", "basket", NULL};

cli_eval_words cli_eval_default(void)
{
    return (cli_eval_words){.k = "1,5,10", .candidates = "uniform"};
}

/* "1,5,10" */
static bool read_cutoffs(parsrec_eval_options *o, const char *text)
{
    o->k_count = 0;
    for (pr_slice rest = pr_slice_of(text); rest.size > 0;) {
        size_t n = 0;
        while (n < rest.size && rest.bytes[n] != ',')
            n++;
        if (o->k_count == PARSREC_CUTOFFS_MOST ||
            !pr_parse_u64((pr_slice){rest.bytes, n}, &o->k[o->k_count]) || o->k[o->k_count] == 0)
            return false;
        o->k_count++;
        size_t skip = n < rest.size ? n + 1 : n;
        rest = (pr_slice){rest.bytes + skip, rest.size - skip};
    }
    return o->k_count > 0;
}

/* Lists for whole baskets are told over all items, as next-basket papers do; whoever asks for
 * candidates gets them under any protocol. */
static void set_candidates(parsrec_eval_options *o, const cli_eval_words *w)
{
    bool uniform = strcmp(w->candidates, "uniform") == 0;
    bool popular = strcmp(w->candidates, "popular") == 0;
    if (!uniform)
        o->candidates = popular ? PARSREC_CANDIDATES_POPULAR : PARSREC_CANDIDATES_FILE;
    o->candidates_path = uniform || popular ? NULL : w->candidates;
    if (w->negatives > 0)
        o->negatives = w->negatives;
    else if (w->full || (uniform && o->protocol == PARSREC_PROTOCOL_BASKET))
        o->negatives = 0;
    else
        o->negatives = parsrec_eval_default().negatives;
}

parsrec_eval_options cli_eval_for(const parsrec_eval_options *eval, const cli_eval_words *words,
                                  parsrec_protocol protocol)
{
    parsrec_eval_options o = *eval;
    o.protocol = protocol;
    set_candidates(&o, words);
    return o;
}

int cli_eval_apply(const cli_command *command, parsrec_eval_options *eval,
                   const cli_eval_words *words)
{
    if (!read_cutoffs(eval, words->k))
        return cli_usage_error(command, "--k %s: expected up to %d numbers from 1, as in 1,5,10",
                               words->k, PARSREC_CUTOFFS_MOST);
    if (words->full && (words->negatives > 0 || strcmp(words->candidates, "uniform") != 0))
        return cli_usage_error(command, "--full ranks every item: it goes without --negatives and "
                                        "--candidates");
    eval->protocol = (parsrec_protocol)(words->protocol > 0 ? words->protocol - 1 : 0);
    eval->split = words->split == 0 ? PARSREC_SPLIT_TEST : PARSREC_SPLIT_VALID;
    set_candidates(eval, words);
    if (words->negatives > 0 && eval->candidates_path != NULL)
        return cli_usage_error(command,
                               "--negatives: the file %s says how many candidates there are",
                               words->candidates);
    return CLI_CONTINUE;
}
