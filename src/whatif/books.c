/* Ledgers side by side. */
#include "whatif/books.h"

#include "base/memory.h"

static parsrec_status init_ledgers(pr_ledger **out, const pr_cohort *cohort, size_t lines,
                                   size_t count, parsrec_error *err)
{
    *out = pr_alloc_zero(count, sizeof **out);
    if (*out == NULL)
        return pr_fail_memory(err);
    for (size_t i = 0; i < count; i++)
        PR_TRY(pr_ledger_init(&(*out)[i], cohort, lines, err));
    return PARSREC_OK;
}

static void free_ledgers(pr_ledger *ledgers, size_t count)
{
    for (size_t i = 0; ledgers != NULL && i < count; i++)
        pr_ledger_free(&ledgers[i]);
    pr_free(ledgers);
}

parsrec_status pr_book_init(pr_book *book, const pr_cohort *cohort, size_t lines, size_t scenarios,
                            parsrec_error *err)
{
    *book = (pr_book){0};
    PR_TRY(pr_ledger_init(&book->before, cohort, lines, err));
    for (size_t q = 0; q < PR_QUESTIONS; q++)
        PR_TRY(init_ledgers(&book->after[q], cohort, lines, scenarios, err));
    return init_ledgers(&book->refill, cohort, lines, scenarios, err);
}

void pr_book_free(pr_book *book, size_t scenarios)
{
    pr_ledger_free(&book->before);
    for (size_t q = 0; q < PR_QUESTIONS; q++)
        free_ledgers(book->after[q], scenarios);
    free_ledgers(book->refill, scenarios);
    *book = (pr_book){0};
}
