/* SipHash: two rounds per word of 8 bytes, four at the end, and four more for the second half of
 * the hash. */
#include "base/siphash.h"

typedef struct state {
    uint64_t a, b, c, d;
} state;

static uint64_t rotate(uint64_t x, int bits)
{
    return x << bits | x >> (64 - bits);
}

static void mix(state *s, int rounds)
{
    for (int i = 0; i < rounds; i++) {
        s->a += s->b;
        s->b = rotate(s->b, 13) ^ s->a;
        s->a = rotate(s->a, 32);
        s->c += s->d;
        s->d = rotate(s->d, 16) ^ s->c;
        s->a += s->d;
        s->d = rotate(s->d, 21) ^ s->a;
        s->c += s->b;
        s->b = rotate(s->b, 17) ^ s->c;
        s->c = rotate(s->c, 32);
    }
}

/* Numbers are little-endian on every machine. */
static uint64_t read_word(const uint8_t *bytes, size_t size)
{
    uint64_t word = 0;
    for (size_t i = 0; i < size; i++)
        word |= (uint64_t)bytes[i] << (8 * i);
    return word;
}

static void write_word(uint8_t *bytes, uint64_t word)
{
    for (int i = 0; i < 8; i++)
        bytes[i] = (uint8_t)(word >> (8 * i));
}

static void take_word(state *s, uint64_t word)
{
    s->d ^= word;
    mix(s, 2);
    s->a ^= word;
}

void pr_siphash(uint8_t hash[PR_SIPHASH_BYTES], const uint8_t key[PR_SIPHASH_BYTES],
                const void *bytes, size_t size)
{
    const uint8_t *at = bytes;
    uint64_t first = read_word(key, 8), second = read_word(key + 8, 8);
    state s = {first ^ UINT64_C(0x736f6d6570736575), second ^ UINT64_C(0x646f72616e646f6d) ^ 0xee,
               first ^ UINT64_C(0x6c7967656e657261), second ^ UINT64_C(0x7465646279746573)};
    size_t whole = size / 8 * 8;
    for (size_t i = 0; i < whole; i += 8)
        take_word(&s, read_word(at + i, 8));
    take_word(&s, (size > whole ? read_word(at + whole, size - whole) : 0) | (uint64_t)size << 56);
    s.c ^= 0xee;
    mix(&s, 4);
    write_word(hash, s.a ^ s.b ^ s.c ^ s.d);
    s.b ^= 0xdd;
    mix(&s, 4);
    write_word(hash + 8, s.a ^ s.b ^ s.c ^ s.d);
}
