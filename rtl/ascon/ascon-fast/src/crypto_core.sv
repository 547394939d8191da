// Ascon-AEAD128 and Ascon-Hash256 (SP 800-232, 4 and 5.1), UNROLL (1, 2 or 4) rounds in a cycle. A block comes in and
// another goes out while the permutation runs; a cycle adds all of it.
//
// As in rtl/ascon/ascon, the halves of the key change places before finalization and again before the tag.
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
  localparam logic [63:0] IV = 64'h0000_1000_808c_0001;
  // Ascon-p[12] of the initial value of Ascon-Hash256
  localparam logic [319:0] HASH_START = {
      64'h1a5c_4649_06c5_976d, 64'h3c7f_d4a4_d56a_4db3, 64'hae65_396c_6b34_b81a, 64'h4bc3_a01e_3337_51d2,
      64'h9b1e_5494_e934_d681};

  typedef enum logic [1:0] {READY, PERMUTE, RESULT} state_t;
  state_t state, after;              // after: what follows the permutation
  logic [3:0] i;                     // index of the next round
  logic [319:0] s, rounds;           // S_4 .. S_0
  logic started;                     // hash: the state is set up
  logic keyed;                       // the key has been added after the initialization
  logic text;                        // the domain bit has been added
  logic [1:0] turns;                 // of the key that are to come
  logic [1:0] parts;                 // of the digest that are out

  ascon_rounds #(.N(UNROLL)) permutation (.i, .in(s), .out(rounds));

  function automatic logic [31:0] swap(input logic [31:0] x);
    swap = {x[7:0], x[15:8], x[23:16], x[31:24]};
  endfunction

  // ---- the block that comes in
  logic [127:0] block;               // with its padding, 0 behind it
  logic [15:0] valid;                // its bytes without padding
  logic [1:0] n;                     // its next word
  logic complete, nonce_block, ad_block, text_block;
  logic none;                        // no associated data
  logic last;                        // its padding is in
  logic more;                        // a block of padding alone follows

  wire some = bdi_bytes[3];
  wire [31:0] in = swap(bdi_data);
  wire [31:0] padding = {7'd0, bdi_bytes[1] && !bdi_bytes[0], 7'd0, bdi_bytes[2] && !bdi_bytes[1],
                         7'd0, bdi_bytes[3] && !bdi_bytes[2], 7'd0, !bdi_bytes[3] && bdi_text};
  wire take = bdi_valid && bdi_ready;
  wire last_word = n == (hash ? 1 : 3);
  wire go;
  assign bdi_ready = !complete || (go && !more);

  always_ff @(posedge clk) begin
    if (go) begin
      complete <= more;
      block <= 1;
      valid <= 0;
      more <= 0;
      last <= 1;
    end
    if (take) begin
      for (int j = 0; j < 4; j++) begin
        if (n == 2'(j)) begin
          block[32*j+:32] <= in ^ padding;
          valid[4*j+:4] <= {bdi_bytes[0], bdi_bytes[1], bdi_bytes[2], bdi_bytes[3]};
        end else if (n < 2'(j)) begin
          block[32*j+:32] <= {31'd0, j > 0 && n == 2'(j - 1) && bdi_last && bdi_bytes[0]};
          valid[4*j+:4] <= 0;
        end
      end
      nonce_block <= bdi_nonce;
      ad_block <= bdi_ad;
      text_block <= bdi_text;
      none <= bdi_ad && !some;
      last <= bdi_last && !(last_word && bdi_bytes[0]);
      more <= bdi_last && last_word && bdi_bytes[0] && !bdi_nonce;
      complete <= last_word || bdi_last;
      n <= last_word || bdi_last ? 0 : n + 1;
    end
    if (rst) begin
      complete <= 0;
      n <= 0;
    end
  end

  // ---- the words that go out
  logic [127:0] out;
  logic [2:0] left;
  wire out_free = left == 0 || (left == 1 && bdo_ready);
  assign bdo_valid = left != 0;
  assign bdo_data = swap(out[31:0]);

  // ---- the state
  wire [63:0] low = {swap(key[95:64]), swap(key[127:96])}, high = {swap(key[31:0]), swap(key[63:32])};
  logic [127:0] block_mask;
  always_comb for (int j = 0; j < 16; j++) block_mask[8*j+:8] = {8{valid[j]}};
  wire [127:0] kept = dec && text_block ? s[127:0] & ~block_mask : s[127:0];
  wire [127:0] sum = kept ^ block;
  wire post = go && ad_block && !keyed;
  wire ends = go && text_block && last;
  wire result = state == RESULT && out_free;
  assign go = state == READY && complete && turns == 0 && out_free && key_valid;
  assign key_turn = turns != 0;

  always_ff @(posedge clk) begin
    if (hash && !started) s <= HASH_START;
    else if (state == PERMUTE) s <= rounds;
    else if (go && nonce_block) s <= {block, high, low, IV};
    else if (go) begin
      s[63:0] <= sum[63:0];
      if (!hash) begin
        s[127:64] <= sum[127:64];
        if (post || ends) s[255:192] <= s[255:192] ^ low;
        if (ends) s[191:128] <= s[191:128] ^ high;
        if (post) s[319:256] <= s[319:256] ^ high;
        if (text_block && !text) s[319] <= !s[319];
      end
    end
  end

  always_ff @(posedge clk) begin
    if (bdo_valid && bdo_ready) begin
      out <= {32'd0, out[127:32]};
      left <= left - 1;
    end
    if (go && text_block && !hash) begin
      out <= (s[127:0] ^ block) & block_mask;
      left <= valid[12] ? 4 : valid[8] ? 3 : valid[4] ? 2 : {2'd0, valid[0]};
    end
    if (result) begin
      out <= hash ? {64'd0, s[63:0]} : s[319:192] ^ {high, low};
      left <= hash ? 2 : 4;
    end

    turns <= post || (ends && !hash) ? 2 : turns == 0 ? 0 : turns - 1;
    if (hash && bdi_valid) started <= 1;
    case (state)
      READY: if (go) begin
        i <= nonce_block || hash || ends ? 0 : 4;
        keyed <= ad_block;
        text <= text_block;
        after <= ends ? RESULT : READY;
        parts <= 0;
        if (!none) state <= PERMUTE;
      end
      PERMUTE: begin
        i <= i + 4'(UNROLL);
        if (i == 4'(12 - UNROLL)) state <= after;
      end
      default: if (result) begin
        i <= 0;
        parts <= parts + 1;
        if (hash && parts != 3) state <= PERMUTE;
        else begin
          state <= READY;
          started <= 0;
        end
      end
    endcase
    if (rst) begin
      state <= READY;
      started <= 0;
      turns <= 0;
      left <= 0;
    end
  end
  wire unused = &{1'b0, bdi_eoi, bdi_length};
endmodule
