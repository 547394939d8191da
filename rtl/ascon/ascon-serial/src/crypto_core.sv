// Ascon-AEAD128 and Ascon-Hash256 (SP 800-232, 3, 4 and 5.1), 8 columns of the state in a cycle: a round takes 8 cycles
// for its S-boxes and 8 for its linear layer.
//
// Each word S_i has two registers, s and t, that turn by bytes and have no multiplexers: columns leave s through S-boxes
// for t, and while t turns once, the bytes of its sums with itself enter s. Whatever is added to S_i is added while s
// turns. The halves of the key go by bytes too, so there is no other path to the state.
module crypto_core #(
    parameter int UNROLL = 1
) (
    input  logic         clk,
    input  logic         rst,
    input  logic         dec,
    input  logic         hash,
    input  logic [127:0] key,
    input  logic         key_valid,
    output logic         key_turn,
    input  logic [31:0]  bdi_data,
    input  logic         bdi_valid,
    output logic         bdi_ready,
    input  logic [3:0]   bdi_bytes,
    input  logic         bdi_last,
    input  logic         bdi_eoi,
    input  logic         bdi_nonce,
    input  logic         bdi_ad,
    input  logic         bdi_text,
    input  logic [15:0]  bdi_length,
    output logic [31:0]  bdo_data,
    output logic         bdo_valid,
    input  logic         bdo_ready
);
  localparam logic [63:0] IV = 64'h0000_1000_808c_0001, HASH_IV = 64'h0000_0801_00cc_0002;

  // BYTES: of input; PAD: the rest of a block; START: of a hash; POST, FINALIZE: a key is added
  typedef enum logic [2:0] {BYTES, PAD, START, POST, FINALIZE, SBOX, LINEAR, OUT} state_t;
  state_t state, after;              // after: what follows the permutation
  logic [3:0] n;                     // byte of a block, of the key, of a word of the state (its low bits)
  logic [3:0] i;                     // index of the round
  logic [63:0] s0, s1, s2, s3, s4, t0, t1, t2, t3, t4;
  logic started;                     // hash: the state is set up
  logic keyed;                       // the key has been added after the initialization
  logic separate;                    // the permutation is the last before text
  logic text;                        // the block is of text
  logic padded;                      // the padding is in
  logic sending;                     // a word leaves
  logic [1:0] parts;                 // of the digest that are out

  // ---- what moves
  wire some = bdi_bytes[3];
  wire ready = bdi_nonce ? key_valid : hash ? started : keyed;
  wire go = state == BYTES && bdi_valid && ready && !sending;
  wire enters = go && some;          // a byte, or its padding
  wire valid = state == BYTES && bdi_bytes[2'd3 - n[1:0]];
  wire word_ends = n[1:0] == 3;
  wire block_ends = n[2:0] == 7 && (n[3] || hash);
  assign bdi_ready = go && (word_ends || !some);
  wire leaves = state == OUT && !sending;
  wire keys = enters && bdi_nonce || state == POST || state == FINALIZE || (leaves && !hash);
  assign key_turn = keys && word_ends;
  wire absorbs = (enters && !bdi_nonce) || state == PAD;
  wire of_text = state == PAD ? text : bdi_text;
  wire last = absorbs && (padded || !valid);   // block of its kind: it has the padding
  wire step = enters || state == PAD || state == START || state == POST || state == FINALIZE || state == SBOX
      || state == LINEAR || leaves;

  // ---- the byte that comes, that of the key, and that of the rate
  wire [7:0] in = n[1:0] == 0 ? bdi_data[31:24] : n[1:0] == 1 ? bdi_data[23:16] : n[1:0] == 2 ? bdi_data[15:8] : bdi_data[7:0];
  wire [7:0] key_byte = n[1:0] == 0 ? key[127:120] : n[1:0] == 1 ? key[119:112] : n[1:0] == 2 ? key[111:104] : key[103:96];
  wire [7:0] rate = n[3] && !hash ? s1[7:0] : s0[7:0];
  wire [7:0] sum = rate ^ in;
  wire [7:0] entering = valid ? (dec && bdi_text ? in : sum) : {rate[7:1], rate[0] ^ (absorbs && !padded)};
  wire [63:0] iv = hash ? HASH_IV : IV;

  // ---- S-boxes of 8 columns
  wire [7:0] constant = n[2:0] == 0 ? {~i, i} : 8'd0;
  wire [7:0] x0 = s0[7:0] ^ s4[7:0], x1 = s1[7:0], x2 = s2[7:0] ^ s1[7:0] ^ constant, x3 = s3[7:0];
  wire [7:0] x4 = s4[7:0] ^ s3[7:0];
  wire [7:0] y0 = x0 ^ (~x1 & x2), y1 = x1 ^ (~x2 & x3), y2 = x2 ^ (~x3 & x4), y3 = x3 ^ (~x4 & x0);
  wire [7:0] y4 = x4 ^ (~x0 & x1);

  // ---- registers
  wire load = (state == BYTES && bdi_nonce) || state == START;
  wire linear = state == LINEAR;
  wire first = !n[3];                // half of a block, or of the key
  wire [7:0] bit_63 = {separate && linear && i == 11 && n[2:0] == 7 || state == POST && n == 15 && !some, 7'd0};
  wire [7:0] linear0 = t0[7:0] ^ t0[26:19] ^ t0[35:28];
  wire [7:0] linear1 = t1[7:0] ^ {t1[4:0], t1[63:61]} ^ t1[46:39];
  wire [7:0] linear2 = t2[7:0] ^ t2[8:1] ^ t2[13:6];
  wire [7:0] linear3 = t3[7:0] ^ t3[17:10] ^ t3[24:17];
  wire [7:0] linear4 = t4[7:0] ^ t4[14:7] ^ t4[48:41];
  wire [7:0] added = hash ? 8'd0 : key_byte;
  wire [7:0] next0 = linear ? linear0 : load ? iv[8*n[2:0]+:8] : entering;
  wire [7:0] next1 = linear ? linear1 : load ? added : entering;
  wire [7:0] next2 = linear ? linear2 : (load ? 8'd0 : s2[7:0]) ^ added;
  wire [7:0] next3 = linear ? linear3 : load ? in & {8{!hash}} : s3[7:0] ^ added;
  wire [7:0] next4 = (linear ? linear4 : load ? in & {8{!hash}} : s4[7:0] ^ added) ^ bit_63;
  wire all = state == START || state == SBOX || linear;
  wire half = first || hash;         // the half of the rate that turns
  wire turn0 = all || (enters && bdi_nonce && first) || (absorbs && half) || (leaves && hash);
  wire turn1 = all || (enters && bdi_nonce && first) || (absorbs && !half);
  wire turn2 = all || (enters && bdi_nonce && !first) || (state == FINALIZE && first);
  wire turn3 = all || (enters && bdi_nonce && first) || ((state == POST || (leaves && !hash)) && first)
      || (state == FINALIZE && !first);
  wire turn4 = all || (enters && bdi_nonce && !first) || ((state == POST || (leaves && !hash)) && !first);
  always_ff @(posedge clk) begin
    if (turn0) s0 <= {next0, s0[63:8]};
    if (turn1) s1 <= {next1, s1[63:8]};
    if (turn2) s2 <= {next2, s2[63:8]};
    if (turn3) s3 <= {next3, s3[63:8]};
    if (turn4) s4 <= {next4, s4[63:8]};
    if (all) begin                   // what enters with the linear layer has left with it
      t0 <= {linear ? t0[7:0] : y0 ^ y4, t0[63:8]};
      t1 <= {linear ? t1[7:0] : y1 ^ y0, t1[63:8]};
      t2 <= {linear ? t2[7:0] : ~y2, t2[63:8]};
      t3 <= {linear ? t3[7:0] : y3 ^ y2, t3[63:8]};
      t4 <= {linear ? t4[7:0] : y4, t4[63:8]};
    end
  end

  // ---- words that leave
  wire [7:0] tag_byte = (first ? s3[7:0] : s4[7:0]) ^ key_byte;
  wire [7:0] out = state != OUT ? sum & {8{valid}} : hash ? s0[7:0] : tag_byte;
  always_ff @(posedge clk) if (enters || leaves) bdo_data <= {bdo_data[23:0], out};
  assign bdo_valid = sending;

  always_ff @(posedge clk) begin
    if (step) n <= n + 1;
    if (sending && bdo_ready) sending <= 0;
    if (word_ends && (leaves || (enters && bdi_text && !hash))) sending <= 1;
    case (state)
      BYTES: if (bdi_valid && !ready) begin
        if (hash) state <= START;
        else if (bdi_ad) state <= POST;
        i <= 0;
      end else if (go) begin
        text <= bdi_text;
        if (absorbs && !valid) padded <= 1;
        if (bdi_ready && bdi_last && (some ? !bdi_nonce : bdi_text)) state <= PAD;
      end
      PAD: padded <= 1;
      START: begin
        started <= 1;
        after <= BYTES;
        if (n[2:0] == 7) state <= SBOX;
      end
      POST: begin
        keyed <= 1;
        if (n == 15) state <= BYTES;
      end
      FINALIZE: if (n == 15) state <= SBOX;
      SBOX: if (n[2:0] == 7) state <= LINEAR;
      LINEAR: if (n[2:0] == 7) begin
        i <= i + 1;
        state <= i == 11 ? after : SBOX;
        if (i == 11) n <= 0;
      end
      default: if (leaves && (hash ? n[2:0] == 7 : n == 15)) begin
        i <= 0;
        n <= 0;
        parts <= parts + 1;
        if (hash && parts != 3) state <= SBOX;
        else begin
          state <= BYTES;
          started <= 0;
          keyed <= 0;
          parts <= 0;
        end
      end
    endcase
    if ((enters || state == PAD) && block_ends) begin
      n <= 0;
      i <= bdi_nonce || of_text && (last || hash) ? 0 : 4;
      separate <= last && !of_text;
      after <= last ? of_text ? OUT : BYTES : bdi_last && !bdi_nonce ? PAD : BYTES;
      state <= last && of_text && !hash ? FINALIZE : SBOX;
      if (last) padded <= 0;
    end
    if (rst) begin
      state <= BYTES;
      n <= 0;
      {started, keyed, padded, sending, separate} <= 0; // separate: a hash may come first
      parts <= 0;
    end
  end
  wire unused = &{1'b0, UNROLL[0], key[95:0], bdi_eoi, bdi_length};
endmodule
