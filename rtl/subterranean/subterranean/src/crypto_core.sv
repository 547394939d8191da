// Subterranean 2.0: Subterranean-SAE with a tag of 128 bits and Subterranean-XOF with 256 bits of output, one duplex call
// in a cycle (the specification, Algorithms 1, 2 and 4).
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
  typedef enum logic [2:0] {IDLE, KEY, NONCE, BLANK, WORDS, OUT} state_t;
  state_t state, after;              // after: what follows BLANK
  logic [256:0] s;
  logic [3:0] left;                  // further calls of this state
  logic [2:0] part;                  // hash: the byte of the word, and whether the empty block behind it comes

  function automatic logic [31:0] swap(input logic [31:0] x);
    swap = {x[7:0], x[15:8], x[23:16], x[31:24]};
  endfunction

  // 12^(4j) modulo 257: where bit j of a block enters
  function automatic int place(input int j);
    place = 1;
    for (int n = 0; n < j; n++) place = place * 176 % 257;
  endfunction

  wire some = bdi_bytes[3];
  wire [31:0] mask = {{8{bdi_bytes[0]}}, {8{bdi_bytes[1]}}, {8{bdi_bytes[2]}}, {8{bdi_bytes[3]}}};
  wire [31:0] in = swap(bdi_data);
  wire [31:0] z, sum = (in ^ z) & mask;

  // sigma of the call, and the bit behind it
  logic [31:0] sigma;
  logic [4:0] pad;                   // behind 0, 1, 2, 3 or 4 bytes
  wire [3:0] byte_valid = {bdi_bytes[0], bdi_bytes[1], bdi_bytes[2], bdi_bytes[3]};
  always_comb begin
    sigma = 0;
    pad = 5'b00001;
    if (state == KEY) begin
      sigma = swap(key[127:96]);
      pad = 5'b10000;
    end else if (state == WORDS && hash) begin
      if (!part[0]) begin
        sigma = {24'd0, in[8*part[2:1]+:8]};
        pad = 5'b00010;
      end
    end else if (state == NONCE || state == WORDS) begin
      sigma = dec && bdi_text ? sum : in;
      pad = {byte_valid, 1'b1} & ~{1'b0, byte_valid};
    end
  end

  wire [256:0] rounds;
  logic [256:0] injected;
  subterranean_round permutation (.s, .out(rounds));
  always_comb begin
    injected = 0;
    for (int j = 0; j < 32; j++) injected[place(j)] = sigma[j];
    for (int n = 0; n < 4; n++) injected[place(8*n)] = sigma[8*n] ^ pad[n];
    injected[256] = pad[4];
  end
  generate
    for (genvar j = 0; j < 32; j++) begin : extract
      assign z[j] = s[place(j)] ^ s[257-place(j)];
    end
  endgenerate

  wire word_done = part[0] && (part[2:1] == 3 || !byte_valid[part[2:1]+1]);
  assign bdi_ready = state == NONCE || (state == WORDS && (!hash || word_done || !some));
  assign bdo_valid = state == OUT || (state == WORDS && bdi_valid && bdi_text && !hash && some);
  assign bdo_data = swap(state == OUT ? z : sum);
  assign key_turn = state == KEY;
  wire take = bdi_valid && bdi_ready;
  wire out_ends = state == OUT && bdo_ready && left == 0;
  wire calls = state == KEY || state == BLANK || (state == OUT && bdo_ready)
      || ((state == NONCE || state == WORDS) && bdi_valid && (some || !hash));

  always_ff @(posedge clk) begin
    if (rst || out_ends) s <= 0;
    else if (calls) s <= rounds ^ injected;
  end

  always_ff @(posedge clk) begin
    case (state)
      IDLE: begin
        part <= 0;
        left <= 3;
        if (bdi_valid && (hash || key_valid)) state <= hash ? WORDS : KEY;
      end
      KEY: begin
        left <= left - 1;
        if (left == 0) begin
          state <= BLANK;
          after <= NONCE;
          left <= 0;
        end
      end
      NONCE: begin
        left <= 8;
        after <= WORDS;
        if (take && bdi_last) state <= BLANK;
      end
      WORDS: begin
        if (hash && bdi_valid && some) part <= word_done ? 0 : part + 1;
        left <= hash ? 9 : !bdi_text ? 0 : bdi_bytes[0] ? 8 : 7;
        after <= bdi_text ? OUT : WORDS;
        if (take && bdi_last && (bdi_text || bdi_bytes[0])) state <= BLANK;
      end
      BLANK: begin
        left <= left - 1;
        if (left == 0) begin
          state <= after;
          left <= hash ? 7 : 3;
        end
      end
      default: if (bdo_ready) begin
        left <= left - 1;
        if (left == 0) state <= IDLE;
      end
    endcase
    if (rst) state <= IDLE;
  end
  wire unused = &{1'b0, UNROLL[0], key[95:0], bdi_ad, bdi_nonce, bdi_eoi, bdi_length};
endmodule
