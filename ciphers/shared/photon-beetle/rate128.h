/*
 * PHOTON-Beetle-AEAD[128]
 */
#define RATE 16
