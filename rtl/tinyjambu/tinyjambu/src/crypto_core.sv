// TinyJAMBU-128 (version 2: P640 and P1024), 32 steps of the register in a cycle (the TinyJAMBU specification, 3).
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
  // passes of 32 steps
  localparam logic [5:0] P640 = 20, P1024 = 32;

  typedef enum logic [2:0] {IDLE, WORDS, PERMUTE, TAKE, FINALIZE, TAG} state_t;
  state_t state, after;
  logic [5:0] left;
  logic [127:0] s;
  logic second;                      // the second half of the tag is due

  function automatic logic [31:0] swap(input logic [31:0] x);
    swap = {x[7:0], x[15:8], x[23:16], x[31:24]};
  endfunction

  // 32 steps; the bits of the frame enter with the first of them
  logic [2:0] frame;
  wire [31:0] feedback = s[31:0] ^ s[78:47] ^ ~(s[101:70] & s[116:85]) ^ s[122:91] ^ swap(key[127:96]);
  wire [127:0] stepped = {feedback, s[127:39], s[38:36] ^ frame, s[35:32]};

  wire some = bdi_bytes[3];
  wire [31:0] mask = {{8{bdi_bytes[0]}}, {8{bdi_bytes[1]}}, {8{bdi_bytes[2]}}, {8{bdi_bytes[3]}}};
  wire [31:0] in = swap(bdi_data);
  wire [31:0] sum = (in ^ s[95:64]) & mask;
  wire [1:0] partial = bdi_bytes[0] ? 2'd0 : bdi_bytes[1] ? 2'd3 : bdi_bytes[2] ? 2'd2 : 2'd1;

  assign bdi_ready = state == TAKE || (state == WORDS && !some);
  assign bdo_valid = state == TAG || (state == TAKE && bdi_valid && bdi_text);
  assign bdo_data = swap(state == TAG ? s[95:64] : sum);
  wire begins = (state == IDLE && bdi_valid && key_valid) || (state == WORDS && bdi_valid && some) || state == FINALIZE;
  wire steps = begins || state == PERMUTE;
  wire tag_ends = state == TAG && second && bdo_ready;
  assign key_turn = steps;

  always_comb begin
    if (state == FINALIZE) frame = 7;
    else if (state == WORDS) frame = bdi_nonce ? 1 : bdi_ad ? 3 : 5;
    else frame = 0;
  end

  always_ff @(posedge clk) begin
    if (rst || tag_ends) s <= 0;
    else if (steps) s <= stepped;
    else if (state == TAKE && bdi_valid) begin
      s[127:96] <= s[127:96] ^ (dec && bdi_text ? sum : in);
      s[33:32] <= s[33:32] ^ partial;
    end
  end

  always_ff @(posedge clk) begin
    case (state)
      IDLE: begin
        second <= 0;
        left <= P1024 - 1;
        after <= WORDS;
      end
      WORDS: begin
        left <= (bdi_text ? P1024 : P640) - 1;
        after <= TAKE;
        if (bdi_valid && !some && bdi_text) state <= FINALIZE;
      end
      PERMUTE: begin
        left <= left - 1;
        if (left == 1) state <= after;
      end
      TAKE: if (bdi_valid) state <= bdi_text && bdi_last ? FINALIZE : WORDS;
      FINALIZE: begin
        left <= (second ? P640 : P1024) - 1;
        after <= TAG;
      end
      default: if (bdo_ready) begin
        second <= 1;
        state <= second ? IDLE : FINALIZE;
      end
    endcase
    if (begins) state <= PERMUTE;
    if (rst) state <= IDLE;
  end
  wire unused = &{1'b0, UNROLL[0], key[95:0], hash, bdi_eoi, bdi_length};
endmodule
