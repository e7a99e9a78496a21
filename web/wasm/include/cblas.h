/* What src/math/blas.c asks of a CBLAS. No library is found here, so nothing is called. */
#ifndef CBLAS_H
#define CBLAS_H

enum CBLAS_ORDER { CblasRowMajor = 101 };
enum CBLAS_TRANSPOSE { CblasNoTrans = 111, CblasTrans = 112 };
void cblas_sgemm(enum CBLAS_ORDER order, enum CBLAS_TRANSPOSE a_way, enum CBLAS_TRANSPOSE b_way,
                 int m, int n, int k, float alpha, const float *a, int a_stride, const float *b,
                 int b_stride, float beta, float *c, int c_stride);

#endif
