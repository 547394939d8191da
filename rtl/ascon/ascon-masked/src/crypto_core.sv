// Ascon-AEAD128 in two shares: control, which is public, and the comparison of tags, which ends in one public bit.
// Words enter and leave as in rtl/ascon/ascon. Those of a received tag enter as the last of an operation.
module crypto_core (
    input  logic         clk,
    input  logic         rst,
    input  logic         dec,
    input  logic [255:0] key,        // of shares 1 and 0, as all that is shared
    input  logic         key_valid,
    output logic         key_turn,
    input  logic [63:0]  bdi_data,
    input  logic         bdi_valid,
    output logic         bdi_ready,
    input  logic [3:0]   bdi_bytes,
    input  logic         bdi_last,
    input  logic         bdi_nonce,
    input  logic         bdi_ad,
    input  logic         bdi_text,
    input  logic         bdi_tag,
    output logic [63:0]  bdo_data,
    output logic         bdo_valid,
    input  logic         bdo_ready,
    output logic         checked,    // the received tag has been compared
    output logic         equal,
    input  logic [319:0] random,
    input  logic         random_valid,
    output logic         random_ready
);
  typedef enum logic [2:0] {WORDS, PAD, ENTER, MULTIPLY, ROUND, OUT, FOLD, CHECKED} state_t;
  state_t state, after;              // after: what follows the permutation
  logic [3:0] i;                     // index of the round
  logic [1:0] n;                     // words of this block, or of the tag
  logic keyed;                       // the key has been added after the initialization
  logic text;                        // the permutation is that of the text
  logic pad;                         // the padding is still to come
  logic [1:0] turns;                 // of the key that are to come
  logic second;                      // of two cycles of a comparison
  logic [2:0] folded;                // how often

  wire some = bdi_bytes[3];
  wire full = n == 3;
  wire compares = state == OUT && dec;
  // the first cycle of a comparison needs fresh bits, as that of a round does
  wire first = (compares && bdi_valid && !second) || (state == FOLD && !second && folded != 5);
  wire multiply = state == MULTIPLY && random_valid;
  assign random_ready = state == MULTIPLY || first;
  assign bdi_ready = state == WORDS ? key_valid || !bdi_last : compares && second;
  wire take = state == WORDS && bdi_valid && bdi_ready;
  wire tag = state == OUT && (dec ? bdi_valid && second : bdo_ready);
  assign bdo_valid = (state == OUT && !dec) || (take && bdi_text && some);
  assign key_turn = tag || turns != 0;

  wire nonce = take && bdi_nonce;
  wire ends = state == PAD ? n == 0 || full : take && bdi_last && some && !bdi_bytes[0] && full && !bdi_nonce;
  wire ends_text = ends && (state == PAD ? text : bdi_text);
  wire turn = (take && !bdi_nonce && some) || (state == PAD && n != 0);
  wire post = take && bdi_ad && !keyed;

  logic [319:0] operands0, operands1;
  logic [31:0] text0, text1, tag0, tag1;
  wire flip = state == PAD && n == 0;
  wire separate = take && bdi_text && !text;
  wire replace = dec && bdi_text;
  wire last = i == 11 && state == ROUND;
  wire pads = state == PAD;
  wire enter = state == ENTER;
  wire round = state == ROUND;
  ascon_share #(.FIRST(1)) share0 (
      .clk, .nonce, .turn, .flip, .pad, .pads, .replace, .post, .finalize(ends_text), .separate, .tag, .enter, .multiply,
      .round, .last, .i, .word(bdi_data[31:0]), .bytes(bdi_bytes), .key(key[127:0]), .random, .other(operands1),
      .operands(operands0), .text(text0), .tag_word(tag0));
  ascon_share #(.FIRST(0)) share1 (
      .clk, .nonce, .turn, .flip, .pad, .pads, .replace, .post, .finalize(ends_text), .separate, .tag, .enter, .multiply,
      .round, .last, .i, .word(bdi_data[63:32]), .bytes(bdi_bytes), .key(key[255:128]), .random, .other(operands0),
      .operands(operands1), .text(text1), .tag_word(tag1));
  assign bdo_data = state == OUT ? {tag1, tag0} : {text1, text0};

  // bits at half the distance of the fold before. None may depend on itself: both shares of it would meet
  function automatic logic [31:0] farther(input logic [31:0] s, input logic [2:0] times);
    case (times)
      0: farther = s >> 16;
      1: farther = s >> 8;
      2: farther = s >> 4;
      3: farther = s >> 2;
      default: farther = s >> 1;
    endcase
  endfunction

  // ---- the comparison: bits that are equal so far, of both shares; words of the tag are joined to them by AND gates
  // as those of the S-boxes, then one half to the other until one bit is left
  (* keep *) logic [31:0] same0, same1, products0, products1;
  logic result0, result1;
  wire [31:0] joins0 = compares ? ~(tag0 ^ bdi_data[31:0]) : farther(same0, folded);
  wire [31:0] joins1 = compares ? tag1 ^ bdi_data[63:32] : farther(same1, folded);
  assign checked = state == CHECKED;
  assign equal = result0 ^ result1;
  always_ff @(posedge clk) begin
    if (first && random_valid) begin
      products0 <= (same0 & joins1) ^ random[31:0];
      products1 <= (same1 & joins0) ^ random[31:0];
    end
    if (second) begin
      same0 <= (same0 & joins0) ^ products0;
      same1 <= (same1 & joins1) ^ products1;
    end else if (state == WORDS) begin
      same0 <= '1;
      same1 <= '0;
    end
    if (state == FOLD && folded == 5) {result0, result1} <= {same0[0], same1[0]};
  end

  always_ff @(posedge clk) begin
    second <= first && random_valid;
    case (state)
      WORDS: if (take) begin
        keyed <= bdi_ad;
        text <= bdi_text;
        if (some) n <= n + 1;
        pad <= bdi_bytes[0] || !some;
        if (bdi_nonce) begin
          i <= 0;
          if (bdi_last) state <= ENTER;
          after <= WORDS;
        end else begin
          i <= 4;
          after <= bdi_last ? PAD : WORDS;
          if (some && full) state <= ENTER;
          else if (bdi_last && (some || bdi_text)) state <= PAD;
        end
      end
      PAD: begin
        pad <= 0;
        n <= n == 0 ? 0 : n + 1;
      end
      ENTER: state <= MULTIPLY;
      MULTIPLY: if (random_valid) state <= ROUND;
      ROUND: begin
        i <= i + 1;
        state <= last ? after : MULTIPLY;
      end
      OUT: if (tag) begin
        n <= n + 1;
        folded <= 0;
        if (full) state <= dec ? FOLD : WORDS;
      end
      FOLD: begin
        if (second) folded <= folded + 1;
        if (folded == 5) state <= CHECKED;
      end
      default: state <= WORDS;
    endcase
    turns <= post || ends_text ? 2 : turns == 0 ? 0 : turns - 1;
    if (ends) begin
      n <= 0;
      i <= ends_text ? 0 : 4;
      after <= ends_text ? OUT : WORDS;
      state <= ENTER;
    end
    if (rst) begin
      state <= WORDS;
      n <= 0;
      turns <= 0;
      second <= 0;
    end
  end
  wire unused = &{1'b0, bdi_tag};
endmodule
