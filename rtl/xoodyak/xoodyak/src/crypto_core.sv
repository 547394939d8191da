// Xoodyak of the final round: AEAD and hash (the specification, 2 and 3), UNROLL (1, 2, 3, 4, ...) rounds in a cycle.
//
// The state is 0 between operations, so that all that enters is added. Key and nonce enter side by side. The bits of Down()
// and of the Up() that follows come with the last word of a block.
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
  typedef enum logic [1:0] {WORDS, PERMUTE, OUT} state_t;
  state_t state, after;              // after: what follows the permutation
  logic [3:0] i;                     // the next round
  logic [3:0] n;                     // the lane of the next word
  logic [383:0] s, rounds;
  logic first;                       // the next block is the first of the associated data or of the hash message
  logic down;                        // hash: the second half of the digest needs Down()

  xoodoo_rounds #(.N(UNROLL)) permutation (.i, .in(s), .out(rounds));

  function automatic logic [31:0] swap(input logic [31:0] x);
    swap = {x[7:0], x[15:8], x[23:16], x[31:24]};
  endfunction

  wire some = bdi_bytes[3];
  wire [31:0] mask = {{8{bdi_bytes[0]}}, {8{bdi_bytes[1]}}, {8{bdi_bytes[2]}}, {8{bdi_bytes[3]}}};
  wire [31:0] in = swap(bdi_data);
  wire [31:0] padding = {7'd0, bdi_bytes[1] && !bdi_bytes[0], 7'd0, bdi_bytes[2] && !bdi_bytes[1],
                         7'd0, bdi_bytes[3] && !bdi_bytes[2], 7'd0, !bdi_bytes[3]};
  logic [31:0] lane;
  always_comb begin
    lane = s[31:0];
    for (int j = 1; j < 6; j++) if (n == 4'(j)) lane = s[32*j+:32];
  end
  wire [31:0] sum = (in ^ lane) & mask;
  wire [31:0] added = (dec && bdi_text ? sum : in) ^ padding;

  wire [31:0] low = bdi_nonce ? swap(key[127:96]) : added;  // lanes 0 to 3: the key beside the nonce

  wire take = bdi_valid && bdi_ready;
  wire [3:0] last_lane = bdi_ad ? 10 : hash ? 3 : bdi_nonce ? 7 : 5;
  wire block_ends = take && (bdi_last || n == last_lane);
  wire digest_half = state == OUT && bdo_ready && hash && n == 3;
  wire out_ends = state == OUT && bdo_ready && n == 3 && (!hash || down);

  assign bdi_ready = state == WORDS && (hash || key_valid);
  assign bdo_valid = state == OUT || (take && bdi_text && !hash && some);
  assign bdo_data = swap(state == OUT ? lane : sum);
  assign key_turn = take && bdi_nonce;

  always_ff @(posedge clk) begin
    if (rst || out_ends) s <= 0;
    else if (state == PERMUTE) s <= rounds;
    else begin
      for (int j = 0; j < 12; j++) begin
        if (take && n == 4'(bdi_nonce && j >= 4 ? j - 4 : j) && (j < 8 || !bdi_nonce)) s[32*j+:32] <= s[32*j+:32] ^ (j < 4 ? low : added);
        if (take && j != 0 && n == 4'(j - 1) && block_ends && bdi_bytes[0] && !bdi_nonce) s[32*j] <= !s[32*j];
      end
      if (take && bdi_nonce && bdi_last) begin
        s[256+:9] <= 9'h110;         // bytes of the nonce, and Down()
        s[383-:8] <= 8'h02;
      end
      if (block_ends && !bdi_nonce) begin
        s[383-:8] <= s[383-:8] ^ {bdi_ad && bdi_last, bdi_text && bdi_last && !hash, 4'd0, first && !hash, first};
      end
      if (digest_half) s[0] <= !s[0];
    end
  end

  always_ff @(posedge clk) begin
    case (state)
      WORDS: begin
        i <= 0;
        down <= 0;
        if (take) n <= n + 1;
        if (block_ends) begin
          n <= 0;
          first <= bdi_nonce;
          state <= PERMUTE;
          after <= bdi_text && bdi_last ? OUT : WORDS;
        end
      end
      PERMUTE: begin
        i <= i + 4'(UNROLL);
        if (i == 4'(12 - UNROLL)) begin
          state <= after;
          n <= 0;
        end
      end
      default: begin
        i <= 0;
        if (bdo_ready) n <= n + 1;
        if (digest_half) begin
          down <= 1;
          state <= PERMUTE;
        end
        if (out_ends) begin
          state <= WORDS;
          n <= 0;
          first <= 1;
        end
      end
    endcase
    if (rst) begin
      state <= WORDS;
      n <= 0;
      first <= 1;
    end
  end
  wire unused = &{1'b0, key[95:0], bdi_eoi, bdi_length};
endmodule
