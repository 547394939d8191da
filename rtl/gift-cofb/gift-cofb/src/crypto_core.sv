// GIFT-COFB (the specification, 2.5), UNROLL (1, 2 or 4) rounds of GIFT-128 in a cycle.
//
// A block is collected in the register that holds the key state while the block cipher runs.
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
  typedef enum logic [2:0] {WORDS, PAD, TRIPLE, FEED, ROUNDS, OUT} state_t;
  state_t state;
  logic [1:0] n;                     // words of the block, or of the tag
  logic [5:0] i, constant;           // rounds that are done
  logic [127:0] y, block;
  logic [63:0] l;
  logic nonce;                       // the block is the nonce
  logic no_text;                     // the text is empty
  logic done;                        // the block is the last of the text
  logic pad;                         // the padding is still to come
  logic [1:0] triples;               // that L has to be multiplied by 3 besides

  wire some = bdi_bytes[3];
  wire [31:0] mask = {{8{bdi_bytes[3]}}, {8{bdi_bytes[2]}}, {8{bdi_bytes[1]}}, {8{bdi_bytes[0]}}};
  logic [31:0] word;
  always_comb begin
    case (n)
      0: word = y[127:96];
      1: word = y[95:64];
      2: word = y[63:32];
      default: word = y[31:0];
    endcase
  end
  wire [31:0] sum = (bdi_data ^ word) & mask;
  wire [31:0] padding = {!bdi_bytes[3], 7'd0, bdi_bytes[3] && !bdi_bytes[2], 7'd0, bdi_bytes[2] && !bdi_bytes[1], 7'd0,
                         bdi_bytes[1] && !bdi_bytes[0], 7'd0};
  wire [31:0] entering = state == PAD ? {pad, 31'd0} : (dec && bdi_text ? sum : bdi_data) ^ padding;
  wire take = bdi_valid && bdi_ready;
  wire block_ends = take && (n == 3 || bdi_last) && !bdi_nonce;
  wire partial = n != 3 || !bdi_bytes[0];
  wire skip = bdi_ad && bdi_last && (no_text || bdi_eoi);

  assign bdi_ready = state == WORDS && (key_valid || !bdi_last);
  assign bdo_valid = state == OUT || (take && bdi_text && some);
  assign bdo_data = state == OUT ? word : sum;
  assign key_turn = 0;

  wire [127:0] rounds, key_state;
  wire [5:0] constant_next;
  gift128_rounds #(.N(UNROLL)) cipher (
      .in(y), .key_in(block), .constant_in(constant),
      .out(rounds), .key_out(key_state), .constant_out(constant_next));
  wire rounds_end = state == ROUNDS && i == 6'(40 - UNROLL);

  // 2L and 3L in GF(2^64)
  wire [63:0] l2 = {l[62:0], 1'b0} ^ (l[63] ? 64'h1B : 64'h0);
  wire [63:0] l3 = l2 ^ l;

  always_ff @(posedge clk) begin
    if (rounds_end && nonce) l <= rounds[127:64];
    else if (state == TRIPLE || (block_ends && bdi_last)) l <= l3;
    else if (block_ends) l <= l2;

    if (state == FEED) block <= key;
    else if (state == ROUNDS) block <= key_state;
    else if (take || state == PAD) block <= {block[95:0], entering};

    if (state == FEED) y <= nonce ? block : block ^ {y[63:0] ^ l, y[126:64], y[127]};
    else if (state == ROUNDS) y <= rounds;

    if (state == FEED) constant <= 0;
    else constant <= constant_next;
    i <= state == ROUNDS ? i + 6'(UNROLL) : 0;
  end

  always_ff @(posedge clk) begin
    case (state)
      WORDS: if (take) begin
        n <= n + 1;
        nonce <= bdi_nonce;
        done <= bdi_text && bdi_last;
        pad <= bdi_bytes[0];
        if (bdi_nonce) no_text <= bdi_eoi;
        else if (bdi_ad && bdi_eoi) no_text <= 1;
        triples <= {skip, partial};
        if (bdi_text && !some) begin
          state <= OUT;
          n <= 0;
        end else if (bdi_nonce ? bdi_last : block_ends) begin
          if (n != 3) state <= PAD;
          else state <= !bdi_nonce && bdi_last && (partial || skip) ? TRIPLE : FEED;
        end
      end
      PAD: begin
        pad <= 0;
        n <= n + 1;
        if (n == 3) state <= TRIPLE;
      end
      TRIPLE: begin
        triples <= triples - 1;
        if (triples == 1) state <= FEED;
      end
      FEED: state <= ROUNDS;
      ROUNDS: if (rounds_end) begin
        n <= 0;
        state <= done ? OUT : WORDS;
      end
      default: if (bdo_ready) begin
        n <= n + 1;
        if (n == 3) state <= WORDS;
      end
    endcase
    if (rst) begin
      state <= WORDS;
      n <= 0;
    end
  end
  wire unused = &{1'b0, hash, bdi_length};
endmodule
