/* eval: every rule against steps worked out by hand. */
#include "support/testing.h"

#include "eval/evaluation.h"

/* The sums of one basket, and how they are asked for. */
typedef struct sheet {
    pr_eval_protocol protocol;
    float sums[PR_ASPECTS * (1 + PR_COLUMNS_MOST * PR_CUTOFFS)];
} sheet;

static sheet sheet_of(const pr_rule *rule, size_t negatives)
{
    sheet s = {.protocol = pr_protocol_paper(PR_TEST)};
    s.protocol.rule = rule;
    s.protocol.negatives = negatives;
    s.protocol.k_count = 2;
    s.protocol.k[0] = 1;
    s.protocol.k[1] = 3;
    return s;
}

static double sum(sheet *s, pr_aspect aspect, size_t column, size_t k)
{
    return (double)pr_sums_column(&s->protocol, s->sums, aspect, column)[k];
}

static double weight(sheet *s, pr_aspect aspect)
{
    return (double)*pr_sums_weight(&s->protocol, s->sums, aspect);
}

/* A basket of four items, two of which the user had before, against three others. */
static const float theirs[] = {0.5f, 0.8f, 0.1f};
static const float mine[] = {0.3f, 0.5f, 0.9f, 0.5f};
static const bool seen[] = {true, true, false, false};

static pr_rule_step step_of(const sheet *s, const bool *taken, size_t number)
{
    return (pr_rule_step){.protocol = &s->protocol,
                          .number = number,
                          .size = 4,
                          .taken = taken,
                          .seen = seen,
                          .mine = mine,
                          .theirs = theirs,
                          .their_count = 3};
}

static void the_best_remaining_item_counts(void **state)
{
    (void)state;
    sheet s = sheet_of(&pr_rule_remaining, 3);
    bool taken[4] = {false};
    pr_rule_step step = step_of(&s, taken, 0);
    /* Item 2 stands first of all. Of those the user had, item 1 is best: 0.8 is above it and 0.5 ties. */
    assert_int_equal(pr_rule_remaining.count_step(&step, s.sums), 2);
    assert_close(weight(&s, PR_ALL), 1, 0);
    assert_close(sum(&s, PR_ALL, 0, 0), 1, 0);
    assert_close(sum(&s, PR_ALL, 1, 1), 1, 0);
    assert_close(sum(&s, PR_REPEAT, 0, 0), 0, 0);
    assert_close(sum(&s, PR_REPEAT, 0, 1), 1, 0);
    assert_close(sum(&s, PR_REPEAT, 1, 1), 0.5, 1e-7); /* 1 / log2(2 + 2) */
    assert_close(sum(&s, PR_FRESH, 1, 1), 1, 0);
    /* Items 1 and 3 are equal: stored order decides. */
    taken[2] = true;
    assert_int_equal(pr_rule_remaining.count_step(&step, s.sums), 1);
    assert_close(sum(&s, PR_ALL, 0, 0), 1, 0);
    assert_close(sum(&s, PR_ALL, 0, 1), 2, 0);
    assert_close(sum(&s, PR_ALL, 1, 1), 1.5, 1e-7);
    /* Out of the first two, the first remaining item is placed. */
    s.protocol.place_k = 2;
    assert_int_equal(pr_rule_remaining.count_step(&step, s.sums), 0);
    /* When all repeat items are placed, only the other aspect goes on. */
    taken[0] = taken[1] = true;
    assert_int_equal(pr_rule_remaining.count_step(&step, s.sums), 3);
    assert_close(weight(&s, PR_ALL), 4, 0);
    assert_close(weight(&s, PR_REPEAT), 3, 0);
    assert_close(weight(&s, PR_FRESH), 4, 0);
}

static void one_target_at_a_time(void **state)
{
    (void)state;
    sheet s = sheet_of(&pr_rule_next, 3);
    bool taken[4] = {false};
    for (size_t j = 0; j < 4; j++) {
        pr_rule_step step = step_of(&s, taken, j);
        assert_int_equal(pr_rule_next.count_step(&step, s.sums), j);
        taken[j] = true;
    }
    /* Ranks 2, 2, 0, 2. */
    assert_close(weight(&s, PR_ALL), 4, 0);
    assert_close(sum(&s, PR_ALL, 0, 0), 1, 0);
    assert_close(sum(&s, PR_ALL, 0, 1), 4, 0);
    assert_close(sum(&s, PR_ALL, 1, 1), 2.5, 1e-6);
    assert_close(sum(&s, PR_ALL, 2, 0), 2, 1e-6); /* 1/3 + 1/3 + 1 + 1/3 */
    assert_close(weight(&s, PR_REPEAT), 2, 0);
    assert_close(sum(&s, PR_REPEAT, 1, 1), 1, 1e-6);
    assert_close(sum(&s, PR_FRESH, 2, 0), 4.0 / 3, 1e-6);
}

/* Over the whole catalogue later items of the session are wrong answers too. */
static void later_items_rank_as_well(void **state)
{
    (void)state;
    sheet s = sheet_of(&pr_rule_next, 0);
    bool taken[4] = {false};
    for (size_t j = 0; j < 4; j++) {
        pr_rule_step step = step_of(&s, taken, j);
        pr_rule_next.count_step(&step, s.sums);
    }
    /* Item 0: two others and three of its own; item 1: two and both later ones; items 2 and 3 as before. */
    assert_close(sum(&s, PR_ALL, 2, 0), 1.0 / 6 + 1.0 / 5 + 1 + 1.0 / 3, 1e-6);
}

/* One list of seven: item 2, an other, item 1 after the other it ties with and before item 3, which is
 * stored later: places 0, 3 and 4; item 0 is after all of them and before the other of 0.1: place 5. */
static void one_list_for_the_whole_basket(void **state)
{
    (void)state;
    enum { RECALL = PR_COLUMN_HITS, NDCG = PR_COLUMN_GAIN, PRECISION, NDCG_WHOLE, PHR };
    sheet s = sheet_of(&pr_rule_basket, 3);
    s.protocol.k_count = 3;
    s.protocol.k[2] = 5;
    bool taken[4] = {false};
    pr_rule_step step = step_of(&s, taken, 0);
    pr_rule_basket.count_step(&step, s.sums);
    double at[] = {1, 0.6309297535714575, 0.5, 0.43067655807339306, 0.38685280723454163};
    assert_close(weight(&s, PR_ALL), 1, 0);
    assert_close(sum(&s, PR_ALL, RECALL, 0), 0.25, 1e-7);
    assert_close(sum(&s, PR_ALL, RECALL, 2), 0.75, 1e-7);
    assert_close(sum(&s, PR_ALL, PRECISION, 1), 1.0 / 3, 1e-7);
    assert_close(sum(&s, PR_ALL, PRECISION, 2), 0.6, 1e-7);
    assert_close(sum(&s, PR_ALL, NDCG, 0), 1, 1e-7);
    assert_close(sum(&s, PR_ALL, NDCG, 1), 1 / (at[0] + at[1] + at[2]), 1e-7);
    double whole = at[0] + at[1] + at[2] + at[3], gain = at[0] + at[3] + at[4];
    assert_close(sum(&s, PR_ALL, NDCG, 2), gain / whole, 1e-7);
    assert_close(sum(&s, PR_ALL, NDCG_WHOLE, 1), 1 / whole, 1e-7);
    assert_close(sum(&s, PR_ALL, PHR, 0), 1, 0);
    /* Items 0 and 1, had before: one of them within five, none within three. */
    assert_close(sum(&s, PR_REPEAT, RECALL, 2), 0.5, 1e-7);
    assert_close(sum(&s, PR_REPEAT, NDCG, 2), at[3] / (at[0] + at[1]), 1e-7);
    assert_close(sum(&s, PR_REPEAT, PHR, 1), 0, 0);
    assert_close(sum(&s, PR_REPEAT, PHR, 2), 1, 0);
    assert_close(sum(&s, PR_FRESH, RECALL, 2), 1, 1e-7);
}

/* ---- many baskets ---- */

/* Two baskets by one rule. The first has two items of the four, the second all of them. */
typedef struct pair {
    sheet sheets[2];
    pr_evaluated baskets[2];
    pr_scores scores;
} pair;

static void walk_pair(pair *p, const pr_rule *rule)
{
    static const uint32_t sizes[] = {2, 4};
    for (size_t b = 0; b < 2; b++) {
        p->sheets[b] = sheet_of(rule, 3);
        p->baskets[b] = (pr_evaluated){
            .size = sizes[b], .steps = rule->one_step ? 1 : sizes[b], .sums = p->sheets[b].sums};
        bool taken[4] = {false};
        for (size_t j = 0; j < p->baskets[b].steps; j++) {
            pr_rule_step step = step_of(&p->sheets[b], taken, j);
            step.size = sizes[b];
            taken[rule->count_step(&step, p->sheets[b].sums)] = true;
        }
    }
    pr_scores_sum(&p->scores, &p->sheets[0].protocol, p->baskets, 2);
}

/* The first basket has items 0 and 1: item 1 at rank 2, then item 0 at rank 2; both had before. The
 * second: item 2 at rank 0, then items 1, 3 and 0, each at rank 2. */
static void steps_and_baskets_have_means_of_their_own(void **state)
{
    (void)state;
    pair p;
    walk_pair(&p, &pr_rule_remaining);
    double(*all)[PR_CUTOFFS] = p.scores.value[PR_ALL];
    assert_int_equal(p.scores.steps, 6);
    assert_close(all[PR_HR][0], 1.0 / 6, 1e-9);               /* one step of six */
    assert_close(all[PR_SESS_PREC][0], (0 + 0.25) / 2, 1e-9); /* none of two, one of four */
    assert_close(all[PR_HR][1], 1, 1e-9);
    assert_close(all[PR_SESS_PREC][1], 1, 1e-9);
    assert_close(all[PR_NDCG][0], 1.0 / 6, 1e-9);
    assert_close(all[PR_NDCG][1], (1 + 5 * 0.5) / 6, 1e-7);
    /* New items are in the second basket alone: item 2 at rank 0, then item 3 twice; when the last
     * step comes, none is left. */
    assert_close(p.scores.weight[PR_FRESH], 3, 0);
    assert_close(p.scores.value[PR_FRESH][PR_HR][0], 1.0 / 3, 1e-9);
    assert_close(p.scores.value[PR_FRESH][PR_SESS_PREC][0], 1.0 / 3, 1e-9); /* of one basket */
    /* Had before: two steps of the first basket and all four of the second. */
    assert_close(p.scores.weight[PR_REPEAT], 6, 0);
    assert_close(p.scores.value[PR_REPEAT][PR_SESS_PREC][0], 0, 0);
}

static void reciprocal_ranks_and_shares_of_hits(void **state)
{
    (void)state;
    pair p;
    walk_pair(&p, &pr_rule_next); /* ranks 2, 2, and 2, 2, 0, 2 */
    double(*all)[PR_CUTOFFS] = p.scores.value[PR_ALL];
    assert_close(all[PR_MRR][0], (5.0 / 3 + 1) / 6, 1e-7);
    assert_close(all[PR_HR][0], 1.0 / 6, 1e-9);
    assert_close(all[PR_SESS_PREC][0], (0 + 0.25) / 2, 1e-9);
}

/* Alone with the others, items 1 and 0 of the first basket stand at places 2 and 3. */
static void lists_have_a_mean_over_baskets(void **state)
{
    (void)state;
    pair p;
    walk_pair(&p, &pr_rule_basket);
    double(*all)[PR_CUTOFFS] = p.scores.value[PR_ALL];
    assert_close(all[PR_RECALL][0], (0 + 0.25) / 2, 1e-7);
    assert_close(all[PR_RECALL][1], (0.5 + 0.25) / 2, 1e-7);
    assert_close(all[PR_PRECISION][1], 1.0 / 3, 1e-7);
    assert_close(all[PR_PHR][0], 0.5, 1e-7);
    assert_close(all[PR_PHR][1], 1, 1e-7);
    double first = 0.5 / (1 + 0.6309297535714575), second = 1 / (1 + 0.6309297535714575 + 0.5);
    assert_close(all[PR_NDCG][1], (first + second) / 2, 1e-7);
    double whole = 1 / (1 + 0.6309297535714575 + 0.5 + 0.43067655807339306);
    assert_close(all[PR_NDCG_WHOLE][1], (first + whole) / 2, 1e-7);
}

static void what_is_not_recommended_is_no_hit(void **state)
{
    (void)state;
    static const float none[] = {-INFINITY, -INFINITY, -INFINITY, -INFINITY};
    bool taken[4] = {false};
    for (size_t i = 0; i < PARSREC_PROTOCOLS; i++) {
        sheet s = sheet_of(pr_rules[i], 1);
        pr_rule_step step = step_of(&s, taken, 0);
        step.mine = none;
        step.their_count = 0;
        pr_rules[i]->count_step(&step, s.sums);
        assert_close(weight(&s, PR_ALL), 1, 0);
        for (size_t c = 0; c < pr_rules[i]->columns; c++)
            assert_close(sum(&s, PR_ALL, c, 1), 0, 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_best_remaining_item_counts),
        cmocka_unit_test(one_target_at_a_time),
        cmocka_unit_test(later_items_rank_as_well),
        cmocka_unit_test(one_list_for_the_whole_basket),
        cmocka_unit_test(steps_and_baskets_have_means_of_their_own),
        cmocka_unit_test(reciprocal_ranks_and_shares_of_hits),
        cmocka_unit_test(lists_have_a_mean_over_baskets),
        cmocka_unit_test(what_is_not_recommended_is_no_hit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
