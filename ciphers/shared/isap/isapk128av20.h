/* ISAP-K-128a: Table 2.2. */
#define ISAP_S_H 16
#define ISAP_S_B 1
#define ISAP_S_E 8
#define ISAP_S_K 8
