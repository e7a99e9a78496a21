/* Loading a shared library, and the two whose tables are all there is to them: cairo and libpq. */
#include "base/library.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/cairo.h"
#include "base/pq.h"

/* The handle, or NULL; *file says which name was tried last. */
static void *open_any(const pr_library *library, const char **file)
{
    *file = getenv(library->variable);
    if (*file != NULL && **file != '\0')
        return dlopen(*file, RTLD_LAZY | RTLD_LOCAL);
    void *handle = NULL;
    for (const char *const *name = library->names; *name != NULL && handle == NULL; name++) {
        *file = *name;
        handle = dlopen(*name, RTLD_LAZY | RTLD_LOCAL);
    }
    return handle;
}

/* The first function that the library lacks, or NULL once the table is filled. */
static const char *fill_table(const pr_library *library, void *handle)
{
    for (size_t i = 0; library->symbols[i] != NULL; i++) {
        void *address = dlsym(handle, library->symbols[i]);
        if (address == NULL)
            return library->symbols[i];
        memcpy((char *)library->table + i * sizeof address, &address, sizeof address);
    }
    return NULL;
}

static parsrec_status load_now(pr_library *library, parsrec_error *err)
{
    const char *file;
    void *handle = open_any(library, &file);
    if (handle == NULL)
        return pr_fail(err, PARSREC_E_UNSUPPORTED, "%s need %s, which cannot be loaded; %s",
                       library->purpose, library->label, library->advice);
    const char *missing = fill_table(library, handle);
    if (missing != NULL) {
        parsrec_status status =
            pr_fail(err, PARSREC_E_UNSUPPORTED, "%s need %s, but %s has no function %s; %s",
                    library->purpose, library->label, file, missing, library->advice);
        dlclose(handle);
        return status;
    }
    library->file = strdup(file); /* kept for messages; NULL is fine */
    atomic_store(&library->loaded, true);
    return PARSREC_OK;
}

parsrec_status pr_library_load(pr_library *library, parsrec_error *err)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    if (atomic_load(&library->loaded))
        return PARSREC_OK;
    pthread_mutex_lock(&lock);
    parsrec_status status = PARSREC_OK;
    if (!atomic_load(&library->loaded))
        status = load_now(library, err);
    pthread_mutex_unlock(&lock);
    return status;
}

/* ---- cairo ---- */

pr_cairo_table pr_cairo;

#define CAIRO_SYMBOL(name) "cairo_" #name,
static const char *const cairo_symbols[] = {PR_CAIRO(CAIRO_SYMBOL) NULL};
static const char *const cairo_names[] = {"libcairo.so.2", "libcairo.so", NULL};

pr_library pr_cairo_library = {
    .purpose = "picture files",
    .label = "cairo",
    .advice = "install it (Debian: apt install libcairo2) or name its file in PARSREC_CAIRO",
    .variable = "PARSREC_CAIRO",
    .names = cairo_names,
    .symbols = cairo_symbols,
    .table = &pr_cairo,
};

/* ---- libpq ---- */

pr_pq_table pr_pq;

#define PQ_SYMBOL(name) "PQ" #name,
static const char *const pq_symbols[] = {PR_PQ(PQ_SYMBOL) NULL};
static const char *const pq_names[] = {"libpq.so.5", "libpq.so", NULL};

pr_library pr_pq_library = {
    .purpose = "PostgreSQL addresses",
    .label = "libpq",
    .advice = "install it (Debian: apt install libpq5) or name its file in PARSREC_LIBPQ",
    .variable = "PARSREC_LIBPQ",
    .names = pq_names,
    .symbols = pq_symbols,
    .table = &pr_pq,
};
