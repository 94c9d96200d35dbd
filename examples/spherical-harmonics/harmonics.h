/* The first nine real spherical harmonics, and what light needs of them.
 *
 * Y_lm with l = 0, 1, 2 are polynomials in the coordinates of a direction. They are numbered and signed as by
 * Ramamoorthi and Hanrahan, "An Efficient Representation for Irradiance Environment Maps", SIGGRAPH 2001: index
 * l (l + 1) + m, no Condon-Shortley phase. */
#ifndef HARMONICS_HARMONICS_H
#define HARMONICS_HARMONICS_H

enum { HARMONICS = 9, CHANNELS = 3 };

/* One coefficient per harmonic and channel (red, green, blue). */
typedef struct coefficients {
    double of[HARMONICS][CHANNELS];
} coefficients;

/* "Y(2,-1)" and "y z" for harmonic number k. */
const char *harmonic_name(int k);
const char *harmonic_formula(int k);

/* A harmonic is a constant factor times a polynomial. */
double harmonic_factor(int k);
void harmonic_polynomials(const double direction[3], double values[HARMONICS]);

/* Values of all nine in a direction of length 1. */
void harmonics_at(const double direction[3], double values[HARMONICS]);

/* What a cosine lobe does to band l = 0, 1, 2, by the theorem of Funk and Hecke: pi, 2 pi / 3, pi / 4. */
double cosine_of_band(int k);

/* Light as the coefficients have it: the map without its fine detail. */
double radiance(const coefficients *light, int channel, const double direction[3]);

/* Light that falls on a surface facing `normal`. A white diffuse surface sends irradiance / pi to every side. */
double irradiance(const coefficients *light, int channel, const double normal[3]);

#endif
