/* Names of columns, compared by letters and digits only. */
#include "import/columns.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"

enum { PLAIN_BYTES = 48, ROLES = PARSREC_COLUMN_QUANTITY + 1 };

/* The letters and digits of a name, in lower case: "Customer ID" and "customer_id" are one. Longer
 * names and others than ASCII letters match nothing. */
typedef struct plain {
    char text[PLAIN_BYTES];
    size_t size;
} plain;

static plain plain_of(pr_slice name)
{
    plain p = {.size = 0};
    for (size_t i = 0; i < name.size; i++) {
        char c = name.bytes[i];
        bool upper = c >= 'A' && c <= 'Z';
        if (!upper && !(c >= 'a' && c <= 'z') && !(c >= '0' && c <= '9'))
            continue;
        if (p.size + 1 == PLAIN_BYTES)
            return (plain){.size = 0};
        p.text[p.size++] = upper ? (char)(c + ('a' - 'A')) : c;
    }
    return p;
}

/* Takes an ending off; false when there is none, or nothing before it. */
static bool drop_ending(plain *p, const char *ending)
{
    size_t size = strlen(ending);
    if (p->size <= size || memcmp(p->text + p->size - size, ending, size) != 0)
        return false;
    p->size -= size;
    p->text[p->size] = '\0';
    return true;
}

/* The same at the other end. */
static bool drop_beginning(plain *p, const char *beginning)
{
    size_t size = strlen(beginning);
    if (p->size <= size || memcmp(p->text, beginning, size) != 0)
        return false;
    p->size -= size;
    memmove(p->text, p->text + size, p->size + 1);
    return true;
}

static int find_word(const plain *p, const char *const *words)
{
    for (int i = 0; words[i] != NULL; i++)
        if (strcmp(p->text, words[i]) == 0)
            return i;
    return -1;
}

/* ---- users, sessions, items ---- */

/* The first word is our own and goes before the others; after the English ones come German, French, Spanish,
 * Italian, Portuguese, Dutch and Swedish.
 * Letters with accents are not in a plain name. */
static const char *const user_words[] = {
    "user",    "customer",     "household", "client",   "member",      "buyer",
    "shopper", "visitor",      "account",   "consumer", "cardholder",  "loyaltycard",
    "cust",    "customeruser", "kunde",     "kunden",   "kundenkarte", "haushalt",
    "foyer",   "cliente",      "hogar",     "klant",    "kund",        NULL};
static const char *const session_words[] = {
    "session",     "order",       "receipt",    "basket",   "invoice",   "transaction", "ticket",
    "visit",       "trip",        "cart",       "bill",     "trans",     "trx",         "txn",
    "usersession", "bon",         "kassenbon",  "beleg",    "rechnung",  "rechnungs",   "bestell",
    "bestellung",  "bestellungs", "auftrag",    "auftrags", "warenkorb", "einkauf",     "commande",
    "panier",      "facture",     "pedido",     "factura",  "compra",    "cesta",       "scontrino",
    "ordine",      "fattura",     "bestelling", "kvitto",   NULL};
static const char *const item_words[] = {
    "item",      "product",  "sku",      "ean",      "upc",     "gtin",    "article",
    "stockcode", "asin",     "isbn",     "barcode",  "plu",     "prod",    "movie",
    "items",     "products", "lineitem", "artikel",  "produkt", "produit", "producto",
    "articulo",  "artculo",  "articolo", "prodotto", "produto", "artigo",  NULL};

static const char *const quantity_words[] = {"quantity", "qty",     "menge",    "anzahl",
                                             "quantite", "quantit", "cantidad", "orderquantity",
                                             "orderqty", "units",   "quantita", "quantidade",
                                             "aantal",   "antal",   NULL};

/* How well a column fits: the word it is made of, and how: as it is, with id or key, by itself,
 * with a number or code. A "Product SKU" is the id of a product. */
typedef struct fit {
    int word; /* -1: not at all */
    int form;
} fit;

static fit fit_word(pr_slice name, const char *const *words)
{
    static const char *const ids[] = {"id", "key", "sku", "ean", "upc", "gtin", "barcode", NULL};
    static const char *const numbers[] = {"number", "num",    "no",     "nr",
                                          "code",   "nummer", "numero", NULL};
    static const char *const before[] = {"id",  "code", "codigo", "cdigo", "codice", "numero",
                                         "num", "no",   "n",      "ref",   "rf",     NULL};
    plain p = plain_of(name);
    int word = find_word(&p, words);
    if (word >= 0)
        return (fit){word, pr_slice_is(name, words[0]) ? 0 : 2};
    for (int i = 0; ids[i] != NULL; i++) {
        plain cut = p;
        if (drop_ending(&cut, ids[i]) && (word = find_word(&cut, words)) >= 0)
            return (fit){word, 1};
    }
    for (int i = 0; numbers[i] != NULL; i++) {
        plain cut = p;
        if (drop_ending(&cut, numbers[i]) && (word = find_word(&cut, words)) >= 0)
            return (fit){word, 3};
    }
    for (int i = 0; before[i] != NULL; i++) { /* "id_client", as French and Spanish put it */
        plain cut = p;
        if (drop_beginning(&cut, before[i]) && (word = find_word(&cut, words)) >= 0)
            return (fit){word, i == 0 ? 1 : 3};
    }
    return (fit){-1, 0};
}

/* ---- times ---- */

/* The word is always 0: of two columns with times the better form is taken. A column "Time" beside
 * a "Date" mostly has only the time of day, so it comes late. */
static fit fit_time(pr_slice name)
{
    static const char *const whole[] = {"datetime", "timestamp", "zeitstempel", NULL};
    static const char *const days[] = {"date", "datum", "fecha",
                                       "data", "tdat",  NULL}; /* H&M: t_dat */
    static const char *const before[] = {
        "order",    "purchase", "invoice",   "transaction", "trans",     "receipt",  "ticket",
        "visit",    "event",    "sale",      "sales",       "created",   "bought",   "session",
        "basket",   "trip",     "trx",       "txn",         "purchased", "ordered",  "placed",
        "paid",     "sold",     "processed", "bill",        "action",    "kauf",     "einkaufs",
        "beleg",    "bon",      "rechnungs", "bestell",     "auftrags",  "verkaufs", "achat",
        "commande", "facture",  "vente",     "compra",      "pedido",    "venta",    NULL};
    static const char *const dates[] = {"datetime", "timestamp", "date",  "dt", "at",
                                        "on",       "day",       "datum", NULL};
    plain p = plain_of(name);
    if (pr_slice_is(name, "time"))
        return (fit){0, 0};
    if (find_word(&p, whole) >= 0)
        return (fit){0, 1};
    if (find_word(&p, days) >= 0)
        return (fit){0, 2};
    for (int i = 0; dates[i] != NULL; i++) {
        plain cut = p;
        if (drop_ending(&cut, dates[i]) && find_word(&cut, before) >= 0)
            return (fit){0, 3};
    }
    for (int i = 0; days[i] != NULL; i++) { /* "date_achat" */
        plain cut = p;
        if (drop_beginning(&cut, days[i]) && find_word(&cut, before) >= 0)
            return (fit){0, 3};
    }
    if (strcmp(p.text, "day") == 0 || strcmp(p.text, "ts") == 0 || strcmp(p.text, "dt") == 0)
        return (fit){0, 4};
    plain cut = p;
    bool clock =
        strcmp(p.text, "time") == 0 || (drop_ending(&cut, "time") && find_word(&cut, before) >= 0);
    return (fit){clock ? 0 : -1, 5};
}

static fit fit_role(pr_slice name, parsrec_column_role role)
{
    switch (role) {
    case PARSREC_COLUMN_USER:
        return fit_word(name, user_words);
    case PARSREC_COLUMN_SESSION:
        return fit_word(name, session_words);
    case PARSREC_COLUMN_ITEM:
        return fit_word(name, item_words);
    case PARSREC_COLUMN_QUANTITY:
        return fit_word(name, quantity_words);
    default:
        return fit_time(name);
    }
}

/* "itemDescription" and "Product Name": what identifies the item where nothing else does. */
static bool names_an_item(pr_slice name)
{
    static const char *const endings[] = {"name", "title",       "description",
                                          "desc", "bezeichnung", NULL};
    for (int i = 0; endings[i] != NULL; i++) {
        plain cut = plain_of(name);
        if (drop_ending(&cut, endings[i]) && find_word(&cut, item_words) >= 0)
            return true;
    }
    return false;
}

/* ---- items files ---- */

int pr_columns_name_rank(pr_slice column)
{
    static const char *const words[] = {"name", /* PR_NAME_ALONE of these */
                                        "title",
                                        "label",
                                        "nombre",
                                        "titel",
                                        "nome",
                                        "naam",
                                        "itemname",
                                        "productname",
                                        "articlename",
                                        "itemtitle",
                                        "producttitle",
                                        "movietitle",
                                        "description",
                                        "itemdescription",
                                        "productdescription",
                                        "articledescription",
                                        "desc",
                                        "itemdesc",
                                        "productdesc",
                                        "artikelname",
                                        "artikelbezeichnung",
                                        "produktname",
                                        "bezeichnung",
                                        "beschreibung",
                                        "libelle",
                                        "libell",
                                        "designation",
                                        "dsignation",
                                        "descripcion",
                                        "descripcin",
                                        "product",
                                        "item",
                                        "article",
                                        "artikel",
                                        "produkt",
                                        "produit",
                                        "producto",
                                        NULL};
    plain p = plain_of(column);
    return p.size > 0 ? find_word(&p, words) : -1;
}

/* Without what is said of the level: "product_category_name" is "category". */
static plain level_word(pr_slice column)
{
    static const char *const endings[] = {"name", "desc", "description", "id", "code",
                                          "no",   "nr",   "number",      "key"};
    static const char *const beginnings[] = {"product", "item", "article"};
    plain p = plain_of(column);
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++)
        if (drop_ending(&p, endings[i]))
            break;
    for (size_t i = 0; i < sizeof beginnings / sizeof *beginnings; i++) {
        if (drop_beginning(&p, beginnings[i]))
            break;
    }
    return p;
}

int pr_columns_category_level(pr_slice column)
{
    static const struct {
        const char *word;
        int level;
    } levels[] = {
        {"division", 0},      {"sector", 0},      {"department", 1},   {"dept", 1},
        {"subdepartment", 2}, {"section", 2},     {"aisle", 2},        {"family", 2},
        {"maincategory", 2},  {"category", 3},    {"commodity", 3},    {"group", 3},
        {"class", 4},         {"subcategory", 5}, {"subcommodity", 5}, {"subgroup", 5},
        {"subclass", 5},      {"abteilung", 1},   {"rayon", 1},        {"departamento", 1},
        {"warengruppe", 3},   {"kategorie", 3},   {"categorie", 3},    {"catgorie", 3},
        {"categoria", 3},     {"categora", 3},    {"famille", 2},      {"familia", 2}};
    plain p = level_word(column);
    for (size_t i = 0; p.size > 0 && i < sizeof levels / sizeof *levels; i++)
        if (strcmp(p.text, levels[i].word) == 0)
            return levels[i].level;
    return -1;
}

bool pr_columns_is_code(pr_slice column)
{
    static const char *const endings[] = {"id", "code", "no", "nr", "number", "key", "nummer"};
    plain p = plain_of(column);
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++)
        if (drop_ending(&p, endings[i]))
            return true;
    return false;
}

/* ---- finding ---- */

static const char *const role_names[ROLES] = {
    "", "user", "session", "time", "item", [PARSREC_COLUMN_QUANTITY] = "quantity"};

/* A sentence in the making. */
typedef struct words {
    char text[400];
    size_t used;
} words;

__attribute__((format(printf, 2, 3))) static void say(words *w, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int n = vsnprintf(w->text + w->used, sizeof w->text - w->used, format, args);
    va_end(args);
    w->used += n > 0 ? (size_t)n : 0;
    if (w->used >= sizeof w->text)
        w->used = sizeof w->text - 1;
}

/* "a", "a and b", "a, b and c" by calls with each in turn. */
static const char *comma(size_t i, size_t count)
{
    return i == 0 ? "" : i + 1 == count ? " and " : ", ";
}

/* The column of that very name, or the one that has it but for case and signs; two are refused. */
static parsrec_status find_named(size_t *column, const pr_rows *rows, const char *name,
                                 parsrec_error *err)
{
    size_t exact = pr_rows_find(rows, name);
    *column = exact;
    if (exact != PR_NO_COLUMN)
        return pr_rows_need(rows, name, "", column, err); /* refuses two of one name */
    plain wanted = plain_of(pr_slice_of(name));
    for (size_t i = 0; i < rows->column_count && wanted.size > 0; i++) {
        plain p = plain_of(rows->columns[i]);
        if (strcmp(p.text, wanted.text) != 0)
            continue;
        if (*column != PR_NO_COLUMN)
            return pr_fail(err, PARSREC_E_INPUT,
                           "%s: '%s' may be '%.*s' or '%.*s'; write it as the header does",
                           rows->name, name, (int)rows->columns[*column].size,
                           rows->columns[*column].bytes, (int)rows->columns[i].size,
                           rows->columns[i].bytes);
        *column = i;
    }
    return PARSREC_OK;
}

/* True when column a is preferred to column b in any case. */
static bool beats(fit a, fit b)
{
    if (a.word == b.word)
        return a.form < b.form;
    return a.word == 0;
}

/* The best column for a role among those that are free. One that fits but does not lose to the best
 * is a question to the user: two words of which none is our own, or two columns of one form. Of two
 * quantities, which nobody needs to name, the first is taken. */
static parsrec_status recognise(size_t *column, const pr_rows *rows, parsrec_column_role role,
                                const bool *taken, parsrec_error *err)
{
    fit best = {-1, 0};
    size_t rival = PR_NO_COLUMN;
    *column = PR_NO_COLUMN;
    for (size_t i = 0; i < rows->column_count; i++) {
        fit f = fit_role(rows->columns[i], role);
        if (f.word < 0 || (taken != NULL && taken[i]) || (best.word >= 0 && !beats(f, best)))
            continue;
        best = f;
        *column = i;
    }
    for (size_t i = 0; i < rows->column_count && rival == PR_NO_COLUMN; i++) {
        fit f = fit_role(rows->columns[i], role);
        if (f.word >= 0 && (taken == NULL || !taken[i]) && i != *column && !beats(best, f))
            rival = i;
    }
    if (rival == PR_NO_COLUMN || role == PARSREC_COLUMN_QUANTITY)
        return PARSREC_OK;
    pr_slice a = rows->columns[*column], b = rows->columns[rival];
    if (pr_slice_equal(a, b))
        return pr_fail(err, PARSREC_E_INPUT, "%s: two columns are called '%.*s'; rename one",
                       rows->name, (int)a.size, a.bytes);
    pr_excerpt first, second;
    return pr_fail(err, PARSREC_E_INPUT,
                   "%s: is the %s the column %s or the column %s? name it with --%s", rows->name,
                   role_names[role], pr_show(&first, a), pr_show(&second, b), role_names[role]);
}

/* The one free column with names of items, or none where there are several. */
static size_t item_by_name(const pr_rows *rows, const bool *taken)
{
    size_t column = PR_NO_COLUMN;
    for (size_t i = 0; i < rows->column_count; i++) {
        if (taken[i] || !names_an_item(rows->columns[i]))
            continue;
        if (column != PR_NO_COLUMN)
            return PR_NO_COLUMN;
        column = i;
    }
    return column;
}

/* A header of numbers and dates is a row. */
static bool header_is_row(const pr_rows *rows)
{
    for (size_t i = 0; i < rows->column_count; i++) {
        pr_time_form form;
        int64_t value;
        pr_time_guess guess;
        double number;
        pr_slice cell = rows->columns[i];
        if (cell.size > 0 &&
            (pr_parse_f64(cell, &number) || pr_time_parse(cell, &form, &value) == NULL ||
             pr_time_guess_pattern(cell, &guess)))
            return true;
    }
    return false;
}

static void list_free_columns(words *w, const pr_rows *rows, const bool *taken)
{
    size_t listed = 0;
    for (size_t i = 0; i < rows->column_count; i++) {
        if (taken != NULL && taken[i])
            continue;
        if (w->used + rows->columns[i].size + 8 > 240) {
            say(w, ", ...");
            return;
        }
        pr_slice name = rows->columns[i];
        if (name.size == 0)
            name = pr_slice_of("(no name)");
        say(w, "%s%.*s", listed++ > 0 ? ", " : "", (int)name.size, name.bytes);
    }
}

/* One sentence on all the columns that are missing, and on those that are left: first the `count` roles
 * that are needed, then `more` that are not. `why_time` says what to do where only the time is needed;
 * else it is NULL. */
static parsrec_status missing_columns(const pr_rows *rows, const parsrec_column_role *roles,
                                      size_t count, const parsrec_column_role *optional,
                                      size_t more, const bool *taken, const char *why_time,
                                      parsrec_error *err)
{
    words missing = {.used = 0}, left = {.used = 0}, options = {.used = 0}, others = {.used = 0};
    for (size_t i = 0; i < count; i++) {
        say(&missing, "%sthe %s",
            i == 0           ? ""
            : i + 1 == count ? " or "
                             : ", ",
            role_names[roles[i]]);
        say(&options, "%s--%s COL", comma(i, count), role_names[roles[i]]);
    }
    if (header_is_row(rows)) {
        list_free_columns(&left, rows, NULL);
        return pr_fail(
            err, PARSREC_E_NOT_FOUND,
            "%s: the first line is a row, not the names of columns (%s); put a line such as "
            "user,session,time,item above it",
            rows->name, left.text);
    }
    for (size_t i = 0; i < more; i++)
        say(&others, "%sthe %s", i == 0 ? "; " : " and ", role_names[optional[i]]);
    for (size_t i = 0; i < more; i++)
        say(&others, "%s--%s COL%s",
            i > 0       ? ", "
            : more == 1 ? " was not recognised either ("
                        : " were not recognised either (",
            role_names[optional[i]], i + 1 == more ? ")" : "");
    list_free_columns(&left, rows, taken);
    return pr_fail(
        err, PARSREC_E_NOT_FOUND, "%s: no column is recognised as %s%s%s; name %s with %s%s",
        rows->name, missing.text, left.used > 0 ? " among " : "", left.text,
        count == 1 ? "it" : "them", why_time != NULL ? why_time : options.text, others.text);
}

/* Named columns that the header lacks, all of them in one sentence. */
static parsrec_status missing_names(const pr_rows *rows, const char *const *given,
                                    const bool *lacks, size_t count, parsrec_error *err)
{
    words names = {.used = 0}, left = {.used = 0}, options = {.used = 0};
    size_t n = 0;
    for (size_t i = 0; i < ROLES; i++) {
        if (!lacks[i])
            continue;
        say(&names, "%s'%s'", comma(n, count), given[i]);
        say(&options, "%s--%s", comma(n++, count), role_names[i]);
    }
    list_free_columns(&left, rows, NULL);
    return pr_fail(err, PARSREC_E_NOT_FOUND, "%s: there %s %s, only %s; name yours with %s",
                   rows->name, count == 1 ? "is no column" : "are no columns", names.text,
                   left.text, options.text);
}

/* Columns that were named; "" for one that is not to be used. */
static parsrec_status take_named(size_t *found, bool *taken, const pr_rows *rows,
                                 const char *const *given, parsrec_error *err)
{
    bool lacks[ROLES] = {false};
    size_t count = 0;
    for (size_t role = 1; role < ROLES; role++) {
        found[role] = PR_NO_COLUMN;
        if (given[role] == NULL || given[role][0] == '\0')
            continue;
        PR_TRY(find_named(&found[role], rows, given[role], err));
        lacks[role] = found[role] == PR_NO_COLUMN;
        count += lacks[role];
        if (!lacks[role])
            taken[found[role]] = true;
    }
    return count == 0 ? PARSREC_OK : missing_names(rows, given, lacks, count, err);
}

static parsrec_status find_all(size_t *found, bool *taken, const pr_rows *rows,
                               const parsrec_import_options *o, parsrec_error *err)
{
    static const parsrec_column_role order[] = {PARSREC_COLUMN_USER, PARSREC_COLUMN_ITEM,
                                                PARSREC_COLUMN_SESSION, PARSREC_COLUMN_TIME,
                                                PARSREC_COLUMN_QUANTITY};
    const char *const given[ROLES] = {
        NULL,           o->user_column, o->session_column,
        o->time_column, o->item_column, [PARSREC_COLUMN_QUANTITY] = o->quantity_column};
    bool by_time = o->session_rule != PARSREC_SESSION_COLUMN;
    bool needs_user = o->step != PARSREC_IMPORT_DICTIONARY;
    parsrec_column_role missing[ROLES], optional[ROLES];
    size_t count = 0, more = 0, left = 0;
    PR_TRY(take_named(found, taken, rows, given, err));
    for (size_t i = 0; i < sizeof order / sizeof *order; i++) {
        parsrec_column_role role = order[i];
        bool unwanted = role == PARSREC_COLUMN_SESSION && by_time;
        if (given[role] == NULL && !unwanted)
            PR_TRY(recognise(&found[role], rows, role, taken, err));
        if (role == PARSREC_COLUMN_ITEM && given[role] == NULL && found[role] == PR_NO_COLUMN)
            found[role] = item_by_name(rows, taken);
        if (found[role] != PR_NO_COLUMN)
            taken[found[role]] = true;
        else if ((role == PARSREC_COLUMN_USER && needs_user) || role == PARSREC_COLUMN_ITEM ||
                 (role == PARSREC_COLUMN_TIME && (by_time || o->shards > 0)))
            missing[count++] = role;
        else if (role != PARSREC_COLUMN_QUANTITY && given[role] == NULL && !unwanted &&
                 (needs_user || role == PARSREC_COLUMN_TIME))
            optional[more++] = role;
    }
    /* Sessions without customers: each is a user of its own. */
    const char *user = given[PARSREC_COLUMN_USER];
    if (count == 1 && missing[0] == PARSREC_COLUMN_USER && (user == NULL || user[0] == '\0') &&
        found[PARSREC_COLUMN_SESSION] != PR_NO_COLUMN) {
        found[PARSREC_COLUMN_USER] = found[PARSREC_COLUMN_SESSION];
        return PARSREC_OK;
    }
    if (count == 0)
        return PARSREC_OK;
    if (user != NULL && user[0] == '\0' && needs_user)
        return pr_fail(err, PARSREC_E_INPUT,
                       "%s: every action needs an item and, without a user, a session; name their "
                       "columns with --item COL and --session COL",
                       rows->name);
    const char *why_time = by_time ? "--time COL, because sessions are cut by time"
                                   : "--time COL, because shards are sorted by time";
    bool only_time = count == 1 && missing[0] == PARSREC_COLUMN_TIME;
    for (size_t i = 0; i < rows->column_count; i++)
        left += !taken[i];
    more = left > count ? more : 0; /* no column is left that could be one of them */
    return missing_columns(rows, missing, count, optional, more, taken, only_time ? why_time : NULL,
                           err);
}

parsrec_status pr_columns_of_actions(pr_action_columns *out, const pr_rows *rows,
                                     const parsrec_import_options *o, parsrec_error *err)
{
    size_t found[ROLES];
    bool *taken = pr_alloc_zero(rows->column_count + 1, sizeof *taken);
    if (taken == NULL)
        return pr_fail_memory(err);
    parsrec_status status = find_all(found, taken, rows, o, err);
    pr_free(taken);
    if (status == PARSREC_OK)
        *out = (pr_action_columns){.user = found[PARSREC_COLUMN_USER],
                                   .session = found[PARSREC_COLUMN_SESSION],
                                   .time = found[PARSREC_COLUMN_TIME],
                                   .item = found[PARSREC_COLUMN_ITEM],
                                   .quantity = found[PARSREC_COLUMN_QUANTITY]};
    return status;
}

/* Which roles the names in a line have, as bits. The delimiter was guessed from the first line, which is
 * not the header, so each of those that there are may divide the names. */
static unsigned roles_in_line(const pr_slice *fields, size_t count)
{
    unsigned roles = 0;
    for (size_t i = 0; i < count; i++)
        for (size_t from = 0, at = 0; at <= fields[i].size; at++) {
            if (at < fields[i].size && strchr(",;\t|", fields[i].bytes[at]) == NULL)
                continue;
            pr_slice name = pr_slice_trim((pr_slice){fields[i].bytes + from, at - from});
            for (unsigned role = PARSREC_COLUMN_USER; role <= PARSREC_COLUMN_ITEM; role++)
                if (fit_role(name, (parsrec_column_role)role).word >= 0)
                    roles |= 1u << role;
            from = at + 1;
        }
    return roles;
}

parsrec_status pr_columns_header_below(pr_rows *rows, const parsrec_import_options *o,
                                       parsrec_status status, parsrec_error *err)
{
    enum {
        LINES = 20,
        USER = 1 << PARSREC_COLUMN_USER,
        SESSION = 1 << PARSREC_COLUMN_SESSION,
        ITEM = 1 << PARSREC_COLUMN_ITEM
    };
    bool named = o->user_column != NULL || o->item_column != NULL || o->session_column != NULL;
    if (status != PARSREC_E_NOT_FOUND || named || rows->delimiter == 0 ||
        (roles_in_line(rows->columns, rows->column_count) & (USER | SESSION | ITEM)) != 0)
        return status;
    pr_csv_allow_ragged(rows);
    for (int n = 0; n < LINES; n++) {
        pr_row row;
        bool end = false;
        if (rows->next(rows, &row, &end, NULL) != PARSREC_OK || end)
            return status;
        unsigned roles = roles_in_line(row.fields, row.count);
        if ((roles & ITEM) != 0 && (roles & (USER | SESSION)) != 0)
            return pr_fail(err, PARSREC_E_INPUT,
                           "%s: the first line names no column that is recognised, but line %llu "
                           "looks like the header; remove the lines before it",
                           rows->name, (unsigned long long)row.line);
    }
    return status;
}

parsrec_status pr_columns_find_key(size_t *column, const pr_rows *rows, parsrec_column_role role,
                                   const char *given, const char *same, bool optional,
                                   parsrec_error *err)
{
    *column = PR_NO_COLUMN;
    if (given != NULL && given[0] != '\0')
        PR_TRY(find_named(column, rows, given, err));
    if (*column == PR_NO_COLUMN)
        PR_TRY(find_named(column, rows, role_names[role], err));
    if (*column == PR_NO_COLUMN && same != NULL)
        PR_TRY(find_named(column, rows, same, err));
    if (*column == PR_NO_COLUMN)
        PR_TRY(recognise(column, rows, role, NULL, err));
    if (*column != PR_NO_COLUMN || optional)
        return PARSREC_OK;
    words left = {.used = 0};
    list_free_columns(&left, rows, NULL);
    return pr_fail(err, PARSREC_E_NOT_FOUND,
                   "%s: no column is recognised as the %s among %s; its rows need that key, so "
                   "rename the column or name it with --%s",
                   rows->name, role_names[role], left.text, role_names[role]);
}
