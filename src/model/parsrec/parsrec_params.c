/* PARSRec's table of functions and its parameters, listed once. */

#include <stdio.h>

#include "model/history.h"
#include "model/params.h"
#include "model/parsrec/parsrec_scorer.h"

static parsrec_status verify_lifts(const pr_model *model, const pr_lifts *lifts, parsrec_error *err)
{
    size_t to = pr_params_find(&model->params, "lifts.to")->rows;
    size_t logs = pr_params_find(&model->params, "lifts.logs")->rows;
    return pr_lifts_verify(lifts, to < logs ? to : logs, err);
}

static parsrec_status verify(const pr_model *model, parsrec_error *err)
{
    pr_arnn_dims d = pr_arnn_dims_of(model);
    pr_arnn_view v = pr_arnn_view_of(model, model->weights);
    if (d.neighbours > 0)
        PR_TRY(pr_near_verify(&v.near, d.neighbours, err));
    if (d.lifts > 0)
        PR_TRY(verify_lifts(model, &v.lifts, err));
    return d.pairs > 0 ? pr_pairs_verify(&v.pairs, err) : PARSREC_OK;
}

static parsrec_status check(const pr_config *config, parsrec_error *err)
{
    int query = config->dim_user + config->dim_item;
    if (query % config->heads != 0)
        return pr_fail(err, PARSREC_E_CONFIG,
                       "heads = %d does not divide dim.user + dim.item = %d; choose another number",
                       config->heads, query);
    if (config->loss == PR_LOSS_BCE || config->loss >= PR_LOSS_BPR_MAX)
        return pr_fail(err, PARSREC_E_CONFIG, "parsrec learns with loss = ce, sampled or bpr");
    if (config->neighbours > 0 && !config->recall)
        return pr_fail(err, PARSREC_E_CONFIG,
                       "neighbours = %d needs recall = on: it is what they add to",
                       config->neighbours);
    return PARSREC_OK;
}

/* The paper's network and the parts that add up: half the width then does as well. */
static const char *const settings[] = {
    "dim.user=64",      "dim.item=64",
    "bias=on",          "pull=on",
    "past=on",          "recall=on",
    "kin=on",           "neighbours=10",
    "unique=on",        "weight_decay=0.1",
    "order=auto",       "pull.fade=0.7",
    "user.shrink=-1",   "targets.soft=0.5",
    "mix=on",           "lifts=64",
    "batch=0",          "epochs=0",
    "recall.time=auto", "pairs=64",
    "best=protocols",   "average=auto",
    "loss=auto",        "lifts.after=on",
    "newest=on",        NULL,
};

static const char *weight_name(const pr_model *model, size_t i)
{
    pr_arnn_dims d = pr_arnn_dims_of(model);
    size_t n = pr_arnn_mix_weights(&d);
    return i < PR_MIX_STAGES * n ? pr_arnn_mix_name(&d, i / n, i % n) : NULL;
}

const pr_model_kind pr_parsrec = {
    .name = "parsrec",
    .settings = settings,
    .summary = "attention-fused recurrent network over user, history and basket",
    .shown = "mix.weights",
    .shown_name = weight_name,
    .reads_features = true,
    .history_table = "item_emb",
    .check = check,
    .layout = pr_arnn_layout,
    .make_ready = pr_arnn_make_ready,
    .ready_bytes = pr_arnn_ready_bytes,
    .state_bytes = sizeof(pr_arnn_state),
    .take = pr_arnn_take,
    .start = pr_arnn_start,
    .place = pr_arnn_place,
    .score_all = pr_arnn_score_all,
    .score = pr_arnn_score,
    .best = pr_arnn_best,
    .attention = pr_arnn_attention,
    .parts = pr_arnn_score_parts,
    .chunk_bytes = pr_arnn_chunk_bytes,
    .mask_bytes = pr_arnn_mask_bytes,
    .draw_mask = pr_arnn_draw_mask,
    .verify = verify,
    .learn = pr_arnn_learn,
    .drawn_items = pr_arnn_drawn_items,
    .fit_mix = pr_arnn_fit_mix,
    .mix_bytes = pr_arnn_mix_bytes,
    .recount = pr_arnn_recount,
    .operations = pr_arnn_operations,
};

pr_arnn_dims pr_arnn_dims_of(const pr_model *model)
{
    const pr_config *c = &model->config;
    pr_arnn_dims d = {.users = model->users, .items = model->items};
    d.du = (size_t)c->dim_user;
    d.dv = (size_t)c->dim_item;
    d.dq = d.du + d.dv;
    d.dz = d.dq + d.dv;
    d.heads = (size_t)c->heads;
    d.layers = (size_t)c->layers;
    d.norm = c->layer_norm != 0;
    d.residual = c->layer_norm_query != 0;
    d.paper = c->stack == PR_STACK_PAPER;
    d.ffn = (pr_ffn)c->ffn;
    d.cell = (pr_cell_kind)c->cell;
    d.blocks = pr_arnn_cell_blocks(d.cell);
    d.bias = c->bias != 0;
    d.pull = c->pull != 0;
    d.follow = c->order == PR_ORDER_STORED;
    d.fade = d.follow ? (pr_real)c->pull_fade : 1;
    d.past = c->past != 0;
    d.recall = c->recall != 0;
    d.times = d.recall && c->recall_time == PR_TIME_ON;
    d.gates = d.times ? PR_GATES : PR_GATES_PLAIN;
    d.mix = c->mix && d.recall && d.bias && c->neighbours > 0;
    d.kin = model->shares;
    d.kin_apart = c->kin == 0;
    d.neighbours = d.recall ? (size_t)c->neighbours : 0;
    d.pairs = (size_t)c->pairs;
    d.lifts = d.mix ? (size_t)c->lifts : 0;
    d.after = d.follow && c->lifts_after;
    d.inputs = &model->inputs;
    d.width = (size_t)c->features_width;
    d.eps = (pr_real)c->layer_norm_eps;
    return d;
}

size_t pr_arnn_map_width(const pr_arnn_dims *d, size_t layer)
{
    return layer + 1 == d->layers || d->paper ? d->dv : d->dq;
}

bool pr_arnn_is_upper(const pr_arnn_dims *d, size_t layer)
{
    return d->paper && layer > 0;
}

static void layer_tensor(pr_lister *l, pr_real **place, size_t layer, const char *what, size_t rows,
                         size_t cols, pr_fill fill)
{
    char name[48];
    snprintf(name, sizeof name, "attn.%u.%s", (unsigned)layer, what);
    pr_list_tensor(l, place, name, rows, cols, fill);
}

static void list_layer(pr_lister *l, pr_arnn_layer *v, const pr_arnn_dims *d, size_t i)
{
    bool upper = pr_arnn_is_upper(d, i);
    size_t dq = d->dq, out = pr_arnn_map_width(d, i);
    if (!upper) {
        layer_tensor(l, &v->query_w, i, "query_w", dq, dq, PR_FILL_MAP);
        layer_tensor(l, &v->query_b, i, "query_b", 1, dq, PR_FILL_BIAS);
    }
    layer_tensor(l, &v->kv_w, i, upper ? "value_w" : "kv_w", upper ? dq : 2 * dq, d->dv,
                 upper ? PR_FILL_MAP : PR_FILL_CELL);
    layer_tensor(l, &v->kv_b, i, upper ? "value_b" : "kv_b", 1, upper ? dq : 2 * dq, PR_FILL_BIAS);
    layer_tensor(l, &v->join_w, i, "join_w", dq, dq, PR_FILL_MAP);
    layer_tensor(l, &v->join_b, i, "join_b", 1, dq, PR_FILL_BIAS);
    if (d->norm) {
        layer_tensor(l, &v->gain, i, "norm_gain", 1, dq, PR_FILL_ONE);
        layer_tensor(l, &v->shift, i, "norm_shift", 1, dq, PR_FILL_BIAS);
    }
    layer_tensor(l, &v->map_w, i, "map_w", out, dq, PR_FILL_MAP);
    layer_tensor(l, &v->map_b, i, "map_b", 1, out, PR_FILL_BIAS);
}

static void list_cell(pr_lister *l, pr_arnn_view *v, const pr_arnn_dims *d)
{
    static const pr_fill maps[] = {
        [PR_CELL_RNN] = PR_FILL_CELL, [PR_CELL_GRU] = PR_FILL_FOUR, [PR_CELL_LSTM] = PR_FILL_FIVE};
    size_t rows = d->blocks * d->dv;
    pr_list_tensor(l, &v->cell_w, "cell_w", rows, d->dz, maps[d->cell]);
    pr_list_tensor(l, &v->cell_b, "cell_b", 1, rows,
                   d->cell == PR_CELL_RNN ? PR_FILL_CELL_BIAS : PR_FILL_BIAS);
}

static void list_parts(pr_lister *l, pr_arnn_view *v, const pr_arnn_dims *d)
{
    if (d->bias)
        pr_list_tensor(l, &v->bias, "bias", 1, d->items, PR_FILL_BIAS);
    if (d->pull) {
        pr_list_tensor(l, &v->pull, "pull_emb", d->items, d->dv, PR_FILL_TABLE);
        pr_list_tensor(l, &v->scale_w, "pull.user_w", d->dv, d->du, PR_FILL_BIAS);
    }
    if (d->follow)
        pr_list_tensor(l, &v->follow, "follow_emb", d->items + 1, d->dv, PR_FILL_TABLE);
    if (d->past)
        pr_list_tensor(l, &v->past_w, "past_w", d->dv, d->dv, PR_FILL_MAP);
    if (d->recall) {
        pr_list_tensor(l, &v->gate_w, "recall_w", d->gates, d->dz, PR_FILL_BIAS);
        pr_list_tensor(l, &v->gate_b, "recall_b", 1, d->gates, PR_FILL_BIAS);
    }
}

static void list_neighbours(pr_lister *l, pr_near *near, const pr_arnn_dims *d)
{
    pr_real *ends = NULL, *to = NULL;
    size_t V = d->items;
    pr_list_counted(l, &ends, "near.ends", 1, V, true);
    pr_list_counted(l, &to, "near.to", V, d->neighbours, true);
    pr_list_counted(l, &near->weights, "near.weights", V, d->neighbours, false);
    pr_list_counted(l, &near->base, "near.base", 1, V, false);
    if (l->add == NULL) {
        near->ends = (uint32_t *)(void *)ends;
        near->to = (uint32_t *)(void *)to;
        near->items = V;
    }
}

static void list_pairs(pr_lister *l, pr_arnn_view *v, const pr_arnn_dims *d)
{
    pr_real *class_of = NULL;
    pr_list_counted(l, &class_of, "pairs.class", 1, d->items, true);
    pr_list_counted(l, &v->pairs.priors, "pairs.priors", pr_pair_count(d->pairs), PR_PAIR_PRIOR,
                    false);
    pr_list_apart(l, &v->pair_gate, "pairs.gate", 1, PR_PAIR_GATES, PR_FILL_BIAS);
    if (l->add == NULL) {
        v->pairs.class_of = (uint32_t *)(void *)class_of;
        v->pairs.items = d->items;
        v->pairs.classes = d->pairs;
    }
}

static void list_lifts(pr_lister *l, pr_lifts *lifts, const pr_arnn_dims *d)
{
    pr_real *ends = NULL, *to = NULL;
    pr_list_counted(l, &ends, "lifts.ends", 1, d->items, true);
    pr_list_counted(l, &to, "lifts.to", PR_ROWS_OPEN, 1, true);
    pr_list_counted(l, &lifts->logs, "lifts.logs", PR_ROWS_OPEN, 1, false);
    if (l->add == NULL) {
        lifts->ends = (uint32_t *)(void *)ends;
        lifts->to = (uint32_t *)(void *)to;
        lifts->items = d->items;
    }
}

/* Maps that begin with nothing: training begins as it would without features. */
static void list_features(pr_lister *l, pr_arnn_view *v, const pr_arnn_dims *d)
{
    size_t numbers = d->inputs->numbers, width = d->width;
    if (d->inputs->words > 0)
        pr_list_apart(l, &v->word, PR_WORD_TABLE, d->inputs->rows, d->dv, PR_FILL_ZERO);
    if (numbers == 0)
        return;
    pr_list_apart(l, &v->about_scale, "feature.scale", numbers, PR_INPUT_SCALE, PR_FILL_COUNTED);
    pr_list_apart(l, &v->about_in_w, "feature.in_w", width, PR_INPUT_WIDTH * numbers, PR_FILL_MAP);
    pr_list_apart(l, &v->about_in_b, "feature.in_b", 1, width, PR_FILL_BIAS);
    pr_list_apart(l, &v->about_out_w, "feature.out_w", d->dv, width, PR_FILL_ZERO);
}

static void list_times(pr_lister *l, pr_purchase_times *v, const pr_arnn_dims *d)
{
    v->items = d->items;
    pr_list_apart(l, &v->intervals, "times.interval", 1, d->items, PR_FILL_COUNTED);
    pr_list_apart(l, &v->calendar, "times.calendar", 1, 2, PR_FILL_COUNTED);
    pr_list_apart(l, &v->trends, "times.trend", PR_PERIODS, d->items, PR_FILL_COUNTED);
}

static void list_all(pr_lister *l, pr_arnn_view *v, const pr_arnn_dims *d)
{
    pr_list_tensor(l, &v->item, "item_emb", d->items + 1, d->dv, PR_FILL_TABLE);
    list_cell(l, v, d);
    for (size_t i = 0; i < d->layers; i++)
        list_layer(l, &v->layer[i], d, i);
    if (d->ffn != PR_FFN_NONE) {
        pr_list_tensor(l, &v->ffn_in_w, "ffn.in_w", d->dv, d->dv, PR_FILL_MAP);
        pr_list_tensor(l, &v->ffn_in_b, "ffn.in_b", 1, d->dv, PR_FILL_BIAS);
        pr_list_tensor(l, &v->ffn_out_w, "ffn.out_w", d->dv, d->dv, PR_FILL_MAP);
        pr_list_tensor(l, &v->ffn_out_b, "ffn.out_b", 1, d->dv, PR_FILL_BIAS);
    }
    list_parts(l, v, d);
    if (d->neighbours > 0)
        list_neighbours(l, &v->near, d);
    list_features(l, v, d);
    if (d->times)
        list_times(l, &v->times, d);
    if (d->pairs > 0)
        list_pairs(l, v, d);
    if (d->mix) {
        pr_list_apart(l, &v->mix, "mix.weights", PR_MIX_STAGES, pr_arnn_mix_weights(d),
                      PR_FILL_COUNTED);
        pr_list_apart(l, &v->popular, "mix.popular", 1, d->items, PR_FILL_COUNTED);
    }
    if (d->lifts > 0)
        list_lifts(l, &v->lifts, d);
    if (d->kin)
        pr_list_shared(l, "item_emb", d->kin_apart);
    if (d->kin && d->pull)
        pr_list_shared(l, "pull_emb", d->kin_apart);
    if (d->kin && d->follow)
        pr_list_shared(l, "follow_emb", d->kin_apart);
}

parsrec_status pr_arnn_layout(pr_model *model, parsrec_error *err)
{
    pr_arnn_dims d = pr_arnn_dims_of(model);
    pr_arnn_view unused;
    pr_lister l = {.add = &model->params, .err = err};
    list_all(&l, &unused, &d);
    PR_TRY(l.status);
    pr_params_by_item(&model->params, "item_emb", PR_ITEMS_SCORED);
    pr_params_by_item(&model->params, "bias", PR_ITEMS_SCORED);
    pr_params_by_item(&model->params, "pull_emb", PR_ITEMS_PLACED);
    pr_params_by_item(&model->params, "follow_emb", PR_ITEMS_PLACED);
    return pr_params_add_users(&model->params, "user_emb", d.users + 1, d.du, err);
}

pr_arnn_view pr_arnn_view_of(const pr_model *model, pr_real *block)
{
    pr_arnn_dims d = pr_arnn_dims_of(model);
    pr_arnn_view v = {0};
    pr_lister l = {.have = &model->params, .block = block};
    list_all(&l, &v, &d);
    return v;
}

/* Gradients of users are apart (pr_chunk). */
pr_arnn_view pr_arnn_gradient_view(const pr_model *model, pr_real *block)
{
    pr_arnn_dims d = pr_arnn_dims_of(model);
    pr_arnn_view v = {0};
    pr_lister l = {.have = &model->params, .block = block, .packed = true};
    list_all(&l, &v, &d);
    return v;
}

size_t pr_arnn_drawn_items(const pr_model *model, size_t targets)
{
    (void)targets; /* all share the items drawn */
    return model->config.loss == PR_LOSS_CE ? PR_WHOLE_CATALOGUE : (size_t)model->config.negatives;
}

/* One layer, nothing shared between steps; attention itself is a trifle beside the maps. */
double pr_arnn_operations(const pr_model *model, const pr_batch *batch, uint64_t items)
{
    (void)batch;
    double dv = model->config.dim_item, dq = dv + model->config.dim_user;
    double blocks = (double)pr_arnn_cell_blocks((pr_cell_kind)model->config.cell);
    double maps = 2 * dq * dq                /* query and output of the attention */
                  + 2 * dv * dq              /* key and value */
                  + dq * dv                  /* what the attention hands on */
                  + blocks * (dq + dv) * dv; /* hidden state and output */
    double scored = model->config.loss == PR_LOSS_CE ? (double)model->items
                                                     : 1 + (double)model->config.negatives;
    return PR_OPERATIONS_A_PRODUCT * (double)items * (maps + dv * scored);
}
