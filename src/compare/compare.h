/* Several models on the same data: trained where they are missing, evaluated alike, reported. */
#ifndef PR_COMPARE_H
#define PR_COMPARE_H

#include "base/status.h"

/* Fills a zeroed comparison and writes the reports into the folder; data_path is NULL where a preset
 * makes the data. Free it with pr_comparison_clear, also on failure. */
parsrec_status pr_compare(parsrec_comparison *c, const char *data_path, const char *folder,
                          const parsrec_compare_options *options, const parsrec_hooks *hooks,
                          parsrec_error *err);

/* Its two halves, for lists of models that are made in between: everything but the data and the list, and
 * everything after c->stats and c->list are there. */
parsrec_status pr_comparison_begin(parsrec_comparison *c, const char *data_path, const char *folder,
                                   const parsrec_compare_options *options, parsrec_error *err);
parsrec_status pr_comparison_run(parsrec_comparison *c, const parsrec_data *data,
                                 const parsrec_compare_options *options, const parsrec_hooks *hooks,
                                 parsrec_error *err);

void pr_comparison_clear(parsrec_comparison *c);

#endif
