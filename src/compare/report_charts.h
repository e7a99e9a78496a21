/* The pictures of the page, each a section of it. */
#ifndef PR_REPORT_CHARTS_H
#define PR_REPORT_CHARTS_H

#include "compare/comparison.h"

typedef enum pr_chart {
    PR_CHART_MEASURES, /* bars with intervals, one picture a measure */
    PR_CHART_SPLIT,    /* repeat and new items */
    PR_CHART_LEARNING, /* validation after each epoch */
} pr_chart;

/* Writes nothing where there is nothing to show. */
parsrec_status pr_report_chart(pr_writer *page, const parsrec_comparison *c, pr_chart chart,
                               parsrec_error *err);

#endif
