/* Finding passwords in addresses. */
#include "base/address.h"

#include <string.h>
#include <strings.h>

static const char *after_scheme(const char *text)
{
    static const char *const schemes[] = {"postgresql://", "postgres://"};
    for (size_t i = 0; i < sizeof schemes / sizeof *schemes; i++)
        if (strncmp(text, schemes[i], strlen(schemes[i])) == 0)
            return text + strlen(schemes[i]);
    return NULL;
}

bool pr_address_is_postgres(const char *text)
{
    return after_scheme(text) != NULL;
}

/* The last '@' before the query; NULL where there is none. */
static const char *end_of_user(const char *begin)
{
    const char *end = NULL;
    for (const char *c = begin; *c != '\0' && *c != '?'; c++)
        if (*c == '@')
            end = c;
    return end;
}

static bool hide(char *from, const char *to)
{
    bool any = from < to;
    for (char *c = from; c < to; c++)
        *c = '*';
    return any;
}

/* "password=" and "sslpassword=", up to the next '&'. */
static bool hide_in_query(char *query)
{
    static const char key[] = "password=";
    bool any = false;
    for (char *at = query; (at = strcasestr(at, key)) != NULL;) {
        at += sizeof key - 1;
        any |= hide(at, at + strcspn(at, "&"));
    }
    return any;
}

bool pr_address_hide(char *address)
{
    char *begin = strstr(address, "://");
    if (begin == NULL)
        return false;
    begin += strlen("://");
    const char *end = end_of_user(begin);
    char *colon = end != NULL ? memchr(begin, ':', (size_t)(end - begin)) : NULL;
    char *query = strchr(begin, '?');
    bool any = colon != NULL && hide(colon + 1, end);
    return (query != NULL && hide_in_query(query)) || any;
}

/* "password=hush", "PASSWORD = 'hush'", as parameters of libpq are written inside a query. */
static bool hide_parameters(char *text)
{
    static const char key[] = "password";
    bool any = false;
    for (char *at = text; (at = strcasestr(at, key)) != NULL;) {
        at += sizeof key - 1;
        char *value = at + strspn(at, " ");
        if (*value != '=')
            continue;
        value += 1 + strspn(value + 1, " ");
        size_t quotes = strspn(value, "'\"");
        value += quotes;
        any |= hide(value, value + strcspn(value, quotes > 0 ? "'\"" : " '\"&"));
        at = value;
    }
    return any;
}

bool pr_address_hide_all(char *text)
{
    static const char ends[] = " \t\r\n'\"`";
    bool any = hide_parameters(text);
    for (char *at = text; (at = strstr(at, "://")) != NULL;) {
        char *end = at + strcspn(at, ends), held = *end;
        *end = '\0';
        any |= pr_address_hide(at);
        *end = held;
        at = end;
    }
    return any;
}

bool pr_address_is_doubtful(const char *address)
{
    const char *begin = after_scheme(address);
    const char *end = begin != NULL ? end_of_user(begin) : NULL;
    const char *colon = end != NULL ? memchr(begin, ':', (size_t)(end - begin)) : NULL;
    return colon != NULL && (memchr(colon, '@', (size_t)(end - colon)) != NULL ||
                             memchr(colon, '/', (size_t)(end - colon)) != NULL);
}
