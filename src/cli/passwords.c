/* Hides passwords from the list of processes and from every message. */
#include "cli/passwords.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/address.h"
#include "base/memory.h"

/* Addresses of PostgreSQL with a password, for the life of the program. */
typedef struct hidden_argument {
    const char *shown;
    char *given; /* NULL: there was no memory for it */
} hidden_argument;

static hidden_argument *hidden;
static size_t hidden_count;

/* Whether it begins as any address does: "SCHEME://". A query that contains one is something else. */
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

void cli_hide_passwords(int argc, char **argv)
{
    hidden = pr_alloc(argc > 0 ? (size_t)argc : 1, sizeof *hidden);
    for (int i = 1; i < argc; i++)
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
