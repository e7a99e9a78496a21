/* Words that the reports share. */
#ifndef PR_EXPLAIN_WORDS_H
#define PR_EXPLAIN_WORDS_H

#include "explain/explain.h"

/* All of these cut to size and return buffer. */

/* "TEA is 2.1 times as likely with BREAD in the basket": what a map says of a pair. */
char *pr_relation_words(const pr_explanation *e, pr_map_kind kind, const parsrec_relation *relation,
                        char *buffer, size_t size);
/* "Both in 132 of 9,120 baskets (TEA in 500, BREAD in 800): 3.01 times as often as by chance, ...". */
char *pr_evidence_words(const pr_explanation *e, const parsrec_relation *relation, char *buffer,
                        size_t size);
/* Why a relation is not confirmed: "too few baskets to tell". */
char *pr_verdict_words(const parsrec_relation *relation, char *buffer, size_t size);
/* "TEA with BREAD in the basket: 2.10 times as likely for A, 1.20 times for B". */
char *pr_contrast_words(const pr_explanation *e, const pr_contrast *contrast, char *buffer,
                        size_t size);
/* The counted lifts of both groups. */
char *pr_contrast_evidence(const pr_explanation *e, const pr_contrast *contrast, char *buffer,
                           size_t size);
/* The rule by which sentences are chosen, with its figures. */
char *pr_rule_words(const pr_explanation *e, char *buffer, size_t size);

/* "0.912", or "-" where there is no number. */
char *pr_explain_number(double value, char *buffer, size_t size);
/* 1234567 as "1,234,567". */
char *pr_explain_count(uint64_t count, char *buffer, size_t size);

/* One sentence on how far attention and drop effects agree; empty where that is not known. */
char *pr_agreement_words(const pr_explained_group *group, char *buffer, size_t size);

/* The map whose sentences stand first: the drop effect, or else lift, or attention; PR_MAP_KINDS: there is no
 * list at all. */
pr_map_kind pr_first_list(const pr_explanation *e);

#endif
