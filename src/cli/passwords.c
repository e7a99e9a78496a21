/* Hides passwords from the list of processes and from every message. */
#include "cli/passwords.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/address.h"
#include "base/memory.h"

/* Arguments with a password, for the life of the program. */
typedef struct hidden_argument {
    const char *shown;
    char *given; /* NULL: there was no memory for it */
} hidden_argument;

static hidden_argument *hidden;
static size_t hidden_count;

/* The address in an argument, which may follow "--store="; NULL where there is none. */
static char *address_in(char *argument)
{
    for (char *at = argument; (at = strstr(at, "postgres")) != NULL; at++)
        if (pr_address_is_postgres(at))
            return at;
    return NULL;
}

/* Without a copy the password is lost, and the address does not work: better than to show it. */
static void hide(char *argument)
{
    char *address = address_in(argument);
    char *copy = address != NULL ? pr_copy_string(argument, strlen(argument)) : NULL;
    if (address == NULL || !pr_address_hide(address)) {
        pr_free(copy);
        return;
    }
    hidden[hidden_count++] = (hidden_argument){argument, copy};
}

void cli_hide_passwords(int argc, char **argv)
{
    hidden = pr_alloc(argc > 0 ? (size_t)argc : 1, sizeof *hidden);
    for (int i = 1; i < argc && hidden != NULL; i++)
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
