/* Ground truth into tensors and back. */
#include "synth/truth.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "base/memory.h"
#include "data/dataset.h"

static const char *const feature_words[] = {"none", "signal", "noise", "all"};

/* ---- writing ---- */

size_t pr_truth_tensors(const pr_truth *t, pr_tensor *tensors)
{
    size_t U = t->users, V = t->items, G = t->groups, C = t->categories, P = t->products, n = 0;
#define TENSOR(name, dtype, type, rank, a, b, c) \
    tensors[n++] = (pr_tensor){"truth." #name, PR_##dtype, rank, {a, b, c}, t->name};
    PR_TRUTH_TENSORS(TENSOR)
#undef TENSOR
    const pr_names *names = &t->group_names;
    tensors[n++] = (pr_tensor){"truth.group_names.bytes",
                               PR_U8,
                               1,
                               {(uint64_t)names->offsets[names->count]},
                               names->bytes};
    tensors[n++] =
        (pr_tensor){"truth.group_names.offsets", PR_I64, 1, {names->count + 1}, names->offsets};
    assert(n <= PR_TRUTH_MOST_TENSORS);
    return n;
}

static json_t *constants_json(const pr_size_law *law)
{
    json_t *json = json_object();
    int bad = json == NULL;
#define CONSTANT(name, value) bad |= json_object_set_new(json, #name, json_real(value));
    PR_SYNTH_CONSTANTS(CONSTANT)
#undef CONSTANT
    bad |= json_object_set_new(json, "size_shape", json_real(law->shape));
    bad |= json_object_set_new(json, "size_scale", json_real(law->scale));
    if (bad == 0)
        return json;
    json_decref(json);
    return NULL;
}

static json_t *source_json(const parsrec_synth_options *o)
{
    const pr_size_law *law = pr_size_law_of(o->size_rule);
    char seed[24]; /* text, because JSON readers differ on numbers above 2^53 */
    snprintf(seed, sizeof seed, "%" PRIu64, o->seed);
    json_t *json = json_pack("{s:s, s:I, s:I, s:I, s:I, s:s, s:b, s:s, s:o}", "kind", "synth",
                             "users", (json_int_t)o->users, "sessions", (json_int_t)o->sessions,
                             "categories", (json_int_t)o->categories, "products",
                             (json_int_t)o->products, "size_rule", law->name, "outside",
                             (int)o->outside, "seed", seed, "constants", constants_json(law));
    if (o->features != PARSREC_FEATURES_NONE && json != NULL &&
        json_object_set_new(json, "features", json_string(feature_words[o->features])) != 0) {
        json_decref(json);
        return NULL;
    }
    return json;
}

char *pr_truth_source(const parsrec_synth_options *options)
{
    json_t *json = source_json(options);
    char *text = json != NULL ? pr_json_text(json) : NULL;
    json_decref(json);
    return text;
}

/* ---- reading ---- */

static parsrec_status bad_source(const pr_container *file, parsrec_error *err)
{
    return pr_fail(err, PARSREC_E_FORMAT,
                   "%s: its metadata \"source\" does not say how the data were generated",
                   pr_container_path(file));
}

/* Files without the key have none. */
static bool parse_features(const json_t *json, parsrec_synth_features *out)
{
    for (int i = PARSREC_FEATURES_NONE; i <= PARSREC_FEATURES_ALL; i++)
        if (json_is_string(json) && strcmp(json_string_value(json), feature_words[i]) == 0) {
            *out = (parsrec_synth_features)i;
            return true;
        }
    return json == NULL;
}

/* Sets *no_memory if that is why. */
static bool parse_source(json_t *json, parsrec_synth_options *o, bool *no_memory)
{
    json_int_t users, sessions, categories, products;
    const char *rule, *seed;
    int outside;
    json_error_t error;
    if (json_unpack_ex(json, &error, 0, "{s:I, s:I, s:I, s:I, s:s, s:b, s:s}", "users", &users,
                       "sessions", &sessions, "categories", &categories, "products", &products,
                       "size_rule", &rule, "outside", &outside, "seed", &seed) != 0) {
        *no_memory = json_error_code(&error) == json_error_out_of_memory;
        return false;
    }
    if (users < 1 || sessions < 1 || categories < 1 || products < 1)
        return false;
    *o = (parsrec_synth_options){.users = (uint64_t)users,
                                 .sessions = (uint64_t)sessions,
                                 .categories = (uint64_t)categories,
                                 .products = (uint64_t)products,
                                 .outside = outside != 0};
    if (!parse_features(json_object_get(json, "features"), &o->features))
        return false;
    static const parsrec_size_rule rules[] = {PARSREC_SIZE_REFERENCE, PARSREC_SIZE_PAPER};
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
        o->size_rule = rules[i];
        if (strcmp(pr_size_law_of(rules[i])->name, rule) == 0)
            return pr_parse_u64(pr_slice_of(seed), &o->seed);
    }
    return false;
}

static parsrec_status read_source(pr_truth *t, const pr_dataset *data, parsrec_error *err)
{
    json_t *json;
    parsrec_status status = pr_json_parse(&json, data->source, strlen(data->source), "source", err);
    if (status != PARSREC_OK)
        return status == PARSREC_E_MEMORY ? status : bad_source(data->file, err);
    bool no_memory = false, good = parse_source(json, &t->options, &no_memory);
    json_decref(json);
    return good ? PARSREC_OK : no_memory ? pr_fail_memory(err) : bad_source(data->file, err);
}

static parsrec_status read_tensor(const void **out, const pr_container *file,
                                  const pr_tensor *expected, parsrec_error *err)
{
    const pr_tensor *found;
    PR_TRY(pr_container_need(file, expected->name, expected->dtype, expected->rank, &found, err));
    for (unsigned i = 0; i < expected->rank; i++)
        if (found->shape[i] != expected->shape[i])
            return pr_fail(err, PARSREC_E_FORMAT, "%s: %s has a shape that does not fit the data",
                           pr_container_path(file), expected->name);
    if (!pr_tensor_finite(found))
        return pr_fail(err, PARSREC_E_FORMAT, "%s: %s contains a value that is not finite",
                       pr_container_path(file), expected->name);
    *out = found->data;
    return PARSREC_OK;
}

parsrec_status pr_truth_read(pr_truth *t, const pr_dataset *data, parsrec_error *err)
{
    *t = (pr_truth){.users = data->users, .items = data->items};
    const pr_container *file = data->file;
    if (file == NULL || pr_container_find(file, "truth.group") == NULL)
        return pr_fail(err, PARSREC_E_NOT_FOUND,
                       "%s: has no ground truth; only data made by parsrec synth have it",
                       file != NULL ? pr_container_path(file) : "the data set");
    PR_TRY(read_source(t, data, err));
    t->categories = (size_t)t->options.categories;
    t->products = (size_t)t->options.products;
    if (t->users != t->options.users || t->categories != data->categories ||
        t->items / t->products != t->categories || t->items % t->products != 0)
        return bad_source(file, err);
    PR_TRY(pr_names_need(file, "truth.group_names", &t->group_names, err));
    t->groups = t->group_names.count;
    size_t U = t->users, V = t->items, G = t->groups, C = t->categories, P = t->products;
    const void *view;
#define READ(name, dtype, type, rank, a, b, c)                                 \
    pr_tensor name##_is = {"truth." #name, PR_##dtype, rank, {a, b, c}, NULL}; \
    PR_TRY(read_tensor(&view, file, &name##_is, err));                         \
    t->name = view;
    PR_TRUTH_TENSORS(READ)
#undef READ
    for (size_t u = 0; u < t->users; u++)
        if (t->group[u] < 0 || (size_t)t->group[u] >= t->groups)
            return pr_fail(err, PARSREC_E_FORMAT, "%s: user %zu is of group %d, which is not there",
                           pr_container_path(file), u, (int)t->group[u]);
    return PARSREC_OK;
}

parsrec_status pr_truth_choice(pr_choice *choice, const pr_truth *truth, parsrec_error *err)
{
    PR_TRY(pr_choice_init(choice, &truth->options, truth->sigma, truth->groups, err));
    memcpy(choice->alpha, truth->alpha, truth->categories * sizeof *choice->alpha);
    return PARSREC_OK;
}

parsrec_status parsrec_synth_options_of(const parsrec_data *data, parsrec_synth_options *options,
                                        parsrec_error *err)
{
    if (data == NULL || options == NULL)
        return pr_fail(err, PARSREC_E_ARGUMENT, "parsrec_synth_options_of needs data and options");
    pr_truth truth;
    PR_TRY(pr_truth_read(&truth, data, err));
    *options = truth.options;
    return PARSREC_OK;
}
