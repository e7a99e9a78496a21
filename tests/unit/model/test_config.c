/* model: settings, their messages, and the ways they are shown. */
#include "support/testing.h"

#include "base/memory.h"
#include "model/config.h"
#include "model/model.h"
#include "model/settle.h"

static void the_preset_is_the_papers(void **state)
{
    (void)state;
    parsrec_error err;
    pr_config c = pr_config_default(), p = pr_config_default();
    assert_int_equal(c.dim_user, 128);
    assert_int_equal(c.heads, 2);
    assert_int_equal(c.batch, 256);
    assert_close(c.rate, 0.001, 0);
    c.anyone = 0; /* the paper has no row of unknown users */
    assert_int_equal(c.dropout_output, PR_DROP_STEP);
    p.dim_user = 7, p.rate = 1, p.dropout_output = PR_DROP_NONE, p.epochs = 1;
    assert_ok(pr_config_preset(&p, "paper", &err));
    assert_memory_equal(&p, &c, sizeof c);
    assert_fails(pr_config_preset(&p, "papre", &err), PARSREC_E_CONFIG,
                 "there are: default, paper");
    assert_ok(pr_model_defaults(&p, "parsrec", &err));
    assert_true(p.recall && p.bias && p.pull && p.past && p.unique && p.kin && p.dim_item == 64);
    assert_ok(pr_config_preset(&p, "paper", &err)); /* takes all of it back */
    assert_memory_equal(&p, &c, sizeof c);
}

/* user.shrink = -1: 100, or 1,000 over the training baskets per user where these are more than ten. */
static void rows_of_users_with_many_baskets_are_shrunk_less(void **state)
{
    (void)state;
    parsrec_error err;
    static const struct {
        int64_t sessions; /* of each user: two are held out */
        double expected;
    } cases[] = {{3, 100}, {12, 100}, {52, 20}, {102, 10}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int64_t users[3], sessions[2 * 102 + 1];
        for (int64_t u = 0; u <= 2; u++)
            users[u] = u * cases[i].sessions;
        for (int64_t k = 0; k <= users[2]; k++)
            sessions[k] = k;
        pr_dataset data = {.users = 2,
                           .items = 5,
                           .sessions = (size_t)users[2],
                           .actions = (size_t)users[2],
                           .user_offsets = users,
                           .session_offsets = sessions};
        pr_config c;
        assert_ok(pr_model_defaults(&c, "parsrec", &err));
        pr_settle_sizes(&c, pr_model_kind_named("parsrec"), &data);
        assert_close(c.user_shrink, cases[i].expected, 1e-9);
        assert_ok(pr_config_assign(&c, "user.shrink=7", &err)); /* what is set stays */
        pr_settle_sizes(&c, pr_model_kind_named("parsrec"), &data);
        assert_close(c.user_shrink, 7, 0);
    }
}

static void values_are_read_strictly(void **state)
{
    (void)state;
    parsrec_error err;
    pr_config c = pr_config_default();
    assert_ok(pr_config_assign(&c, " rate = 1e-2 ", &err));
    assert_close(c.rate, 0.01, 0);
    assert_ok(pr_config_assign(&c, "layer_norm=off", &err));
    assert_int_equal(c.layer_norm, 0);
    assert_ok(pr_config_assign(&c, "history=decayed", &err));
    assert_int_equal(c.history, PR_HISTORY_DECAYED);
    assert_fails(pr_config_assign(&c, "rate=0.1x", &err), PARSREC_E_CONFIG, "rate");
    assert_fails(pr_config_assign(&c, "rate=nan", &err), PARSREC_E_CONFIG, "rate");
    assert_fails(pr_config_assign(&c, "heads=0", &err), PARSREC_E_CONFIG, "from 1 to 64");
    assert_fails(pr_config_assign(&c, "heads=2.5", &err), PARSREC_E_CONFIG, "whole number");
    assert_fails(pr_config_assign(&c, "stack=up", &err), PARSREC_E_CONFIG, "query, paper");
    assert_fails(pr_config_assign(&c, "layer_norm=maybe", &err), PARSREC_E_CONFIG, "on nor off");
    assert_fails(pr_config_assign(&c, "depth=3", &err), PARSREC_E_CONFIG, "no setting 'depth'");
    assert_fails(pr_config_assign(&c, "heads", &err), PARSREC_E_CONFIG, "key=value");
    c.heads = 3;
    assert_fails(pr_model_check("parsrec", &c, &err), PARSREC_E_CONFIG, "does not divide");
    assert_fails(pr_model_check("sasrec", &c, &err), PARSREC_E_CONFIG, "does not divide");
    c.heads = 2;
    c.loss = PR_LOSS_BCE;
    assert_fails(pr_model_check("bert4rec", &c, &err), PARSREC_E_CONFIG, "loss = ce only");
    assert_ok(pr_model_check("sasrec", &c, &err));
    assert_fails(pr_model_check("parsrec", &c, &err), PARSREC_E_CONFIG, "ce, sampled or bpr");
    c.loss = PR_LOSS_BPR;
    assert_ok(pr_model_check("parsrec", &c, &err));
    assert_fails(pr_model_check("sasrec", &c, &err), PARSREC_E_CONFIG, "ce or bce");
}

static void files_name_the_line(void **state)
{
    (void)state;
    parsrec_error err;
    pr_config c = pr_config_default();
    const char *good = "# a comment\n\nheads = 4 # and another\r\n  batch=64";
    assert_ok(pr_config_read(&c, good, strlen(good), "my.conf", &err));
    assert_int_equal(c.heads, 4);
    assert_int_equal(c.batch, 64);
    const char *bad = "heads = 4\nbatch = many\n";
    assert_fails(pr_config_read(&c, bad, strlen(bad), "my.conf", &err), PARSREC_E_CONFIG,
                 "my.conf:2: setting batch");
}

static void what_is_shown_reads_back(void **state)
{
    (void)state;
    parsrec_error err;
    pr_config c = pr_config_default(), back = pr_config_default();
    assert_ok(pr_config_assign(&c, "rate=0.0123456789012345", &err));
    assert_ok(pr_config_assign(&c, "ffn=post", &err));
    assert_ok(pr_config_assign(&c, "layer_norm.query=off", &err));
    char *text = pr_config_text(&c);
    assert_non_null(text);
    assert_non_null(strstr(text, "# learning rate (1e-07..10)\nrate = 0.0123456789012345\n"));
    assert_ok(pr_config_read(&back, text, strlen(text), "text", &err));
    assert_memory_equal(&back, &c, sizeof c);
    pr_free(text);
    json_t *json = pr_config_json(&c);
    assert_int_equal(json_object_size(json), pr_config_count());
    back = pr_config_default();
    assert_ok(pr_config_from_json(&back, json, &err));
    assert_memory_equal(&back, &c, sizeof c);
    json_object_set_new(json, "depth", json_integer(3));
    assert_fails(pr_config_from_json(&back, json, &err), PARSREC_E_CONFIG, "depth");
    json_decref(json);
    json = json_pack("{s:[]}", "heads");
    assert_fails(pr_config_from_json(&back, json, &err), PARSREC_E_CONFIG, "heads");
    json_decref(json);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_preset_is_the_papers),
        cmocka_unit_test(rows_of_users_with_many_baskets_are_shrunk_less),
        cmocka_unit_test(values_are_read_strictly),
        cmocka_unit_test(files_name_the_line),
        cmocka_unit_test(what_is_shown_reads_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
