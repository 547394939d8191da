/* PAEF-ForkSkinny-64-192 (Tables 1 and 4 of the specification) */
#define FORK_N 8
#define FORK_T 24
#define FORK_RINIT 17
#define FORK_R0 23
#define FORK_R1 23
