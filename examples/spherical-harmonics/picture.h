/* The projection as a picture: the map, the irradiance rebuilt from nine coefficients, and a scene lit by it. */
#ifndef HARMONICS_PICTURE_H
#define HARMONICS_PICTURE_H

#include "environment.h"

/* Writes a PNG of about twice the height: on the left the map above the irradiance in every direction, as panoramas; on
 * the right a mirroring ball and a white diffuse ball, lit by the coefficients, before the map, seen so that the main
 * light comes from the side. Brightness is chosen by the coefficients, then shifted by `exposure` stops. */
bool picture_write(const char *path, const environment *light, const coefficients *rebuilt, double exposure,
                   uint32_t height, problem *why);

#endif
