/* Groups that a data set offers by itself. */
#include <stdio.h>

#include "data/dataset.h"
#include "synth/truth.h"

enum { VALUES_MOST = 32 };

static size_t words_of(const pr_feature_column *feature)
{
    return feature->code != NULL && feature->values.count <= VALUES_MOST ? feature->values.count
                                                                         : 0;
}

static bool has_truth(const pr_dataset *data)
{
    pr_truth truth;
    return data->file != NULL && pr_truth_read(&truth, data, NULL) == PARSREC_OK;
}

bool parsrec_data_group(const parsrec_data *data, size_t i, char *buffer, size_t size)
{
    static const char *const plain[] = {"everybody", "truth"};
    size_t plain_count = data != NULL && has_truth(data) ? 2 : 1;
    if (data == NULL || buffer == NULL || size == 0)
        return false;
    if (i < plain_count) {
        snprintf(buffer, size, "%s", plain[i]);
        return true;
    }
    i -= plain_count;
    for (size_t f = 0; f < data->feature_count[PR_OF_USER]; f++) {
        const pr_feature_column *feature = &data->features[PR_OF_USER][f];
        if (i < words_of(feature)) {
            pr_slice value = pr_name(&feature->values, i);
            snprintf(buffer, size, "%s=%.*s", feature->name, (int)value.size, value.bytes);
            return true;
        }
        i -= words_of(feature);
    }
    return false;
}
