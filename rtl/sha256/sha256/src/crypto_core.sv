// SHA-256 (FIPS 180-4), a round in a cycle. The first 16 rounds go with the words of a block.
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
  // H_0 first
  localparam logic [255:0] START = 256'h6A09E667_BB67AE85_3C6EF372_A54FF53A_510E527F_9B05688C_1F83D9AB_5BE0CD19;

  function automatic logic [31:0] constant(input logic [5:0] n);
    case (n)
      0: constant = 32'h428A2F98; 1: constant = 32'h71374491; 2: constant = 32'hB5C0FBCF; 3: constant = 32'hE9B5DBA5;
      4: constant = 32'h3956C25B; 5: constant = 32'h59F111F1; 6: constant = 32'h923F82A4; 7: constant = 32'hAB1C5ED5;
      8: constant = 32'hD807AA98; 9: constant = 32'h12835B01; 10: constant = 32'h243185BE; 11: constant = 32'h550C7DC3;
      12: constant = 32'h72BE5D74; 13: constant = 32'h80DEB1FE; 14: constant = 32'h9BDC06A7; 15: constant = 32'hC19BF174;
      16: constant = 32'hE49B69C1; 17: constant = 32'hEFBE4786; 18: constant = 32'h0FC19DC6; 19: constant = 32'h240CA1CC;
      20: constant = 32'h2DE92C6F; 21: constant = 32'h4A7484AA; 22: constant = 32'h5CB0A9DC; 23: constant = 32'h76F988DA;
      24: constant = 32'h983E5152; 25: constant = 32'hA831C66D; 26: constant = 32'hB00327C8; 27: constant = 32'hBF597FC7;
      28: constant = 32'hC6E00BF3; 29: constant = 32'hD5A79147; 30: constant = 32'h06CA6351; 31: constant = 32'h14292967;
      32: constant = 32'h27B70A85; 33: constant = 32'h2E1B2138; 34: constant = 32'h4D2C6DFC; 35: constant = 32'h53380D13;
      36: constant = 32'h650A7354; 37: constant = 32'h766A0ABB; 38: constant = 32'h81C2C92E; 39: constant = 32'h92722C85;
      40: constant = 32'hA2BFE8A1; 41: constant = 32'hA81A664B; 42: constant = 32'hC24B8B70; 43: constant = 32'hC76C51A3;
      44: constant = 32'hD192E819; 45: constant = 32'hD6990624; 46: constant = 32'hF40E3585; 47: constant = 32'h106AA070;
      48: constant = 32'h19A4C116; 49: constant = 32'h1E376C08; 50: constant = 32'h2748774C; 51: constant = 32'h34B0BCB5;
      52: constant = 32'h391C0CB3; 53: constant = 32'h4ED8AA4A; 54: constant = 32'h5B9CCA4F; 55: constant = 32'h682E6FF3;
      56: constant = 32'h748F82EE; 57: constant = 32'h78A5636F; 58: constant = 32'h84C87814; 59: constant = 32'h8CC70208;
      60: constant = 32'h90BEFFFA; 61: constant = 32'hA4506CEB; 62: constant = 32'hBEF9A3F7; default: constant = 32'hC67178F2;
    endcase
  endfunction
  function automatic logic [31:0] right(input logic [31:0] x, input int n);
    right = x >> n | x << (32 - n);
  endfunction

  typedef enum logic [2:0] {WORDS, PAD, ROUNDS, ADD, OUT} state_t;
  state_t state;
  logic [5:0] t;                     // the round; at the end, the word of the digest
  logic [255:0] h, v;                // H_0 .. H_7, a .. h
  logic [511:0] w;                   // the last 16 words of the schedule, W_(t-1) lowest
  logic [28:0] length;               // bytes of the message
  logic padding;                     // the message is in
  logic pad;                         // the bit behind it is still to come
  logic ends;                        // the block has the length

  wire some = bdi_bytes[3];
  wire take = bdi_valid && bdi_ready;
  wire [31:0] behind = {!bdi_bytes[3], 7'd0, bdi_bytes[3] && !bdi_bytes[2], 7'd0, bdi_bytes[2] && !bdi_bytes[1], 7'd0,
                        bdi_bytes[1] && !bdi_bytes[0], 7'd0};
  wire [31:0] w2 = w[63:32], w15 = w[479:448];
  logic [31:0] word;
  always_comb begin
    case (state)
      WORDS: word = bdi_data ^ behind;
      PAD: word = pad ? 32'h8000_0000 : t == 15 && ends ? {length, 3'd0} : 0;
      default: word = (right(w2, 17) ^ right(w2, 19) ^ w2 >> 10) + w[223:192]
          + (right(w15, 7) ^ right(w15, 18) ^ w15 >> 3) + w[511:480];
    endcase
  end
  wire [31:0] a = v[255:224], b = v[223:192], c = v[191:160], d = v[159:128];
  wire [31:0] e = v[127:96], f = v[95:64], g = v[63:32];
  wire [31:0] t1 = v[31:0] + (right(e, 6) ^ right(e, 11) ^ right(e, 25)) + (e & f ^ ~e & g) + constant(t) + word;
  wire [31:0] t2 = (right(a, 2) ^ right(a, 13) ^ right(a, 22)) + (a & b ^ a & c ^ b & c);
  wire rounds = take || state == PAD || state == ROUNDS;
  logic [255:0] sum;
  always_comb for (int j = 0; j < 8; j++) sum[32*j+:32] = h[32*j+:32] + v[32*j+:32];

  assign bdi_ready = state == WORDS && hash;
  assign bdo_valid = state == OUT;
  assign bdo_data = h[255:224];
  assign key_turn = 0;
  wire out_ends = state == OUT && bdo_ready && t == 7;

  always_ff @(posedge clk) begin
    if (rst || out_ends) begin
      h <= START;
      v <= START;
      length <= 0;
    end else begin
      if (rounds) v <= {t1 + t2, a, b, c, d + t1, e, f, g};
      else if (state == ADD) v <= sum;
      if (state == ADD) h <= sum;
      else if (state == OUT && bdo_ready) h <= {h[223:0], h[255:224]};
      if (take) length <= length + (bdi_bytes[0] ? 4 : bdi_bytes[1] ? 3 : bdi_bytes[2] ? 2 : {28'd0, some});
    end
    if (rounds) w <= {w[479:0], word};
  end

  always_ff @(posedge clk) begin
    if (rounds) t <= t + 1;
    if (take && bdi_last) begin
      state <= PAD;
      padding <= 1;
      pad <= bdi_bytes[0];
    end
    if (state == PAD) begin
      pad <= 0;
      if (t == 14) ends <= !pad;
    end
    case (state)
      WORDS, PAD: if (rounds && t == 15) state <= ROUNDS;
      ROUNDS: if (t == 63) state <= ADD;
      ADD: state <= !padding ? WORDS : ends ? OUT : PAD;
      default: if (bdo_ready) begin
        t <= t + 1;
        if (t == 7) begin
          t <= 0;
          state <= WORDS;
          padding <= 0;
          ends <= 0;
        end
      end
    endcase
    if (rst) begin
      state <= WORDS;
      t <= 0;
      padding <= 0;
      ends <= 0;
    end
  end
  wire unused = &{1'b0, UNROLL[0], dec, key, key_valid, bdi_eoi, bdi_nonce, bdi_ad, bdi_text, bdi_length};
endmodule
