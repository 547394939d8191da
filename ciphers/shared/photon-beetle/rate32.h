/*
 * PHOTON-Beetle-AEAD[32] and PHOTON-Beetle-Hash[32]
 */
#define RATE 4
