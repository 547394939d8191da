// PHOTON-Beetle-AEAD[128] and PHOTON-Beetle-Hash[32] (the specification, 3), a round in a cycle.
//
// The state is 0 between operations, so that all that enters is added; key and nonce enter side by side. The constant of a
// string comes with its last word. A permutation follows each block.
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
  logic [1:0] n;                     // the word of the block
  logic [255:0] s, rounds;
  logic [63:0] old;                  // S_1 before the block was added
  logic no_ad;
  logic later;                       // hash: the first block is in; then, the first half of the digest is out

  photon256_round permutation (.k(i), .s, .out(rounds));

  function automatic logic [31:0] swap(input logic [31:0] x);
    swap = {x[7:0], x[15:8], x[23:16], x[31:24]};
  endfunction

  wire some = bdi_bytes[3];
  wire [31:0] mask = {{8{bdi_bytes[0]}}, {8{bdi_bytes[1]}}, {8{bdi_bytes[2]}}, {8{bdi_bytes[3]}}};
  wire [31:0] in = swap(bdi_data);
  wire [31:0] padding = {7'd0, bdi_bytes[1] && !bdi_bytes[0], 7'd0, bdi_bytes[2] && !bdi_bytes[1],
                         7'd0, bdi_bytes[3] && !bdi_bytes[2], 8'd0};
  logic [31:0] word, shuffled;
  always_comb begin
    case (n)
      0: word = s[31:0];
      1: word = s[63:32];
      2: word = s[95:64];
      default: word = s[127:96];
    endcase
    case (n)
      0: shuffled = s[95:64];
      1: shuffled = s[127:96];
      2: shuffled = old[32:1];
      default: shuffled = {old[0], old[63:33]};
    endcase
  end
  wire [31:0] sum = (in ^ shuffled) & mask;
  wire [31:0] added = (dec && bdi_text ? sum : in) ^ padding;
  wire take = bdi_valid && bdi_ready;
  wire adds = take && some;
  wire block_ends = take && (bdi_last || n == 3 || (hash && later));
  wire full = bdi_bytes[0] && (n == 3 || (hash && later));

  logic [2:0] constant;
  always_comb begin
    constant = 0;
    if (take && bdi_last) begin
      if (bdi_nonce) constant = {2'd0, bdi_eoi};
      else if (hash) constant = later == full ? 1 : 2;
      else if (bdi_ad) constant = !some ? 0 : bdi_eoi ? (full ? 3 : 4) : full ? 1 : 2;
      else constant = !some ? 0 : no_ad ? (full ? 5 : 6) : full ? 1 : 2;
    end
  end

  assign bdi_ready = state == WORDS && (hash || key_valid);
  assign bdo_valid = state == OUT || (take && bdi_text && !hash && some);
  assign bdo_data = swap(state == OUT ? word : sum);
  assign key_turn = take && bdi_nonce;
  wire out_ends = state == OUT && bdo_ready && n == 3 && (!hash || later);

  always_ff @(posedge clk) begin
    if (rst || out_ends) s <= 0;
    else if (state == PERMUTE) s <= rounds;
    else begin
      for (int j = 0; j < 4; j++) begin
        if (adds && n == 2'(j)) s[32*j+:32] <= s[32*j+:32] ^ added;
        if (adds && j != 0 && n == 2'(j - 1) && bdi_last && !bdi_nonce && bdi_bytes[0] && !(hash && later)) s[32*j] <= !s[32*j];
        if (key_turn && n == 2'(j)) s[128+32*j+:32] <= s[128+32*j+:32] ^ swap(key[127:96]);
      end
      if (take && !bdi_nonce) s[255-:3] <= s[255-:3] ^ constant;
      if (take && bdi_nonce && bdi_last) s[255-:3] <= key[103:101] ^ constant;
    end
    if (n == 0) old[31:0] <= s[31:0];
    if (n == 1) old[63:32] <= s[63:32];
  end

  always_ff @(posedge clk) begin
    case (state)
      WORDS: begin
        i <= 0;
        after <= bdi_text && bdi_last ? OUT : WORDS;
        if (take) begin
          n <= n + 1;
          no_ad <= bdi_ad ? !some : no_ad && !bdi_nonce;
        end
        if (block_ends) begin
          n <= 0;
          later <= hash && !bdi_last;
          if (hash || some) state <= PERMUTE;
          else if (bdi_text) state <= OUT;
        end
      end
      PERMUTE: begin
        i <= i + 1;
        if (i == 11) state <= after;
      end
      default: begin
        i <= 0;
        if (bdo_ready) begin
          n <= n + 1;
          if (n == 3) begin
            later <= !out_ends;
            state <= out_ends ? WORDS : PERMUTE;
          end
        end
      end
    endcase
    if (rst) begin
      state <= WORDS;
      n <= 0;
      later <= 0;
    end
  end
  wire unused = &{1'b0, UNROLL[0], key[95:0], bdi_length};
endmodule
