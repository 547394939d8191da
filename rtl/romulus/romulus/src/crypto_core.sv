// Romulus-N (version 1.3 of the specification, 2.4), UNROLL (1, 2 or 4) rounds of SKINNY-128-384+ in a cycle.
//
// Associated data come before the nonce, which takes the place of their blocks as a tweak.
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
  typedef enum logic [1:0] {WORDS, START, ROUNDS, OUT} state_t;
  state_t state;
  logic [1:0] n;                     // words of the block, or of the tag
  logic [5:0] i, constant;           // rounds that are done
  logic [127:0] s, t;                // T: nonce or a block of associated data
  logic [383:0] tweakey;
  logic [55:0] counter;
  logic [4:0] domain;                // the domain separation byte of the cipher's call
  logic even;                        // the block of associated data is a tweak
  logic padded;                      // the last of them was not full
  logic from_nonce, from_text, done; // what the cipher is called for; done: for the last block

  wire some = bdi_bytes[3];
  wire [31:0] mask = {{8{bdi_bytes[3]}}, {8{bdi_bytes[2]}}, {8{bdi_bytes[1]}}, {8{bdi_bytes[0]}}};
  // lfsr56, its first byte lowest, after one step
  wire [55:0] next = {counter[54:0], 1'b0} ^ (counter[55] ? 56'h95 : 56'h0);
  wire [31:0] word = n == 0 ? s[127:96] : n == 1 ? s[95:64] : n == 2 ? s[63:32] : s[31:0];
  logic [31:0] g;
  always_comb for (int j = 0; j < 4; j++) g[8*j+:8] = {word[8*j+7] ^ word[8*j], word[8*j+1+:7]};
  wire [31:0] sum = (bdi_data ^ g) & mask;
  wire [31:0] entering = dec && bdi_text ? sum : bdi_data;
  wire take = bdi_valid && bdi_ready;
  wire block_ends = take && (n == 3 || bdi_last);
  wire full = n == 3 && bdi_bytes[0];
  wire [3:0] bytes = {n, 2'd0} + (bdi_bytes[0] ? 4 : bdi_bytes[1] ? 3 : bdi_bytes[2] ? 2 : {3'd0, some});
  wire [7:0] padding = block_ends && !full ? {4'd0, bytes} : 0;  // the last byte of the block
  wire to_tweak = bdi_nonce || (bdi_ad && even);

  assign bdi_ready = state == WORDS;
  assign bdo_valid = state == OUT || (take && bdi_text && some);
  assign bdo_data = state == OUT ? g : sum;
  assign key_turn = 0;
  wire out_ends = state == OUT && bdo_ready && n == 3;

  wire [127:0] rounds;
  wire [383:0] tweakey_next;
  wire [5:0] constant_next;
  skinny128_rounds #(.N(UNROLL)) cipher (
      .in(s), .tweakey_in(tweakey), .constant_in(constant),
      .out(rounds), .tweakey_out(tweakey_next), .constant_out(constant_next));

  always_ff @(posedge clk) begin
    if (rst || out_ends) s <= 0;
    else if (state == ROUNDS) s <= rounds;
    else if (take && !to_tweak) begin
      for (int j = 0; j < 4; j++) if (n == 2'(j)) s[96-32*j+:32] <= s[96-32*j+:32] ^ entering;
      if (n == 3) s[7:0] <= s[7:0] ^ entering[7:0] ^ padding;
      else s[7:0] <= s[7:0] ^ padding;
    end
    if (take && to_tweak) begin
      for (int j = 0; j < 4; j++) if (n <= 2'(j)) t[96-32*j+:32] <= n == 2'(j) ? bdi_data : 0;
      if (n != 3) t[7:0] <= padding;
      else t[7:0] <= bdi_data[7:0] | padding;
    end
    if (state == START) begin
      tweakey <= {counter[7:0], counter[15:8], counter[23:16], counter[31:24], counter[39:32], counter[47:40],
                  counter[55:48], 3'd0, domain, 64'd0, t, key};
      constant <= 0;
    end else begin
      tweakey <= tweakey_next;
      constant <= constant_next;
    end
    if (rst || out_ends || (state == START && from_nonce && key_valid)) counter <= 1;
    else if ((block_ends && !to_tweak) || (state == START && !from_text && key_valid)) counter <= next;
    i <= state == ROUNDS ? i + 6'(UNROLL) : 0;
  end

  always_ff @(posedge clk) begin
    case (state)
      WORDS: if (take) begin
        n <= block_ends ? 0 : n + 1;
        from_nonce <= bdi_nonce;
        from_text <= bdi_text;
        done <= bdi_text && bdi_last;
        if (block_ends) begin
          if (bdi_ad) begin
            even <= !even && !bdi_last;
            padded <= !full;
            domain <= 8;
          end else if (bdi_nonce) domain <= {3'b110, padded, 1'b0};
          else domain <= bdi_last ? {4'b1010, !full} : 4;
          if (to_tweak || bdi_text) state <= START;
        end
      end
      START: if (key_valid) state <= ROUNDS;
      ROUNDS: if (i == 6'(40 - UNROLL)) state <= done ? OUT : WORDS;
      default: if (bdo_ready) begin
        n <= n + 1;
        if (n == 3) state <= WORDS;
      end
    endcase
    if (rst) begin
      state <= WORDS;
      n <= 0;
      even <= 0;
    end
  end
  wire unused = &{1'b0, hash, bdi_eoi, bdi_length};
endmodule
