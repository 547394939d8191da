/* Input and output by lanes where they are whole. */
#define CYCLIST_FAST
#define CYCLIST_MODE CYCLIST_HASH
