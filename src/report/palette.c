/* Colours by role. */
#include "report/palette.h"

enum { ROLES = PR_SERIES + PR_SERIES_COLOURS };

/* The same hues twice: the dark ones are lighter, so that they stand out from dark paper. */
static const struct {
    const char *name;
    unsigned light, dark;
} roles[ROLES] = {
    {"paper", 0xFFFFFF, 0x15181C}, {"ink", 0x21262B, 0xE6E9EC}, {"quiet", 0x6B737B, 0x9AA3AC},
    {"s0", 0x0072B2, 0x4FA3E0},    {"s1", 0xD55E00, 0xF08A3C},  {"s2", 0x009E73, 0x2FBF95},
    {"s3", 0xCC79A7, 0xDD93BC},    {"s4", 0xE69F00, 0xF0B73A},  {"s5", 0x56B4E9, 0x8CCBF2},
    {"s6", 0x6A5ACD, 0xA79BF0},    {"s7", 0x7A6A53, 0xB8A68C},
};

static size_t wrapped(size_t role)
{
    return role < PR_SERIES ? role : PR_SERIES + (role - PR_SERIES) % PR_SERIES_COLOURS;
}

pr_colour pr_palette_role(size_t role, bool dark)
{
    unsigned rgb = dark ? roles[wrapped(role)].dark : roles[wrapped(role)].light;
    return (pr_colour){(rgb >> 16 & 255) / 255.0, (rgb >> 8 & 255) / 255.0, (rgb & 255) / 255.0};
}

pr_colour pr_palette(size_t i)
{
    return pr_palette_role(PR_SERIES + i, false);
}

const char *pr_palette_name(size_t role)
{
    return roles[wrapped(role)].name;
}

void pr_palette_css(pr_writer *writer, bool dark)
{
    for (size_t r = 0; r < ROLES; r++)
        pr_write(writer, "--%s:#%06x;", roles[r].name, dark ? roles[r].dark : roles[r].light);
}
