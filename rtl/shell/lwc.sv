// The LWC hardware API around a core of 32-bit words: reads instructions, segments and keys, hides how data are cut into
// segments, writes headers, and compares tags.
//
// What a core sees:
//   bdi_*   the words of an operation: those of the nonce, of associated data, and of the text (plaintext, ciphertext or
//           hash message), each in the order of the design. The first byte of a word is its highest. bdi_bytes[3] says
//           that the first byte is valid; bytes that are not are 0. bdi_last marks the last word of a kind. A kind that is
//           empty is one word without valid bytes. bdi_eoi: what follows is empty. bdi_length: bytes of the segment.
//   bdo_*   words that leave: text in the cycle in which its word enters (BUFFERED: at any time after it), then the tag
//           or the hash. Invalid bytes have to be 0. Text enters only when it can leave, so that a core whose text leaves
//           at once need not look at bdo_ready until the tag.
//   key     128 bits, right from the cycle in which key_valid is 1; key_turn turns it by a word to the left.
//   dec, hash  the operation, stable while it lasts.
// A core starts afresh with the first word after a tag, a hash or a reset.
//
// Segments that are not the last of their kind: multiples of four bytes (BUFFERED: of a block). The last is not empty,
// unless it is the only one.
module lwc #(
    parameter int W = 32,        // bits of a word of PDI, SDI and DO: 32, 16 or 8
    parameter int UNROLL = 1,    // rounds in a cycle, for the core
    parameter int TAG = 16,      // bytes of a tag
    parameter int BUFFERED = 0   // 1: text leaves the core later than it enters
) (
    input  logic         clk,
    input  logic         rst,
    input  logic [W-1:0] pdi_data,
    input  logic         pdi_valid,
    output logic         pdi_ready,
    input  logic [W-1:0] sdi_data,
    input  logic         sdi_valid,
    output logic         sdi_ready,
    output logic [W-1:0] do_data,
    output logic         do_valid,
    input  logic         do_ready,
    output logic         do_last
);
  localparam logic [3:0] ENC = 4'h2, DEC = 4'h3, ACTKEY = 4'h7, HASH = 4'h8;             // instructions
  localparam logic [3:0] AD = 4'h1, TEXT_TAG = 4'h8, HASH_TAG = 4'h9, HM = 4'h7, NPUB = 4'hD; // types of segments
  localparam logic [6:0] PT_CT = 7'h2;  // types 4 and 5 but for the last bit

  typedef enum logic [2:0] {INSTRUCTION, HEADER, DATA, OUT_HEADER, OUT, VERIFY, STATUS} state_t;
  state_t state;

  // ---- what comes in: words of 32 bits, whatever W is
  logic [31:0] word;
  logic word_valid, word_take;
  logic [2:0] word_bytes;
  lwc_widen #(.W(W)) widen (
      .clk, .rst, .data(pdi_data), .valid(pdi_valid), .ready(pdi_ready),
      .bytes(word_bytes), .word, .word_valid, .word_take);

  // ---- what goes out
  logic [31:0] out;
  logic out_put, out_free, out_last;
  logic [2:0] out_bytes;
  lwc_narrow #(.W(W)) narrow (
      .clk, .rst, .word(out), .put(out_put), .free(out_free), .bytes(out_bytes), .last(out_last),
      .data(do_data), .valid(do_valid), .ready(do_ready), .data_last(do_last));

  // ---- the key
  logic key_load, key_valid, key_turn;
  logic [127:0] key;
  lwc_key #(.W(W)) key_register (
      .clk, .rst, .load(key_load), .turn(key_turn), .data(sdi_data), .valid(sdi_valid), .ready(sdi_ready),
      .key, .key_valid);

  // ---- what the core is given, and gives
  logic bdi_valid, bdi_ready, bdi_last, bdi_eoi, bdi_nonce, bdi_ad, bdi_text;
  logic bdo_valid, bdo_ready, dec, hash;
  logic [3:0] bdi_bytes;
  logic [31:0] bdo_data;
  logic [15:0] bdi_length;

  // ---- the segment: full words that are left, and what its last word holds
  logic [13:0] left;
  logic [3:0] tail;                  // valid bytes of the last word
  logic final_word, empty;
  logic passes;                      // its words leave as well
  logic eoi, eot, last;

  // ---- the core
  crypto_core #(.UNROLL(UNROLL)) core (
      .clk, .rst, .dec, .hash, .key, .key_valid, .key_turn,
      .bdi_data(empty ? 0 : word), .bdi_valid, .bdi_ready, .bdi_bytes, .bdi_last, .bdi_eoi, .bdi_nonce, .bdi_ad, .bdi_text,
      .bdi_length, .bdo_data, .bdo_valid, .bdo_ready);

  wire [13:0] full = word[15:2];
  wire exact = word[1:0] == 0;
  wire none = word[15:0] == 0;
  wire moves = bdi_valid && bdi_ready;

  assign bdi_bytes = final_word ? tail : 4'hF;
  assign bdi_last = eot && final_word;
  assign bdi_eoi = eoi && final_word;
  assign bdi_valid = state == DATA && (empty || word_valid) && (!passes || out_free);

  function automatic logic [2:0] count(input logic [3:0] bytes);
    count = bytes[0] ? 3'd4 : bytes[1] ? 3'd3 : bytes[2] ? 3'd2 : {2'd0, bytes[3]};
  endfunction

  // text that is still in the core
  logic drained;
  logic [2:0] text_bytes;
  logic text_leaves;
  generate
    if (BUFFERED != 0) begin : buffered
      logic [3:0] pending;
      logic ends;                    // the last word of the text is in the core
      logic [3:0] end_bytes;
      wire enters = moves && passes;
      assign text_leaves = !drained;
      wire leaves = text_leaves && bdo_valid && bdo_ready;
      assign drained = pending == 0;
      assign text_bytes = ends && pending == 1 ? count(end_bytes) : 3'd4;
      always_ff @(posedge clk) begin
        if (enters) {ends, end_bytes} <= {bdi_last, bdi_bytes};
        if (enters != leaves) pending <= enters ? pending + 1 : pending - 1;
        if (rst) pending <= 0;
      end
    end else begin : direct
      assign drained = 1;
      assign text_leaves = state == DATA;
      assign text_bytes = count(bdi_bytes);
    end
  endgenerate

  // ---- one machine for both sides
  logic bad;                         // a word of the tag differed
  wire [3:0] kind = word[31:28];
  wire header_out = kind[3:1] == PT_CT[2:0];
  wire may_head = !header_out || (out_free && drained);
  wire tag_moves = bdo_valid && word_valid;
  wire out_moves = bdo_valid && out_free;
  assign key_load = state == INSTRUCTION && word_valid && kind == ACTKEY;
  assign bdo_ready = text_leaves ? out_free : state == VERIFY ? word_valid : state == OUT && out_free;

  // each signal has its own block: together they would depend on themselves, by blocks though not by signals
  always_comb
    case (state)
      INSTRUCTION: word_take = 1;
      HEADER: word_take = may_head;
      DATA: word_take = moves && !empty;
      VERIFY: word_take = bdo_valid && drained;
      default: word_take = 0;
    endcase
  always_comb
    case (state)
      INSTRUCTION: word_bytes = 3'(W / 8);
      DATA: word_bytes = count(bdi_bytes);
      HEADER, VERIFY: word_bytes = 4;
      default: word_bytes = 0;       // what comes is of the next operation
    endcase

  always_comb begin
    out = bdo_data;
    out_bytes = text_leaves ? text_bytes : 4;
    out_last = 0;
    if (text_leaves) out_put = bdo_valid && out_free;
    else case (state)
      HEADER: begin
        out = {3'd2, !dec, 2'd0, word[25], dec && word[25], 8'd0, word[15:0]};
        out_put = word_valid && header_out && may_head;
      end
      OUT_HEADER: begin
        out = {hash ? HASH_TAG : TEXT_TAG, 4'h3, 8'd0, hash ? 16'd32 : 16'(TAG)};
        out_put = out_free && drained;
      end
      OUT: out_put = out_moves;
      STATUS: begin
        out = {3'b111, bad, 28'd0};
        out_bytes = 3'(W / 8);
        out_last = 1;
        out_put = out_free;
      end
      default: out_put = 0;
    endcase
  end

  always_ff @(posedge clk) begin
    case (state)
      INSTRUCTION: if (word_valid) begin
        bad <= 0;
        hash <= kind == HASH;
        dec <= kind == DEC;
        if (kind == ENC || kind == DEC || kind == HASH) state <= HEADER;
      end
      HEADER: if (word_valid && may_head) begin
        left <= full;
        final_word <= full == 0 || (full == 1 && exact);
        case (word[1:0])
          0: tail <= {4{!none}};
          1: tail <= 4'b1000;
          2: tail <= 4'b1100;
          3: tail <= 4'b1110;
        endcase
        empty <= none;
        passes <= header_out && !none;
        {eoi, eot, last} <= word[26:24];
        bdi_length <= word[15:0];
        bdi_nonce <= kind == NPUB;
        bdi_ad <= kind == AD;
        bdi_text <= header_out || kind == HM;
        if (kind == TEXT_TAG) state <= VERIFY;
        else if (!none || word[25]) state <= DATA;
      end
      DATA: if (moves) begin
        left <= left - 1;
        final_word <= left == (tail[0] ? 2 : 1);
        if (final_word) state <= last ? OUT_HEADER : HEADER;
      end
      OUT_HEADER: begin
        left <= hash ? 14'd8 : 14'(TAG / 4);
        if (out_free && drained) state <= OUT;
      end
      OUT: if (out_moves) begin
        left <= left - 1;
        if (left[3:0] == 1) state <= STATUS;
      end
      VERIFY: if (tag_moves && drained) begin
        left <= left - 1;
        if (bdo_data != word) bad <= 1;
        if (left[3:0] == 1) state <= STATUS;
      end
      default: if (out_free) state <= INSTRUCTION;
    endcase
    if (rst) begin
      state <= INSTRUCTION;
      bdi_text <= 0;
    end
  end
endmodule
