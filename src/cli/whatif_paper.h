/* The paper's what-if scenario, from synthesis to answer. */
#ifndef CLI_WHATIF_PAPER_H
#define CLI_WHATIF_PAPER_H

#include "parsrec.h"

/* In group A the categories C0 and C2 are bought together (covariance .6), in group B they are
 * independent, as C1 is everywhere; C0 is dropped. */
typedef struct cli_whatif_paper_options {
    uint64_t users, sessions;
    bool outside;    /* as in parsrec_synth_options */
    uint64_t models; /* trained, with seeds from `seed` on */
    uint64_t epochs; /* of each */
    uint64_t seed;   /* of the data, and of the first model */
} cli_whatif_paper_options;

cli_whatif_paper_options cli_whatif_paper_default(void);

/* Makes data and models in the folder, unless they exist, and answers. Groups, what is dropped and what
 * is watched are the scenario's unless the options name others. A run that was stopped or killed resumes
 * when it is called again. */
parsrec_status cli_whatif_paper(parsrec_whatif_answer **out, const char *folder,
                                const cli_whatif_paper_options *paper,
                                const parsrec_whatif_options *options, const parsrec_hooks *hooks,
                                parsrec_error *err);

#endif
