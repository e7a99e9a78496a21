/* The paper's what-if scenario, from synthesis to answer. */
#ifndef CLI_WHATIF_PAPER_H
#define CLI_WHATIF_PAPER_H

#include "parsrec.h"

/* The paper's scenario from synthesis on: in group A the categories C0 and C2 go together (covariance
 * .6), in group B they do not, C1 is independent of both; C0 is dropped. */
typedef struct cli_whatif_paper_options {
    uint64_t users, sessions;
    bool outside;    /* as in parsrec_synth_options */
    uint64_t models; /* trained, with seeds from `seed` on */
    uint64_t epochs; /* of each */
    uint64_t seed;   /* of the data, and of the first model */
} cli_whatif_paper_options;

cli_whatif_paper_options cli_whatif_paper_default(void);

/* Makes data and models in the folder, unless they are there already, and answers. Groups, what is
 * dropped and what is watched are the scenario's unless the options name others. A run that was stopped
 * or killed resumes where it was when called again. */
parsrec_status cli_whatif_paper(parsrec_whatif_answer **out, const char *folder,
                                const cli_whatif_paper_options *paper,
                                const parsrec_whatif_options *options, const parsrec_hooks *hooks,
                                parsrec_error *err);

#endif
