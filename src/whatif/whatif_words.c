/* Names and sentences that several reports use. */
#include <math.h>
#include <stdio.h>

#include "whatif/answer.h"

const char *parsrec_question_name(parsrec_question question)
{
    static const char *const names[] = {"selection", "rechoice"};
    return (size_t)question < PR_QUESTIONS ? names[question] : "unknown";
}

const char *parsrec_estimator_name(parsrec_estimator estimator)
{
    static const char *const names[] = {"rollout", "expected", "top10", "counted"};
    return (size_t)estimator < PR_ESTIMATORS ? names[estimator] : "unknown";
}

const char *pr_question_sentence(const pr_answer *a, size_t question)
{
    if (question == PARSREC_SELECTION)
        return "Selection: units sold a basket among baskets without it, against all baskets. It "
               "tells "
               "who the others are, not what they would do.";
    if (a->missing == PARSREC_MISSING_LEAVE)
        return "Re-choice: units sold to the same shoppers when it is not on the shelf; its place "
               "in a "
               "basket stays empty, and baskets are given up by the share that is missing.";
    return "Re-choice: units sold to the same shoppers when it is not on the shelf; they take "
           "something else instead, baskets keep their size.";
}
