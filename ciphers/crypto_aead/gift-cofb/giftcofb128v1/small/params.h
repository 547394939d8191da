/* GIFT-128 with its key state updated round by round. */
