/* Intervals from a few numbers, by Student's t. */
#include <math.h>

#include "eval/significance.h"

/* How much of t with that many degrees of freedom lies within ±sqrt(degrees) · tan(angle): the finite
 * sums that whole degrees have, of even or odd powers of the cosine. */
static double covered(double angle, size_t degrees)
{
    bool odd = degrees % 2 == 1;
    double cosine = cos(angle), term = odd ? cosine : 1, sum = 0;
    for (size_t k = odd ? 3 : 2; k <= degrees; k += 2) {
        sum += term;
        term *= cosine * cosine * (double)(k - 1) / (double)k;
    }
    return odd ? (angle + sin(angle) * sum) * M_2_PI : sin(angle) * sum;
}

double pr_student_quantile(double level, size_t degrees)
{
    double low = 0, high = M_PI_2;
    for (int i = 0; i < 60; i++) {
        double middle = (low + high) / 2;
        if (covered(middle, degrees) < level)
            low = middle;
        else
            high = middle;
    }
    return sqrt((double)degrees) * tan(low);
}

pr_interval pr_student(const double *values, size_t count, double level)
{
    double mean = 0, squares = 0;
    for (size_t i = 0; i < count; i++)
        mean += values[i] / (double)count;
    if (count < 2)
        return (pr_interval){mean, NAN, NAN};
    for (size_t i = 0; i < count; i++)
        squares += (values[i] - mean) * (values[i] - mean);
    double error = sqrt(squares / (double)(count - 1) / (double)count);
    double reach = pr_student_quantile(level, count - 1) * error;
    return (pr_interval){mean, mean - reach, mean + reach};
}
