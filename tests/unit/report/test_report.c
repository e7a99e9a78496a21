/* report: one document in every format. */
#include "support/testing.h"

#include "base/memory.h"
#include "report/report.h"

static void assert_has(const char *text, const char *piece)
{
    if (strstr(text, piece) == NULL)
        fail_msg("'%s' is not in:\n%s", piece, text);
}

static void build(pr_report *r)
{
    static const pr_report_column columns[] = {
        {"model", PR_REPORT_WORDS, 0, NULL, 12},
        {"HR@1", PR_REPORT_SHARE, 4, NULL, 0},
        {"difference to the best", PR_REPORT_SIGNED, 1, " %", 0},
        {"why", PR_REPORT_WORDS, 0, NULL, 0},
    };
    pr_report_add(r, PR_REPORT_TITLE, "Models & <more>");
    pr_write(pr_report_open(r, PR_REPORT_LEAD), "The best is %s.", "a|b");
    pr_report_only(r, PR_IN_HTML);
    pr_report_add(r, PR_REPORT_CHART, "<svg></svg>");
    pr_report_only(r, PR_IN_READING | PR_IN_CSV);
    pr_report_table(r, columns, 4);
    pr_report_row(r, PR_ROW_PLAIN, "a|b");
    pr_report_number(r, 0.5, PR_BEST);
    pr_report_number(r, NAN, PR_PLAIN);
    pr_report_words(r, PR_PLAIN, "the %s", "best");
    pr_report_row(r, PR_ROW_PLAIN, "=second and a long name");
    pr_report_number(r, 1.0 / 3, PR_SECOND);
    pr_report_number(r, -33.333, PR_LESS);
    pr_report_row(r, PR_ROW_ASIDE, "random");
    pr_report_number(r, -0.00001, PR_PLAIN);
    pr_report_only(r, 0);
    pr_report_add(r, PR_REPORT_NOTE, "A note.");
    pr_report_fact(r, "data", "%s", "shop.st");
    pr_report_fact(r, "seed", "%d", 1);
    pr_report_finding(r, "Milk goes with bread.", "12 baskets");
    pr_report_finding(r, "Tea does not.", "3 baskets");
}

static char *written(unsigned wanted, parsrec_text_kind kind)
{
    parsrec_error err;
    pr_report r = {.wanted = wanted};
    pr_writer out = {0};
    build(&r);
    assert_ok(pr_report_write(&out, &r, kind, &err));
    pr_report_free(&r);
    return pr_writer_take(&out);
}

static void as_text(void **state)
{
    (void)state;
    char *text = written(0, PARSREC_TEXT_PLAIN);
    assert_has(text, "The best is a|b.\n\n"
                     "                     difference\n"
                     "               HR@1 to the best  why\n"
                     "-----------------------------------------\n"
                     "a|b           .5000           -  the best\n"
                     "=second and…  .3333     -33.3 %\n"
                     "-----------------------------------------\n"
                     "random        .0000\n"
                     "A note.\n\n"
                     "data: shop.st\n"
                     "seed: 1\n\n"
                     " 1. Milk goes with bread.\n"
                     "    12 baskets\n"
                     " 2. Tea does not.\n"
                     "    3 baskets\n");
    assert_null(strstr(text, "svg"));
    pr_free(text);
}

static void as_terminal(void **state)
{
    (void)state;
    char *text = written(PR_IN_TEXT, PARSREC_TEXT_TERMINAL);
    assert_has(text, "\033[1m.5000\033[0m");
    assert_has(text, "\033[4m.3333\033[0m");
    pr_free(text);
}

static void as_markdown(void **state)
{
    (void)state;
    char *text = written(0, PARSREC_TEXT_MARKDOWN);
    assert_has(text, "# Models \\& \\<more\\>\n\nThe best is a\\|b.\n\n"
                     "| model | HR@1 | difference to the best | why |\n|---|--:|--:|---|\n"
                     "| a\\|b | **.5000** | - | the best |\n");
    assert_has(text, "| <u>.3333</u> | **-33.3 %** | |\n");
    assert_has(text,
               "| *random* | .0000 | | |\n\nA note.\n\n- data: shop.st\n- seed: 1\n\n1. Milk");
    pr_free(text);
}

/* Numbers in full, names guarded against spreadsheets, nothing but the table. */
static void as_csv(void **state)
{
    (void)state;
    char *text = written(0, PARSREC_TEXT_CSV);
    assert_string_equal(text, "model,HR@1,difference to the best,why\na|b,0.5,,the best\n"
                              "'=second and a long name,0.33333333333333331,-33.332999999999998,\n"
                              "random,-1.0000000000000001e-05,,\n");
    pr_free(text);
}

static void as_html(void **state)
{
    (void)state;
    char *text = written(0, PARSREC_TEXT_HTML);
    assert_has(text, "<h1>Models &amp; &lt;more&gt;</h1>");
    assert_has(text, "<svg></svg>");
    assert_has(text, "<td class=\"best\">.5000</td>");
    assert_has(text, "<td class=\"less\">-33.3 %</td>");
    assert_has(text, "<dl>\n<dt>data</dt>\n<dd>shop.st</dd>\n<dt>seed</dt>\n<dd>1</dd>\n</dl>");
    assert_has(text, "<ol>\n<li>Milk");
    assert_has(text, "</ol>");
    pr_free(text);
}

static void numbers_as_papers_write_them(void **state)
{
    (void)state;
    char text[32];
    assert_string_equal(pr_share_text(0.21364, 4, text, sizeof text), ".2136");
    assert_string_equal(pr_share_text(1, 4, text, sizeof text), "1.0000");
    assert_string_equal(pr_share_text(-0.5, 4, text, sizeof text), "-.5000");
    assert_string_equal(pr_share_text(-0.00001, 4, text, sizeof text), ".0000");
    assert_string_equal(pr_share_text(10.5, 4, text, sizeof text), "10.5000");
    assert_string_equal(pr_share_text(NAN, 4, text, sizeof text), "-");
    assert_string_equal(pr_share_text(0.0123, 3, text, sizeof text), ".012");
}

/* What nobody wants is not kept. */
static void only_what_is_wanted(void **state)
{
    (void)state;
    pr_report r = {.wanted = PR_IN_TEXT};
    pr_report_only(&r, PR_IN_HTML);
    assert_false(pr_report_is_wanted(&r));
    pr_write(pr_report_open(&r, PR_REPORT_CHART), "<svg>");
    pr_report_fact(&r, "a", "b");
    pr_report_table(&r, &(pr_report_column){"x", PR_REPORT_WORDS, 0, NULL, 0}, 1);
    pr_report_row(&r, PR_ROW_PLAIN, "row");
    assert_int_equal(r.block_count, 0);
    assert_int_equal(r.text.size, 0);
    pr_report_only(&r, 0);
    assert_true(pr_report_is_wanted(&r));
    pr_report_free(&r);
}

static void no_memory(void **state)
{
    (void)state;
    static const parsrec_text_kind kinds[] = {PARSREC_TEXT_PLAIN, PARSREC_TEXT_MARKDOWN,
                                              PARSREC_TEXT_CSV, PARSREC_TEXT_HTML};
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        parsrec_status status = PARSREC_E_MEMORY;
        for (size_t after = 0; status != PARSREC_OK; after++) {
            parsrec_error err = {0};
            pr_report r = {0};
            pr_writer out = {0};
            pr_memory_fail_after(after);
            build(&r);
            status = pr_report_write(&out, &r, kinds[k], &err);
            pr_memory_fail_after(SIZE_MAX);
            pr_report_free(&r);
            pr_writer_free(&out);
            assert_true(status == PARSREC_OK || status == PARSREC_E_MEMORY);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(as_text),
        cmocka_unit_test(as_terminal),
        cmocka_unit_test(as_markdown),
        cmocka_unit_test(as_csv),
        cmocka_unit_test(as_html),
        cmocka_unit_test(only_what_is_wanted),
        cmocka_unit_test(numbers_as_papers_write_them),
        cmocka_unit_test(no_memory),
    };
    return cmocka_run_group_tests_name("report", tests, NULL, NULL);
}
