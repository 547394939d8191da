#define CYCLIST_ID_BYTES 0      /* round 2: the nonce is absorbed after K */
#define CYCLIST_MODE CYCLIST_KEYED
