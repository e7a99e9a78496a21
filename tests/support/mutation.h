/* Files with a right checksum and wrong contents: a container is taken apart into its tensors and
 * metadata, damaged with an eye for what the parts mean, put together and sealed again. Which damage
 * is done is a function of a random stream alone. The tools that use this end the program when memory
 * runs out. */
#ifndef MUTATION_H
#define MUTATION_H

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/rng.h"
#include "data/container.h"
#include "data/container_checksum.h"

enum { MUTATION_TENSORS_MOST = 256, MUTATION_RANK_MOST = 6 };

typedef struct mutation_tensor {
    char name[300];
    pr_dtype dtype;
    unsigned rank;
    uint64_t shape[MUTATION_RANK_MOST];
    unsigned char *bytes;
    size_t size;
    int64_t begin_off, end_off; /* what its data_offsets are wrong by */
} mutation_tensor;

typedef struct mutation {
    mutation_tensor tensors[MUTATION_TENSORS_MOST];
    size_t count;
    json_t *metadata;
    char what[600]; /* the damage in words */
} mutation;

#define MUTATION_NEED(condition)                                            \
    do {                                                                    \
        if (!(condition)) {                                                 \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition); \
            abort();                                                        \
        }                                                                   \
    } while (0)

/* ---- apart and together ---- */

/* The metadata of the header, without the checksum and what the seal writes anew. */
static inline json_t *mutation_header(const char *path)
{
    uint64_t length;
    json_error_t error;
    FILE *file = fopen(path, "rb");
    MUTATION_NEED(file != NULL && fread(&length, sizeof length, 1, file) == 1);
    char *text = malloc((size_t)length);
    MUTATION_NEED(text != NULL && fread(text, 1, (size_t)length, file) == length);
    fclose(file);
    json_t *header = json_loadb(text, (size_t)length, 0, &error);
    json_t *metadata = json_incref(json_object_get(header, "__metadata__"));
    MUTATION_NEED(json_is_object(metadata));
    json_object_del(metadata, "checksum");
    json_decref(header);
    free(text);
    return metadata;
}

static inline mutation *mutation_open(const char *path)
{
    parsrec_error err = {0};
    pr_container *file;
    mutation *m = calloc(1, sizeof *m);
    if (pr_container_open(&file, path, &err) != PARSREC_OK)
        fprintf(stderr, "%s\n", err.message);
    MUTATION_NEED(m != NULL && err.status == PARSREC_OK);
    m->metadata = mutation_header(path);
    m->count = pr_container_tensors(file);
    MUTATION_NEED(m->count + 8 < MUTATION_TENSORS_MOST);
    for (size_t i = 0; i < m->count; i++) {
        const pr_tensor *from = pr_container_at(file, i);
        mutation_tensor *t = &m->tensors[i];
        snprintf(t->name, sizeof t->name, "%s", from->name);
        t->dtype = from->dtype;
        t->rank = from->rank;
        memcpy(t->shape, from->shape, sizeof from->shape);
        t->size = (size_t)pr_tensor_count(from) * pr_dtype_size(from->dtype);
        t->bytes = malloc(t->size + 64);
        MUTATION_NEED(t->bytes != NULL);
        memcpy(t->bytes, from->data, t->size);
    }
    pr_container_free(file);
    return m;
}

static inline void mutation_free(mutation *m)
{
    for (size_t i = 0; i < m->count; i++)
        free(m->tensors[i].bytes);
    json_decref(m->metadata);
    free(m);
}

/* Writes header and tensors, with the checksum that they have. */
static inline void mutation_seal(const mutation *m, const char *path)
{
    json_t *header = json_object(), *metadata = json_deep_copy(m->metadata);
    json_object_set_new(metadata, "checksum", json_string("0000000000000000"));
    json_object_set_new(header, "__metadata__", metadata);
    uint64_t at = 0; /* wraps where offsets are far off */
    for (size_t i = 0; i < m->count; i++) {
        const mutation_tensor *t = &m->tensors[i];
        json_t *shape = json_array();
        for (unsigned k = 0; k < t->rank; k++)
            json_array_append_new(shape, json_integer((json_int_t)t->shape[k]));
        json_object_set_new(header, t->name,
                            json_pack("{s:s, s:o, s:[I,I]}", "dtype", pr_dtype_name(t->dtype),
                                      "shape", shape, "data_offsets",
                                      (json_int_t)(at + (uint64_t)t->begin_off),
                                      (json_int_t)(at + t->size + (uint64_t)t->end_off)));
        at += t->size;
    }
    char *text = json_dumps(header, JSON_COMPACT);
    json_decref(header);
    MUTATION_NEED(text != NULL);
    uint64_t length = strlen(text);
    size_t digits;
    MUTATION_NEED(pr_checksum_find(text, (size_t)length, &digits));
    XXH3_state_t sum;
    char sealed[PR_CHECKSUM_DIGITS + 1];
    pr_checksum_begin(&sum, text, (size_t)length, digits);
    for (size_t i = 0; i < m->count; i++)
        XXH3_64bits_update(&sum, m->tensors[i].bytes, m->tensors[i].size);
    pr_checksum_finish(&sum, sealed);
    memcpy(text + digits, sealed, PR_CHECKSUM_DIGITS);
    FILE *file = fopen(path, "wb");
    MUTATION_NEED(file != NULL);
    fwrite(&length, sizeof length, 1, file);
    fwrite(text, 1, (size_t)length, file);
    for (size_t i = 0; i < m->count; i++)
        fwrite(m->tensors[i].bytes, 1, m->tensors[i].size, file);
    MUTATION_NEED(fclose(file) == 0);
    free(text);
}

/* ---- numbers ---- */

static inline size_t mutation_pick(pr_stream *s, size_t n)
{
    return n > 1 ? pr_stream_below(s, (uint32_t)n) : 0;
}

static inline int64_t mutation_whole(pr_stream *s)
{
    static const int64_t some[] = {0,
                                   1,
                                   -1,
                                   2,
                                   127,
                                   255,
                                   256,
                                   65535,
                                   65536,
                                   INT32_MAX - 1,
                                   INT32_MAX,
                                   INT64_C(1) << 31,
                                   INT32_MIN,
                                   UINT32_MAX - INT64_C(1),
                                   UINT32_MAX,
                                   INT64_C(1) << 32,
                                   (INT64_C(1) << 32) + 1,
                                   INT64_C(1) << 53,
                                   INT64_C(1) << 60,
                                   INT64_MAX - 1,
                                   INT64_MAX,
                                   INT64_MIN};
    size_t n = sizeof some / sizeof *some, i = mutation_pick(s, n + 3);
    return i < n ? some[i] : (int64_t)pr_stream_below(s, i == n ? 10 : i == n + 1 ? 200 : 100000);
}

static inline double mutation_real(pr_stream *s)
{
    static const double some[] = {0,
                                  -0.0,
                                  1,
                                  -1,
                                  1e-45,
                                  1e-30,
                                  1e30,
                                  -1e30,
                                  3e38,
                                  -3e38,
                                  1e300,
                                  -1e300,
                                  5e-324,
                                  (double)NAN,
                                  (double)INFINITY,
                                  (double)-INFINITY,
                                  0x1p31,
                                  0x1p32,
                                  0x1p63,
                                  0.5,
                                  1000000};
    size_t n = sizeof some / sizeof *some, i = mutation_pick(s, n + 2);
    return i < n ? some[i] : 4 * pr_stream_normal(s);
}

/* One element as its type has it. */
static inline void mutation_set(unsigned char *at, pr_dtype dtype, pr_stream *s)
{
    size_t size = pr_dtype_size(dtype);
    if (dtype == PR_F32) {
        double x = mutation_real(s);
        float y = fabs(x) > 3.4e38 ? (x > 0 ? INFINITY : -INFINITY) : (float)x;
        memcpy(at, &y, sizeof y);
    } else if (dtype == PR_F64) {
        double x = mutation_real(s);
        memcpy(at, &x, sizeof x);
    } else {
        int64_t x = mutation_whole(s);
        memcpy(at, &x, size);
    }
}

/* A small step from what stands there. */
static inline void mutation_step(unsigned char *at, pr_dtype dtype, pr_stream *s)
{
    int64_t x = 0, by = (int64_t)mutation_pick(s, 5) - 2;
    size_t size = pr_dtype_size(dtype);
    if (dtype == PR_F32 || dtype == PR_F64) {
        mutation_set(at, dtype, s);
        return;
    }
    memcpy(&x, at, size);
    x = (int64_t)((uint64_t)x + (uint64_t)by);
    memcpy(at, &x, size);
}

/* ---- damage ---- */

typedef void mutation_damage(mutation *m, pr_stream *s);

static inline void mutation_say(mutation *m, const char *what, const mutation_tensor *t)
{
    size_t used = strlen(m->what);
    snprintf(m->what + used, sizeof m->what - used, "%s%s%s%s", used > 0 ? "; " : "", what,
             t != NULL ? " " : "", t != NULL ? t->name : "");
}

static inline mutation_tensor *mutation_any(mutation *m, pr_stream *s)
{
    return &m->tensors[mutation_pick(s, m->count)];
}

/* Some elements of a tensor, the first and the last more often than others. */
static inline void mutation_elements(mutation *m, pr_stream *s)
{
    mutation_tensor *t = mutation_any(m, s);
    size_t size = pr_dtype_size(t->dtype), n = t->size / size;
    size_t times = 1 + mutation_pick(s, 3);
    for (size_t i = 0; i < times && n > 0; i++) {
        size_t where = mutation_pick(s, 6);
        size_t at = where == 0 ? 0 : where == 1 ? n - 1 : mutation_pick(s, n);
        (mutation_pick(s, 2) == 0 ? mutation_set : mutation_step)(t->bytes + at * size, t->dtype,
                                                                  s);
    }
    mutation_say(m, "numbers of", t);
}

/* Every element the same, reversed, or drawn below a bound. */
static inline void mutation_whole_tensor(mutation *m, pr_stream *s)
{
    mutation_tensor *t = mutation_any(m, s);
    size_t size = pr_dtype_size(t->dtype), n = t->size / size, way = mutation_pick(s, 4);
    unsigned char one[8];
    uint32_t bound = 1 + (uint32_t)mutation_pick(s, 2 * n + 2);
    mutation_set(one, t->dtype, s);
    for (size_t i = 0; i < n; i++) {
        unsigned char *at = t->bytes + i * size, *other = t->bytes + (n - 1 - i) * size, hold[8];
        int64_t drawn = pr_stream_below(s, bound);
        if (way == 0) {
            memcpy(at, one, size);
        } else if (way == 1 && i < n / 2) {
            memcpy(hold, at, size);
            memcpy(at, other, size);
            memcpy(other, hold, size);
        } else if (way == 2 && t->dtype != PR_F32 && t->dtype != PR_F64) {
            memcpy(at, &drawn, size);
        } else if (way == 3) {
            mutation_set(at, t->dtype, s);
        }
    }
    mutation_say(m, "all of", t);
}

/* Two elements or two tensors change places: right numbers where they do not belong. */
static inline void mutation_exchange(mutation *m, pr_stream *s)
{
    mutation_tensor *a = mutation_any(m, s), *b = a;
    for (int tries = 0; tries < 40 && (b == a || (b->size != a->size && tries < 30)); tries++)
        b = mutation_any(m, s);
    mutation_tensor hold = *a;
    if (mutation_pick(s, 2) == 0) { /* the contents, with their shape */
        a->bytes = b->bytes, a->size = b->size;
        b->bytes = hold.bytes, b->size = hold.size;
        if (mutation_pick(s, 2) == 0) {
            a->dtype = b->dtype, a->rank = b->rank;
            memcpy(a->shape, b->shape, sizeof a->shape);
            b->dtype = hold.dtype, b->rank = hold.rank;
            memcpy(b->shape, hold.shape, sizeof b->shape);
        }
    } else { /* the names */
        memcpy(a->name, b->name, sizeof a->name);
        memcpy(b->name, hold.name, sizeof b->name);
    }
    mutation_say(m, "exchange", a);
    mutation_say(m, "with", b);
}

/* data_offsets that do not tell the truth. */
static inline void mutation_offsets(mutation *m, pr_stream *s)
{
    mutation_tensor *t = mutation_any(m, s);
    int64_t by = mutation_pick(s, 2) == 0 ? (int64_t)mutation_pick(s, 65) - 32 : mutation_whole(s);
    switch (mutation_pick(s, 4)) {
    case 0:
        t->begin_off = by;
        break;
    case 1:
        t->end_off = by;
        break;
    case 2:
        t->begin_off = t->end_off = by;
        break;
    default:
        if (t + 1 < m->tensors + m->count) /* the border between two */
            t->end_off = t[1].begin_off = by;
    }
    mutation_say(m, "offsets of", t);
}

/* Another shape: of the same bytes, of any, or with more or fewer rows and the bytes that they take. */
static inline void mutation_shape(mutation *m, pr_stream *s)
{
    mutation_tensor *t = mutation_any(m, s);
    size_t element = pr_dtype_size(t->dtype), n = t->size / element, way = mutation_pick(s, 5);
    if (way == 0 && t->rank >= 2) {
        uint64_t hold = t->shape[0];
        t->shape[0] = t->shape[1];
        t->shape[1] = hold;
    } else if (way == 1) {
        t->rank = 1;
        t->shape[0] = n;
    } else if (way == 2 && t->rank < MUTATION_RANK_MOST) {
        t->shape[t->rank++] = mutation_pick(s, 2);
    } else if (way == 3 && t->rank > 0) {
        t->shape[mutation_pick(s, t->rank)] = (uint64_t)mutation_whole(s);
    } else if (t->rank > 0) {
        uint64_t cols = t->rank > 1 ? t->shape[1] : 1, rows = t->shape[0];
        uint64_t wanted = mutation_pick(s, 2) == 0 ? rows + mutation_pick(s, 7) : rows / 2;
        if (wanted >= 3 && mutation_pick(s, 2) == 0)
            wanted -= 3;
        if (t->rank <= 2 && cols > 0 && cols < 100000 && wanted < 100000) {
            size_t size = (size_t)(wanted * cols) * element;
            unsigned char *bytes = calloc(size + 64, 1);
            MUTATION_NEED(bytes != NULL);
            memcpy(bytes, t->bytes, size < t->size ? size : t->size);
            for (size_t i = t->size; i + element <= size && t->size >= element; i += element)
                memcpy(bytes + i, t->bytes + (i - t->size) % t->size, element);
            free(t->bytes);
            t->bytes = bytes;
            t->size = size;
            t->shape[0] = wanted;
        }
    }
    mutation_say(m, "shape of", t);
}

static inline void mutation_type(mutation *m, pr_stream *s)
{
    static const pr_dtype types[] = {PR_U8,  PR_I32, PR_I64, PR_F32,  PR_F64, PR_BOOL, PR_I8,
                                     PR_I16, PR_U16, PR_F16, PR_BF16, PR_U32, PR_U64};
    mutation_tensor *t = mutation_any(m, s);
    size_t before = pr_dtype_size(t->dtype);
    for (int tries = 0; tries < 20; tries++) {
        pr_dtype dtype = types[mutation_pick(s, sizeof types / sizeof *types)];
        if (dtype != t->dtype && (pr_dtype_size(dtype) == before || tries > 15)) {
            t->dtype = dtype;
            break;
        }
    }
    mutation_say(m, "type of", t);
}

/* A tensor that is gone, there twice, or bears another's name. */
static inline void mutation_list(mutation *m, pr_stream *s)
{
    mutation_tensor *t = mutation_any(m, s);
    size_t way = mutation_pick(s, 3);
    if (way == 0 && m->count > 1) {
        mutation_say(m, "without", t);
        free(t->bytes);
        memmove(t, t + 1, (size_t)(m->tensors + m->count - (t + 1)) * sizeof *t);
        m->count--;
    } else if (way == 1 && m->count + 1 < MUTATION_TENSORS_MOST) {
        mutation_tensor *twin = &m->tensors[m->count++];
        *twin = *t;
        twin->bytes = malloc(t->size + 64);
        MUTATION_NEED(twin->bytes != NULL);
        memcpy(twin->bytes, t->bytes, t->size);
        static const char *const names[] = {"item_feature.twin", "user_feature.twin", "times",
                                            "item_category", "category_parent"};
        snprintf(twin->name, sizeof twin->name, "%s",
                 names[mutation_pick(s, sizeof names / sizeof *names)]);
        mutation_say(m, "a twin of", t);
    } else {
        memcpy(t->name, mutation_any(m, s)->name, sizeof t->name);
        mutation_say(m, "another name for", t);
    }
}

/* Number i of the values of an object, or of one inside it. */
static inline void mutation_json(json_t *object, pr_stream *s)
{
    static const char *const words[] = {"", "auto", "all", "paper", "on", "sampled", "lstm", "sum"};
    const char *key;
    json_t *value;
    size_t wanted = mutation_pick(s, json_object_size(object)), i = 0;
    json_object_foreach(object, key, value)
    {
        if (i++ != wanted)
            continue;
        if (json_is_object(value) && mutation_pick(s, 4) > 0) {
            mutation_json(value, s);
            return;
        }
        size_t way = mutation_pick(s, 6);
        double x = mutation_real(s);
        json_t *new = way == 0 ? json_string(words[mutation_pick(s, sizeof words / sizeof *words)])
                      : way == 1 ? json_boolean(mutation_pick(s, 2))
                      : way == 2 ? json_real(isfinite(x) ? x : 7)
                      : way == 3 && json_is_integer(value)
                          ? json_integer((json_int_t)((uint64_t)json_integer_value(value) +
                                                      mutation_pick(s, 5) - 2))
                          : json_integer(mutation_whole(s));
        json_object_set_new(object, key, new);
        return;
    }
}

static inline void mutation_metadata(mutation *m, pr_stream *s)
{
    static const char *const words[] = {"parsrec",
                                        "sasrec",
                                        "bert4rec",
                                        "pop",
                                        "personal",
                                        "recent",
                                        "markov",
                                        "oracle",
                                        "random",
                                        "mix",
                                        "tifuknn",
                                        "upcf",
                                        "pernir",
                                        "sknn",
                                        "vsknn",
                                        "rules",
                                        "seqrules",
                                        "itemknn",
                                        "ease",
                                        "gru4rec",
                                        "bpr",
                                        "fpmc",
                                        "ncf",
                                        "hrm",
                                        "transrec",
                                        "dream",
                                        "tisasrec",
                                        "narm",
                                        "stamp",
                                        "caser",
                                        "unix",
                                        "ordinal",
                                        "none",
                                        "",
                                        "999",
                                        "4294967297",
                                        "{}",
                                        "-1",
                                        "2",
                                        "parsrec.data",
                                        "parsrec.model",
                                        "parsrec.checkpoint",
                                        "parsrec.histories",
                                        "parsrec.shard"};
    const char *name, *key = NULL, *settings = NULL;
    json_t *value;
    char hold[64];
    size_t wanted = mutation_pick(s, json_object_size(m->metadata)), i = 0;
    json_object_foreach(m->metadata, name, value)
    {
        if (i++ == wanted)
            key = name;
        if (json_string_value(value)[0] == '{')
            settings = name;
    }
    if (settings != NULL && mutation_pick(s, 8) >= 3)
        key = settings;
    if (key == NULL)
        return;
    snprintf(hold, sizeof hold, "metadata %s", key);
    mutation_say(m, hold, NULL);
    json_t *inside = json_loads(json_string_value(json_object_get(m->metadata, key)), 0, NULL);
    size_t way = mutation_pick(s, 8);
    if (json_is_object(inside) && way > 0) {
        for (size_t n = 1 + mutation_pick(s, 2); n > 0; n--)
            mutation_json(inside, s);
        char *text = json_dumps(inside, JSON_COMPACT);
        json_object_set_new(m->metadata, key, json_string(text));
        free(text);
    } else if (way <= 1) {
        json_object_del(m->metadata, key);
    } else if (way <= 3) {
        snprintf(hold, sizeof hold, "%lld", (long long)mutation_whole(s));
        json_object_set_new(m->metadata, key, json_string(hold));
    } else {
        const char *word = words[mutation_pick(s, sizeof words / sizeof *words)];
        json_object_set_new(m->metadata, key, json_string(word));
    }
    json_decref(inside);
}

/* One to three kinds of damage. */
static inline void mutation_apply(mutation *m, pr_stream *s)
{
    static mutation_damage *const kinds[] = {
        mutation_elements,     mutation_elements,     mutation_elements, mutation_elements,
        mutation_whole_tensor, mutation_whole_tensor, mutation_exchange, mutation_offsets,
        mutation_shape,        mutation_type,         mutation_list,     mutation_metadata,
        mutation_metadata};
    size_t times = mutation_pick(s, 4) < 3 ? 1 : 2 + mutation_pick(s, 2);
    for (size_t i = 0; i < times; i++)
        kinds[mutation_pick(s, sizeof kinds / sizeof *kinds)](m, s);
}

/* Whether damage left everything as it was. */
static inline bool mutation_same(const mutation *a, const mutation *b)
{
    bool same = a->count == b->count && json_equal(a->metadata, b->metadata);
    for (size_t i = 0; i < a->count && same; i++) {
        const mutation_tensor *x = &a->tensors[i], *y = &b->tensors[i];
        same = strcmp(x->name, y->name) == 0 && x->dtype == y->dtype && x->rank == y->rank &&
               memcmp(x->shape, y->shape, x->rank * sizeof *x->shape) == 0 && x->size == y->size &&
               memcmp(x->bytes, y->bytes, x->size) == 0 && x->begin_off == 0 && x->end_off == 0;
    }
    return same;
}

/* ---- run records ---- */

/* A log with one line or two of it damaged: JSON lines, which have no seal. Says in `what` (64 bytes) how. */
static inline void mutation_record(const char *from, const char *to, char *what, pr_stream *s)
{
    enum { LINES_MOST = 200 };
    static char text[1 << 16], *lines[LINES_MOST];
    FILE *in = fopen(from, "rb"), *out = fopen(to, "wb");
    MUTATION_NEED(in != NULL && out != NULL);
    text[fread(text, 1, sizeof text - 1, in)] = '\0';
    fclose(in);
    size_t count = 0;
    for (char *at = strtok(text, "\n"); at != NULL && count < LINES_MOST; at = strtok(NULL, "\n"))
        lines[count++] = at;
    size_t one = mutation_pick(s, count), other = mutation_pick(s, count),
           way = mutation_pick(s, 10);
    json_t *line = json_loads(lines[one], 0, NULL);
    char *changed = NULL, *hold = lines[one];
    if (way < 6 && json_is_object(line)) {
        for (size_t n = 1 + mutation_pick(s, 3); n > 0; n--)
            mutation_json(line, s);
        lines[one] = changed = json_dumps(line, JSON_COMPACT);
    } else if (way == 6) {
        lines[one] = lines[other];
        lines[other] = hold;
    } else if (way == 7) {
        lines[one] = "";
    } else if (way == 8) {
        lines[one] = lines[other];
    } else {
        hold[mutation_pick(s, strlen(hold))] = (char)mutation_pick(s, 256);
    }
    snprintf(what, 64, "line %zu, way %zu", one + 1, way);
    for (size_t i = 0; i < count; i++)
        fprintf(out, "%s\n", lines[i]);
    MUTATION_NEED(fclose(out) == 0);
    json_decref(line);
    free(changed);
}

#endif
