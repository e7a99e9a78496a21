/* Hides passwords from the list of processes and from every message. */
#include "cli/passwords.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/address.h"
#include "base/memory.h"

/* Addresses of PostgreSQL with a password and queries with one, for the life of the program. */
typedef struct hidden_argument {
    const char *shown;
    char *given; /* NULL: there was no memory for it */
} hidden_argument;

static hidden_argument *hidden;
static size_t hidden_count;

/* Whether it begins as any address does: "SCHEME://". */
static bool is_address(const char *text)
{
    size_t scheme = strcspn(text, "/ '\"=");
    return scheme > 0 && text[scheme - 1] == ':' && strncmp(text + scheme, "//", 2) == 0;
}

/* What PostgreSQL opens is kept as it was given. Without memory for that the password is lost, and the
 * address does not work: better than to show it. */
static void hide(char *argument)
{
    char *address = argument + strspn(argument, "-"), *value = strchr(argument, '=');
    if (!is_address(address)) /* then perhaps --store=ADDRESS */
        address = value != NULL && is_address(value + 1) ? value + 1 : NULL;
    bool opened = address != NULL && pr_address_is_postgres(address);
    char *copy = opened ? pr_copy_string(argument, strlen(argument)) : NULL;
    if (address != NULL && pr_address_hide(address) && opened && hidden != NULL)
        hidden[hidden_count++] = (hidden_argument){argument, copy};
    else
        pr_free(copy);
}

/* A query may have addresses inside, for a database that asks another one. */
static void hide_in_query(char *query)
{
    char *copy = pr_copy_string(query, strlen(query));
    if (pr_address_hide_all(query) && hidden != NULL)
        hidden[hidden_count++] = (hidden_argument){query, copy};
    else
        pr_free(copy);
}

void cli_hide_passwords(int argc, char **argv)
{
    static const char option[] = "--query";
    const size_t length = sizeof option - 1;
    hidden = pr_alloc(argc > 0 ? (size_t)argc : 1, sizeof *hidden);
    for (int i = 1; i < argc; i++)
        if (i > 1 && strcmp(argv[i - 1], option) == 0)
            hide_in_query(argv[i]);
        else if (strncmp(argv[i], option, length) == 0 && argv[i][length] == '=')
            hide_in_query(argv[i] + length + 1);
        else
            hide(argv[i]);
    if (hidden_count > 0)
        fprintf(stderr,
                "warning: others could see the password on the command line; set PGPASSWORD or "
                "PGPASSFILE, or name a store with --store-file\n");
}

char *cli_with_password(const char *value)
{
    for (size_t i = 0; i < hidden_count; i++) {
        size_t length = strlen(hidden[i].shown);
        for (size_t at = 0; at <= length && hidden[i].given != NULL; at++)
            if (value == hidden[i].shown + at)
                return hidden[i].given + at;
    }
    return (char *)value;
}
