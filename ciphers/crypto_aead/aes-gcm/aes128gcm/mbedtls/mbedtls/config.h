/*
 * The configuration of mbedTLS for AES-128-GCM and nothing else.
 */
#ifndef MBEDTLS_CONFIG_H
#define MBEDTLS_CONFIG_H

#include <stddef.h>

#define MBEDTLS_AES_C
#define MBEDTLS_CIPHER_C /* gcm.c calls AES through the cipher layer */
#define MBEDTLS_GCM_C

/* Constant tables instead of tables computed in RAM at the first call, and
 * one table of a kilobyte instead of four in each direction. */
#define MBEDTLS_AES_ROM_TABLES
#define MBEDTLS_AES_FEWER_TABLES

/* The cipher layer allocates one AES context a call; encrypt.c provides it
 * from static memory, so that no heap is needed. */
#define MBEDTLS_PLATFORM_C
#define MBEDTLS_PLATFORM_MEMORY
#define MBEDTLS_PLATFORM_CALLOC_MACRO aes128gcm_calloc
#define MBEDTLS_PLATFORM_FREE_MACRO aes128gcm_free

void *aes128gcm_calloc(size_t n, size_t size);
void aes128gcm_free(void *p);

#include "mbedtls/check_config.h"

#endif
