// Ascon-AEAD128 and Ascon-Hash256 (SP 800-232, 4 and 5.1), UNROLL (1, 2 or 4) rounds in a cycle.
//
// Words of 32 bits enter at one place of the rate, which turns by a word each time; so do the words of nonce and tag in
// S_3 and S_4. What has no word of its own, the addition of keys and the domain bit, comes with the words beside it. The
// halves of the key change places before finalization and again before the tag, so that S_1 and S_3 only ever meet one
// half, S_2 and S_4 the other.
//
// What is done with the state is known from registers alone; whether a word is taken, which is known late, only enables
// it. So the initial values are loaded in every cycle that waits for the nonce, the key is added after initialization and
// the domain bit set without waiting for a word, and a text always ends in the state PAD.
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

  typedef enum logic [1:0] {WORDS, PAD, PERMUTE, OUT} state_t;
  state_t state, after;              // after: what follows the permutation
  logic [3:0] i;                     // index of the next round
  logic [2:0] n;                     // words of this block, or of tag and hash
  logic [319:0] s, rounds;           // S_4 .. S_0
  logic started;                     // hash: the state is set up
  logic begun;                       // the nonce is in
  logic unkeyed;                     // the key is to be added after the initialization
  logic text;                        // the domain bit is set, or the message of a hash has begun
  logic pad;                         // the padding is still to come
  logic [1:0] turns;                 // of the key that are to come

  ascon_rounds #(.N(UNROLL)) permutation (.i, .in(s), .out(rounds));

  function automatic logic [31:0] swap(input logic [31:0] x);
    swap = {x[7:0], x[15:8], x[23:16], x[31:24]};
  endfunction

  wire [31:0] k0 = swap(key[127:96]), k1 = swap(key[95:64]), k2 = swap(key[63:32]), k3 = swap(key[31:0]);
  wire [63:0] low = {k1, k0}, high = {k3, k2};
  wire [31:0] mask = {{8{bdi_bytes[0]}}, {8{bdi_bytes[1]}}, {8{bdi_bytes[2]}}, {8{bdi_bytes[3]}}};
  wire [31:0] padding = {7'd0, bdi_bytes[1] && !bdi_bytes[0], 7'd0, bdi_bytes[2] && !bdi_bytes[1],
                         7'd0, bdi_bytes[3] && !bdi_bytes[2], 8'd0};
  wire [31:0] in = swap(bdi_data);
  wire take = bdi_valid && bdi_ready;
  wire some = bdi_bytes[3];
  wire full = n[1:0] == (hash ? 1 : 3);

  // the word that goes round: what enters the rate, and what leaves
  wire [31:0] sum = s[31:0] ^ in;
  wire [31:0] entering = state == WORDS ? (dec && bdi_text ? s[31:0] & ~mask ^ in : sum) ^ padding : {s[31:1], s[0] ^ pad};
  assign bdo_data = swap(state != OUT ? sum & mask : hash ? s[31:0] : s[223:192] ^ k0);
  assign bdo_valid = state == OUT || (take && bdi_text && !hash && some);
  assign bdi_ready = state == WORDS && (key_valid || !bdi_nonce || n[1:0] != 3);
  wire tag_leaves = state == OUT && !hash && bdo_ready;
  assign key_turn = tag_leaves || turns != 0;

  // a block is complete with its padding
  wire ends = state == PAD && (n == 0 || full);
  wire turn = (take && some) || (state == PAD && n != 0) || (state == OUT && bdo_ready);

  wire load = state == WORDS && bdi_nonce && !begun && !hash;
  wire post = state == WORDS && unkeyed;
  wire domain = state == WORDS && bdi_text && !text;
  wire finalize = ends && text && !hash;

  always_ff @(posedge clk) begin
    if (state == WORDS && hash && !started) s <= HASH_START;
    else if (state == PERMUTE) s <= rounds;
    else begin
      if (load) s[63:0] <= IV;
      else if (state == PAD && n == 0) s[0] <= s[0] ^ pad;
      else if (turn) s[63:0] <= {hash ? entering : s[95:64], s[63:32]};
      if (load) s[127:64] <= low;
      else if (turn && !hash) s[127:64] <= {entering, s[127:96]};
      if (load || finalize) s[191:128] <= (load ? 0 : s[191:128]) ^ high;
      if (load || state == OUT) begin
        if (take || tag_leaves) s[319:192] <= {in, s[319:224]};
      end else begin
        if (post || finalize) s[255:192] <= s[255:192] ^ low;
        if (post) s[319:256] <= s[319:256] ^ high;
        else if (domain && !hash) s[319] <= !s[319];
      end
    end
  end

  always_ff @(posedge clk) begin
    case (state)
      WORDS: begin
        if (hash && !started) n <= 0;
        if (hash) started <= 1;
        unkeyed <= 0;
        text <= bdi_text;
        if (take) begin
          if (some) n <= full ? 0 : n + 1;
          pad <= bdi_bytes[0] || !some;
          i <= hash || bdi_nonce ? 0 : 4;
          after <= bdi_last && !bdi_nonce ? PAD : WORDS;
          if (bdi_nonce) {begun, unkeyed} <= {2{bdi_last}};
          if (bdi_last && !bdi_nonce && (some ? !bdi_bytes[0] || !full : bdi_text)) state <= PAD;
          else if (some && full) state <= PERMUTE;
        end
      end
      PAD: begin
        pad <= 0;
        n <= ends ? 0 : n + 1;
        i <= text ? 0 : 4;
        after <= text ? OUT : WORDS;
        if (ends) state <= PERMUTE;
      end
      PERMUTE: begin
        i <= i + 4'(UNROLL);
        if (i == 4'(12 - UNROLL)) state <= after;
      end
      OUT: if (bdo_ready) begin
        i <= 0;
        n <= n + 1;
        if (hash ? n == 7 : n == 3) begin
          state <= WORDS;
          started <= 0;
          begun <= 0;
          n <= 0;
        end else if (hash && n[0]) state <= PERMUTE;
      end
    endcase
    turns <= post || finalize ? 2 : turns == 0 ? 0 : turns - 1;
    if (rst) begin
      state <= WORDS;
      started <= 0;
      begun <= 0;
      unkeyed <= 0;
      n <= 0;
      turns <= 0;
    end
  end
  wire unused = &{1'b0, bdi_ad, bdi_eoi, bdi_length};
endmodule
