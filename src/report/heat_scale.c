/* Scale and colours of heatmaps. */
#include "report/heat_scale.h"

#include <math.h>
#include <stdio.h>

/* ---- scale ---- */

void pr_heat_scale_see(pr_heat_scale *scale, const double *numbers, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (!isfinite(numbers[i])) {
            scale->gaps = true;
            continue;
        }
        scale->limit = fmax(scale->limit, fabs(numbers[i]));
        scale->diverging = scale->diverging || numbers[i] < 0;
    }
}

void pr_heat_scale_settle(pr_heat_scale *scale, double limit)
{
    scale->cut = limit > 0 && scale->limit > limit;
    if (limit > 0)
        scale->limit = limit;
    if (!(scale->limit > 0))
        scale->limit = 1; /* all zero, or nothing known */
}

/* ---- colours ---- */

/* From zero to the end, at equal steps. */
enum { STOPS = 5 };
static const unsigned above[STOPS] = {0xF7F7F5, 0xFBD3A6, 0xF0984A, 0xC05A10, 0x6E2C00};
static const unsigned below[STOPS] = {0xF7F7F5, 0xB5D5EC, 0x6AA5D4, 0x2A6CAD, 0x0B3467};
static const unsigned unknown = 0xDDE1E5, dark_ink = 0x21262B;

static pr_colour of_rgb(unsigned rgb)
{
    return (pr_colour){(rgb >> 16 & 255) / 255.0, (rgb >> 8 & 255) / 255.0, (rgb & 255) / 255.0};
}

static double between(double a, double b, double share)
{
    return a + (b - a) * share;
}

pr_colour pr_heat_colour(const pr_heat_scale *scale, double number)
{
    if (!isfinite(number))
        return of_rgb(unknown);
    const unsigned *stops = number < 0 ? below : above;
    double at = fmin(fabs(number) / scale->limit, 1) * (STOPS - 1);
    size_t i = at < STOPS - 2 ? (size_t)at : STOPS - 2;
    pr_colour a = of_rgb(stops[i]), b = of_rgb(stops[i + 1]);
    double share = at - (double)i;
    return (pr_colour){between(a.red, b.red, share), between(a.green, b.green, share),
                       between(a.blue, b.blue, share)};
}

pr_colour pr_heat_ink(pr_colour c)
{
    double brightness = 0.299 * c.red + 0.587 * c.green + 0.114 * c.blue;
    return brightness > 0.55 ? of_rgb(dark_ink) : (pr_colour){1, 1, 1};
}

/* ---- text ---- */

int pr_heat_decimals(const pr_heat_scale *scale)
{
    double power = floor(log10(scale->limit));
    double digits = power < 0 ? 1 - power : 2 - power;
    return digits < 0 ? 0 : digits > 6 ? 6 : (int)digits;
}

char *pr_heat_text(double number, int decimals, char *buffer, size_t size)
{
    char digits[40];
    snprintf(digits, sizeof digits, "%.*f", decimals, fabs(number));
    bool zero = true;
    for (const char *c = digits; *c != '\0'; c++)
        zero = zero && (*c == '0' || *c == '.');
    snprintf(buffer, size, "%s%s", number < 0 && !zero ? "−" : "", digits);
    return buffer;
}

char *pr_heat_value(const pr_heat_scale *scale, double number, int decimals, char *buffer,
                    size_t size)
{
    char text[48];
    if (scale->unit == PR_HEAT_TIMES) {
        double factor = exp(number);
        snprintf(buffer, size, "×%.*f", factor < 1.995 ? 2 : factor < 9.95 ? 1 : 0, factor);
        return buffer;
    }
    if (scale->unit != PR_HEAT_PERCENT)
        return pr_heat_text(number, decimals, buffer, size);
    snprintf(buffer, size, "%s %%",
             pr_heat_text(100 * number, decimals > 2 ? decimals - 2 : 0, text, sizeof text));
    return buffer;
}
