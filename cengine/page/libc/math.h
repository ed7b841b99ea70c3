/* Of C's library, what the engine needs in a browser. Noise for searches is none of it. */
#ifndef SK_PAGE_MATH_H
#define SK_PAGE_MATH_H

#define NAN (__builtin_nanf(""))

#define INFINITY __builtin_inff()

double cos(double x);
float expf(float x);
double log(double x);
double pow(double x, double y);
double sqrt(double x);

#endif
