// AES-128-GCM with nonces of 96 bits (NIST SP 800-38D). AES has four S-boxes; GHASH takes four bits in a cycle and works
// beside it.
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
  typedef enum logic [2:0] {WORDS, SUBKEY, MULTIPLY, LENGTHS, LAST, TAG} state_t;
  state_t state;
  logic [1:0] n;                     // words of the block, or of the tag
  logic [95:0] nonce;
  logic [31:0] counter;
  logic [127:0] h;
  logic [28:0] ad_bytes, text_bytes;
  logic stream;                      // AES has the stream of the next block
  logic ends;                        // the block is the last of the text

  wire some = bdi_bytes[3];
  wire [31:0] mask = {{8{bdi_bytes[3]}}, {8{bdi_bytes[2]}}, {8{bdi_bytes[1]}}, {8{bdi_bytes[0]}}};
  logic aes_start, aes_busy, aes_turn;
  logic [127:0] aes_block, aes_result;
  aes128 aes (.clk, .rst, .start(aes_start), .block(aes_block), .key, .busy(aes_busy), .turn(aes_turn), .result(aes_result));

  logic add, multiply, multiplies;
  logic [127:0] added, y;
  wire take = bdi_valid && bdi_ready;
  wire start = state == WORDS && take && bdi_nonce && bdi_last;
  ghash product (.clk, .rst, .clear(start), .add, .block(added), .start(multiply), .h, .busy(multiplies), .y);

  wire [31:0] sum = (bdi_data ^ aes_result[127:96]) & mask;
  wire [31:0] cipher = !dec && bdi_text ? sum : bdi_data;
  wire block_ends = take && !bdi_nonce && some && (n == 3 || bdi_last);
  wire [2:0] bytes = bdi_bytes[0] ? 4 : bdi_bytes[1] ? 3 : bdi_bytes[2] ? 2 : {2'd0, some};
  wire wants_stream = state == WORDS && bdi_valid && bdi_text && some && !stream && !aes_busy;
  wire [31:0] y_word = n == 0 ? y[127:96] : n == 1 ? y[95:64] : n == 2 ? y[63:32] : y[31:0];

  // text needs its stream
  assign bdi_ready = state == WORDS && (bdi_nonce ? key_valid || !bdi_last : !multiplies && (!bdi_text || !some || (stream && !aes_busy)));
  assign bdo_valid = (state == TAG && !multiplies && !aes_busy) || (take && bdi_text && some);
  assign bdo_data = state == TAG ? y_word ^ aes_result[127:96] : sum;
  assign key_turn = 0;
  wire tag_moves = state == TAG && bdo_valid && bdo_ready;

  assign aes_start = start || wants_stream || state == LAST;
  assign aes_block = start ? 0 : {nonce, state == LAST ? 32'd1 : counter};
  assign aes_turn = (take && bdi_text) || tag_moves;
  assign multiply = state == MULTIPLY || state == LAST;
  always_comb begin
    add = (take && !bdi_nonce && some) || state == LENGTHS;
    added = 0;
    if (state == LENGTHS) added = {32'd0, ad_bytes, 3'd0, 32'd0, text_bytes, 3'd0};
    else for (int j = 0; j < 4; j++) if (n == 2'(j)) added[96-32*j+:32] = cipher;
  end

  always_ff @(posedge clk) begin
    if (take && bdi_nonce) begin
      nonce <= {nonce[63:0], bdi_data};
      ad_bytes <= 0;
      text_bytes <= 0;
      counter <= 2;
      stream <= 0;
      if (bdi_last) state <= SUBKEY;
    end else if (take) begin
      if (bdi_ad) ad_bytes <= ad_bytes + {26'd0, bytes};
      else text_bytes <= text_bytes + {26'd0, bytes};
      if (some) n <= block_ends ? 0 : n + 1;
      ends <= bdi_text && bdi_last;
      if (block_ends) begin
        stream <= 0;
        state <= MULTIPLY;
      end else if (bdi_text && !some) state <= LENGTHS;
    end
    if (wants_stream) begin
      stream <= 1;
      counter <= counter + 1;
    end
    case (state)
      WORDS: ;
      SUBKEY: if (!aes_busy) begin
        h <= aes_result;
        state <= WORDS;
      end
      MULTIPLY: state <= ends ? LENGTHS : WORDS;
      LENGTHS: if (!multiplies) state <= LAST;
      LAST: state <= TAG;
      default: if (tag_moves) begin
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
