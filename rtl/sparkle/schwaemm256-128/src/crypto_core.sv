// SCHWAEMM256-128 and ESCH256 (the SPARKLE specification, 2.2 and 2.3), a step of SPARKLE384 in a cycle.
//
// FeistelSwap, whitening and addition of a block go word by word; the words of S_1 wait until those of S_2 come.
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
  typedef enum logic [1:0] {WORDS, PAD, PERMUTE, OUT} state_t;
  state_t state, after;              // after: what follows the permutation
  logic [3:0] i;                     // the next step
  logic [2:0] n;                     // the word of the block
  logic [383:0] s, stepped;
  logic [127:0] old;                 // words of S_1
  logic big;                         // the permutation is the big one
  logic text;                        // the block in PAD is of the text
  logic pad;                         // the padding is still to come
  logic second;                      // the second half of the digest is due

  sparkle384_step permutation (.step(i), .s, .out(stepped));

  function automatic logic [31:0] swap(input logic [31:0] x);
    swap = {x[7:0], x[15:8], x[23:16], x[31:24]};
  endfunction

  function automatic logic [31:0] ell(input logic [31:0] x);
    ell = {x[15:0], x[31:16] ^ x[15:0]};
  endfunction

  wire some = bdi_bytes[3];
  wire [31:0] mask = {{8{bdi_bytes[0]}}, {8{bdi_bytes[1]}}, {8{bdi_bytes[2]}}, {8{bdi_bytes[3]}}};
  wire [31:0] in = swap(bdi_data);
  wire [31:0] padding = {bdi_bytes[1] && !bdi_bytes[0], 7'd0, bdi_bytes[2] && !bdi_bytes[1], 7'd0,
                         bdi_bytes[3] && !bdi_bytes[2], 7'd0, !bdi_bytes[3], 7'd0};
  wire [31:0] word = s[{4'd0, n}*32+:32];
  wire [31:0] tag = s[({4'd0, n} + 8)*32+:32] ^ swap(key[127:96]);
  wire [31:0] sum = (in ^ word) & mask;
  wire [31:0] d = state == PAD ? {24'd0, pad, 7'd0} : (dec && bdi_text ? sum : in) ^ padding;
  wire take = bdi_valid && bdi_ready;
  wire last_word = hash ? n == 3 : n == 7;
  wire idle_kind = !hash && !some && !bdi_nonce;  // a string is empty
  wire adds = (take && !bdi_nonce && !idle_kind) || state == PAD;
  wire full = state != PAD && bdi_bytes[0];
  wire is_last = state == PAD || bdi_last;
  wire [2:0] constant = !is_last ? 0 : hash ? (full ? 2 : 1) : {1'b1, state == PAD ? text : bdi_text, full};
  wire block_ends = (adds || (take && bdi_nonce)) && last_word;

  assign bdi_ready = state == WORDS && (hash || key_valid || (bdi_nonce && !n[2]));
  assign bdo_valid = state == OUT || (take && bdi_text && !hash && some);
  assign bdo_data = swap(state != OUT ? sum : hash ? word : tag);
  wire out_moves = state == OUT && bdo_ready;
  wire out_ends = out_moves && n == 3 && (!hash || second);
  assign key_turn = (take && bdi_nonce && n[2]) || (out_moves && !hash);

  always_ff @(posedge clk) begin
    if (rst || out_ends) s <= 0;
    else if (state == PERMUTE) s <= stepped;
    else begin
      for (int j = 0; j < 8; j++) begin
        if (n == 3'(j)) begin
          if (take && bdi_nonce) s[32*j+:32] <= in;
          else if (adds && hash) s[32*j+:32] <= s[32*j+:32] ^ d;
          else if (adds && j < 4) s[32*j+:32] <= s[32*j+128+:32] ^ d ^ s[32*(j%4)+256+:32];
          else if (adds) s[32*j+:32] <= s[32*j+:32] ^ old[31:0] ^ d ^ s[32*(j%4)+256+:32];
        end
        if (take && bdi_nonce && n == 3'(4 + j)) s[32*j+256+:32] <= swap(key[127:96]);
      end
      if (adds && hash) begin
        // the sum of both pairs goes to three branches
        for (int j = 0; j < 6; j++) begin
          if (n[0] != j[0]) s[32*j+:32] <= s[32*j+:32] ^ ell(d);
        end
      end
      if (adds && last_word) begin
        if (hash) s[185:184] <= s[185:184] ^ constant[1:0];
        else begin
          s[378:376] <= s[378:376] ^ constant;
          s[122:120] <= s[122:120] ^ constant;
          s[250:248] <= s[250:248] ^ old[26:24] ^ d[26:24] ^ s[378:376] ^ constant;
        end
      end
    end
    if (adds) old <= {word, old[127:32]};
  end

  always_ff @(posedge clk) begin
    case (state)
      WORDS: begin
        i <= 0;
        pad <= bdi_bytes[0];
        text <= bdi_text;
        if (take && (adds || bdi_nonce)) n <= n + 1;
        if (adds && bdi_last) state <= PAD;
        if (take && bdi_text && idle_kind) state <= OUT;
      end
      PAD: begin
        pad <= 0;
        n <= n + 1;
      end
      PERMUTE: begin
        i <= i + 1;
        if (i == (big ? 10 : 6)) begin
          state <= after;
          i <= 0;
        end
      end
      default: if (bdo_ready) begin
        n <= n + 1;
        if (n == 3) begin
          n <= 0;
          big <= 0;
          second <= !out_ends;
          state <= out_ends ? WORDS : PERMUTE;
        end
      end
    endcase
    if (block_ends) begin
      n <= 0;
      big <= is_last || bdi_nonce;
      after <= is_last && (state == PAD ? text : bdi_text) ? OUT : WORDS;
      state <= PERMUTE;
    end
    if (rst) begin
      state <= WORDS;
      n <= 0;
      second <= 0;
    end
  end
  wire unused = &{1'b0, UNROLL[0], key[95:0], bdi_ad, bdi_eoi, bdi_length};
endmodule
