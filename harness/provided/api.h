/* aes.c takes the size of its keys from here: the schedule that it has for 24 bytes is the one with functions of its
 * own, the others need but next_words(). */
#define CRYPTO_KEYBYTES 24
