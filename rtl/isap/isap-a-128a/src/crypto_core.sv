// ISAP-A-128A (version 2.0 of the specification, Algorithms 1 to 5), a round in a cycle.
//
// There are two states, that of the permutation and one that waits: encryption and authentication take turns block by
// block. A plaintext leaves before its tag is known.
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
  typedef enum logic [3:0] {WORDS, PERMUTE, PAD, SEPARATE, BACK, BITS, KEYED, FINISH, TAG} state_t;
  state_t state, after;              // after: what follows the permutation
  // IV_A, IV_KA, IV_KE but for their first byte: k, r_H, r_B, s_H, s_B, s_E, s_K
  localparam logic [55:0] IV = 56'h80_40_01_0C_01_06_0C;

  logic [3:0] i;                     // index of the next round
  logic [1:0] n;                     // words of the block, of the nonce or of the tag
  logic [6:0] bits;                  // of Y that are absorbed
  logic [319:0] s, other;            // x_0 highest
  logic [127:0] y;                   // the nonce, then Y of the tag
  logic text;                        // associated data are in
  logic encrypts;                    // s is the state of encryption, the other that of authentication
  logic tag_key;                     // the key that is derived is that of the tag

  wire some = bdi_bytes[3];
  wire [31:0] mask = {{8{bdi_bytes[3]}}, {8{bdi_bytes[2]}}, {8{bdi_bytes[1]}}, {8{bdi_bytes[0]}}};
  wire [31:0] padding = {8'd0, bdi_bytes[3] && !bdi_bytes[2], 7'd0, bdi_bytes[2] && !bdi_bytes[1], 7'd0,
                         bdi_bytes[1] && !bdi_bytes[0], 7'd0};

  // the bit of Y that is absorbed comes with the round behind it
  wire [319:0] in = {s[319] ^ (state == BITS && y[127]), s[318:0]};
  wire [319:0] reversed, rounds;
  wire [3:0] index = state == BITS ? (bits == 127 ? 0 : 11) : i;
  ascon_rounds #(.N(1)) permutation (
      .i(index), .in({in[63:0], in[127:64], in[191:128], in[255:192], in[319:256]}), .out(reversed));
  assign rounds = {reversed[63:0], reversed[127:64], reversed[191:128], reversed[255:192], reversed[319:256]};

  wire [31:0] word = n[0] ? s[287:256] : s[319:288];
  wire [31:0] sum = (bdi_data ^ word) & mask;
  wire [31:0] entering = (bdi_text && !dec ? sum : bdi_data) ^ padding;
  wire take = bdi_valid && bdi_ready;
  wire derive = state == WORDS && bdi_valid && bdi_text && some && !encrypts && key_valid;
  wire block_ends = take && !bdi_nonce && some && (n[0] || bdi_last);
  // the padding of a last word that is full, where there is room for it
  wire next_word = block_ends && bdi_last && !n[0] && bdi_bytes[0];

  assign bdi_ready = state == WORDS && (!bdi_text || !some || encrypts);
  assign bdo_valid = state == TAG || (take && bdi_text && some);
  assign bdo_data = state == TAG ? s[319:288] : sum;
  assign key_turn = 0;

  always_ff @(posedge clk) begin
    case (state)
      WORDS: begin
        if (take && bdi_nonce) begin
          y <= {y[95:0], bdi_data};
          s <= {y[95:0], bdi_data, 8'd1, IV, 128'd0};
        end else if (take && bdi_ad && some) begin
          if (n[0]) s[287:256] <= s[287:256] ^ entering;
          else s[319:288] <= s[319:288] ^ entering;
          if (next_word) s[287] <= !s[287];
        end else if (derive) begin
          other <= s;
          s <= {key, 8'd3, IV, 128'd0};
        end else if (take && bdi_text && some) begin
          if (n[0]) other[287:256] <= other[287:256] ^ entering;
          else other[319:288] <= other[319:288] ^ entering;
          if (block_ends) begin
            other <= s;
            s <= other;
            if (n[0]) s[287:256] <= other[287:256] ^ entering;
            else s[319:288] <= other[319:288] ^ entering;
            if (next_word) s[287] <= !other[287];
          end
        end
      end
      PERMUTE: s <= rounds;
      PAD: s[319] <= !s[319];
      SEPARATE: s[0] <= !s[0];
      BACK: {s, other} <= {other, s};
      BITS: begin
        s <= rounds;
        y <= {y[126:0], y[127]};
      end
      KEYED: if (tag_key) s[191:0] <= other[191:0];
      else s[127:0] <= y;
      FINISH: begin
        y <= s[319:192];
        other <= s;
        s <= {key, 8'd2, IV, 128'd0};
      end
      default: if (bdo_ready) s <= {s[287:0], s[319:288]};
    endcase
  end

  always_ff @(posedge clk) begin
    case (state)
      WORDS: begin
        i <= 0;
        if (take) text <= bdi_text;
        if (take && bdi_nonce) begin
          n <= n + 1;
          encrypts <= 0;
          tag_key <= 0;
          bits <= 0;
          if (bdi_last) state <= PERMUTE;
          after <= WORDS;
        end else if (derive) begin
          state <= PERMUTE;
          after <= BITS;
          encrypts <= 1;
          n <= 0;
        end else if (take && !some) state <= PAD;
        else if (take) begin
          n <= block_ends ? 0 : n + 1;
          if (block_ends) begin
            state <= PERMUTE;
            if (bdi_last) after <= n[0] && bdi_bytes[0] ? PAD : bdi_text ? FINISH : SEPARATE;
            else after <= bdi_text ? BACK : WORDS;
          end
        end
      end
      PERMUTE: begin
        i <= i + 1;
        if (i == 11) begin
          state <= after;
          i <= 0;
          n <= 0;
        end
      end
      PAD: begin
        state <= PERMUTE;
        after <= text ? FINISH : SEPARATE;
      end
      SEPARATE: state <= WORDS;
      BACK: begin
        i <= 6;
        state <= PERMUTE;
        after <= WORDS;
      end
      BITS: begin
        bits <= bits + 1;
        if (bits == 127) begin
          i <= 1;
          state <= PERMUTE;
          after <= KEYED;
        end
      end
      KEYED: begin
        i <= tag_key ? 0 : 6;
        state <= PERMUTE;
        after <= tag_key ? TAG : WORDS;
      end
      FINISH: begin
        tag_key <= 1;
        state <= PERMUTE;
        after <= BITS;
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
  wire unused = &{1'b0, UNROLL[0], hash, bdi_eoi, bdi_length};
endmodule
