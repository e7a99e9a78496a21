/* Passwords in addresses of databases, "postgresql://user:password@host/name?password=...": they
 * must not be seen in the list of processes, in logs and in messages. */
#ifndef PR_ADDRESS_H
#define PR_ADDRESS_H

#include <stdbool.h>

/* Whether the text is an address of a database server, which libpq reads. */
bool pr_address_is_postgres(const char *text);

/* Overwrites every password in an address of any kind with stars, in place; false where there is none. */
bool pr_address_hide(char *address);

/* Likewise in every address in a text, such as a query, and behind "password =" there. */
bool pr_address_hide_all(char *text);

/* Whether the password may end elsewhere than libpq thinks: with an '@' or '/' in it that is not
 * written as %40 or %2F, libpq takes its end for the name of a host, and shows it in messages. */
bool pr_address_is_doubtful(const char *address);

#endif
