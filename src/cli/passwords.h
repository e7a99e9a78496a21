/* Passwords in addresses of databases on the command line. */
#ifndef CLI_PASSWORDS_H
#define CLI_PASSWORDS_H

/* All users of the machine can read the command line in the list of processes: overwrites the passwords
 * in it, with a warning. argv keeps the stars, so that no message can show a password. */
void cli_hide_passwords(int argc, char **argv);

/* The value as it was given, for what opens an address of PostgreSQL: `value` is an argument, or a part of
 * one, as it stands in argv. Others keep the stars: nothing else takes a password. */
char *cli_with_password(const char *value);

#endif
