/* Writes a CSV of purchases in random order, of any size, and counts what a right import of it keeps.
 *
 *   random_rows ROWS USERS ITEMS [SEED] >rows.csv        the counts go to standard error
 *
 * Sessions have 8 rows. The rows of all sessions are permuted by a keyed network, so no row is next to
 * another of its session and nothing has to be held in memory. Items are drawn log-uniformly; an item
 * that a session has twice counts once. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SLOTS = 8 };

static uint64_t mix(uint64_t x)
{
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9u;
    x = (x ^ x >> 27) * 0x94D049BB133111EBu;
    return x ^ x >> 31;
}

/* A permutation of 0 .. count - 1: a Feistel network over the next even number of bits, applied again
 * until the result is in range. */
static uint64_t place(uint64_t i, uint64_t count, unsigned half, uint64_t seed)
{
    uint64_t mask = (UINT64_C(1) << half) - 1;
    do {
        uint64_t left = i >> half, right = i & mask;
        for (unsigned round = 0; round < 4; round++) {
            uint64_t next = left ^ (mix(right + (seed << 8 | round) * 0x9E3779B97F4A7C15u) & mask);
            left = right;
            right = next;
        }
        i = left << half | right;
    } while (i >= count);
    return i;
}

static uint64_t item_of(uint64_t session, unsigned slot, uint64_t seed, double log_items)
{
    double u = (double)(mix(session * SLOTS + slot + seed * 0x2545F4914F6CDD1Du) >> 11) * 0x1p-53;
    return (uint64_t)exp(u * log_items) - 1;
}

static uint64_t user_of(uint64_t session, uint64_t users, uint64_t seed)
{
    return mix(session + seed * 0xD1B54A32D192ED03u) % users;
}

static char *put(char *at, char letter, uint64_t number)
{
    char digits[20];
    unsigned n = 0;
    *at++ = letter;
    do
        digits[n++] = (char)('0' + number % 10);
    while ((number /= 10) > 0);
    while (n > 0)
        *at++ = digits[--n];
    return at;
}

static void count(uint64_t rows, uint64_t users, uint64_t items, uint64_t seed, double log_items)
{
    unsigned char *has_user = calloc(users, 1), *has_item = calloc(items, 1);
    uint64_t sessions = (rows + SLOTS - 1) / SLOTS, actions = 0, u = 0, v = 0;
    if (has_user == NULL || has_item == NULL)
        exit(1);
    for (uint64_t s = 0; s < sessions; s++) {
        uint64_t seen[SLOTS];
        has_user[user_of(s, users, seed)] = 1;
        for (unsigned k = 0; k < SLOTS && s * SLOTS + k < rows; k++) {
            unsigned before = 0;
            seen[k] = item_of(s, k, seed, log_items);
            has_item[seen[k]] = 1;
            while (seen[before] != seen[k])
                before++;
            actions += before == k;
        }
    }
    for (uint64_t i = 0; i < users; i++)
        u += has_user[i];
    for (uint64_t i = 0; i < items; i++)
        v += has_item[i];
    fprintf(stderr, "%llu users, %llu sessions, %llu items, %llu actions\n", (unsigned long long)u,
            (unsigned long long)sessions, (unsigned long long)v, (unsigned long long)actions);
    free(has_user);
    free(has_item);
}

int main(int argc, char **argv)
{
    static char buffer[1 << 20];
    if (argc < 4) {
        fprintf(stderr, "usage: random_rows ROWS USERS ITEMS [SEED] >rows.csv\n");
        return 2;
    }
    uint64_t rows = strtoull(argv[1], NULL, 10), users = strtoull(argv[2], NULL, 10);
    uint64_t items = strtoull(argv[3], NULL, 10), seed = argc > 4 ? strtoull(argv[4], NULL, 10) : 1;
    if (rows == 0 || users == 0 || items == 0)
        return 2;
    unsigned half = 1;
    while ((UINT64_C(1) << 2 * half) < rows)
        half++;
    double log_items = log((double)items);
    size_t used = (size_t)snprintf(buffer, sizeof buffer, "user,session,time,item\n");
    for (uint64_t i = 0; i < rows; i++) {
        uint64_t row = place(i, rows, half, seed), session = row / SLOTS;
        char *at = buffer + used;
        at = put(at, 'u', user_of(session, users, seed));
        *at++ = ',';
        at = put(at, 's', session);
        at = put(at, ',', 1500000000 + session % 200000000);
        *at++ = ',';
        at = put(at, 'i', item_of(session, (unsigned)(row % SLOTS), seed, log_items));
        *at++ = '\n';
        used = (size_t)(at - buffer);
        if (used > sizeof buffer - 128) {
            if (fwrite(buffer, 1, used, stdout) != used)
                return 1;
            used = 0;
        }
    }
    if (fwrite(buffer, 1, used, stdout) != used || fflush(stdout) != 0)
        return 1;
    count(rows, users, items, seed, log_items);
    return 0;
}
