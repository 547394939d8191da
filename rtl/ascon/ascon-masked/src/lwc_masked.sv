// The LWC hardware API at 32 bits around a core of two shares. Share 0 is in the low half of every port.
//
// What is public, instructions and headers, may be shared too: such words are registered by share before they are added
// up, and nothing else enters these registers, so data never are. Text, keys and tags are in shares wherever they are.
// Otherwise as rtl/shell/lwc.sv, but that a received tag goes to the core, which compares it.
module lwc_masked (
    input  logic         clk,
    input  logic         rst,
    input  logic [63:0]  pdi_data,
    input  logic         pdi_valid,
    output logic         pdi_ready,
    input  logic [63:0]  sdi_data,
    input  logic         sdi_valid,
    output logic         sdi_ready,
    output logic [63:0]  do_data,
    output logic         do_valid,
    input  logic         do_ready,
    output logic         do_last,
    input  logic [319:0] rdi_data,
    input  logic         rdi_valid,
    output logic         rdi_ready
);
  localparam logic [3:0] ENC = 4'h2, DEC = 4'h3, ACTKEY = 4'h7;              // instructions
  localparam logic [3:0] AD = 4'h1, TAG = 4'h8, NPUB = 4'hD;                 // types of segments
  localparam logic [2:0] PT_CT = 3'h2;  // types 4 and 5 but for the last bit

  typedef enum logic [2:0] {GET, DECODE, DATA, OUT_HEADER, OUT, CHECK, STATUS} state_t;
  state_t state;
  logic opened;                      // an operation, so that words are headers
  logic [31:0] head0, head1;         // shares of an instruction or header
  wire [31:0] head = head0 ^ head1;
  wire [3:0] kind = head[31:28];

  // ---- the key
  wire key_load = state == DECODE && !opened && kind == ACTKEY;
  logic key_valid, key_turn, sdi_ready1, key_valid1;
  (* keep *) logic [255:0] key;        // by its name in the netlist
  lwc_key key0 (
      .clk, .rst, .load(key_load), .turn(key_turn), .data(sdi_data[31:0]), .valid(sdi_valid), .ready(sdi_ready),
      .key(key[127:0]), .key_valid);
  lwc_key key1 (
      .clk, .rst, .load(key_load), .turn(key_turn), .data(sdi_data[63:32]), .valid(sdi_valid), .ready(sdi_ready1),
      .key(key[255:128]), .key_valid(key_valid1));

  // ---- what goes out
  logic [63:0] out;
  logic out_put, out_free, out_last, out_free1, do_valid1, do_last1;
  lwc_narrow narrow0 (
      .clk, .rst, .word(out[31:0]), .put(out_put), .free(out_free), .bytes(3'd4), .last(out_last),
      .data(do_data[31:0]), .valid(do_valid), .ready(do_ready), .data_last(do_last));
  lwc_narrow narrow1 (
      .clk, .rst, .word(out[63:32]), .put(out_put), .free(out_free1), .bytes(3'd4), .last(out_last),
      .data(do_data[63:32]), .valid(do_valid1), .ready(do_ready), .data_last(do_last1));

  // ---- the segment: full words that are left, and what its last word holds
  logic [13:0] left;
  logic [3:0] tail;                  // valid bytes of the last word
  logic final_word, empty;
  logic eot, last, dec;
  wire [13:0] full = head[15:2];
  wire exact = head[1:0] == 0;
  wire none = head[15:0] == 0;

  // ---- the core
  logic bdi_ready, bdi_nonce, bdi_ad, bdi_text, bdi_tag, bdo_valid, checked, equal;
  logic [63:0] bdo_data;
  wire bdi_valid = state == DATA && (empty || (pdi_valid && (!bdi_text || out_free)));
  wire moves = bdi_valid && bdi_ready;
  crypto_core core (
      .clk, .rst, .dec, .key, .key_valid, .key_turn, .bdi_data(empty ? 64'd0 : pdi_data), .bdi_valid, .bdi_ready,
      .bdi_bytes(final_word ? tail : 4'hF), .bdi_last(eot && final_word), .bdi_nonce, .bdi_ad, .bdi_text, .bdi_tag,
      .bdo_data, .bdo_valid, .bdo_ready(state == OUT && out_free), .checked, .equal, .random(rdi_data),
      .random_valid(rdi_valid), .random_ready(rdi_ready));

  wire header_out = opened && kind[3:1] == PT_CT;
  wire decodes = state == DECODE && (!header_out || out_free);
  assign pdi_ready = state == GET || (moves && !empty);

  always_comb begin
    out = bdo_data;
    out_last = 0;
    case (state)
      DECODE: begin
        out = {32'd0, 3'd2, !dec, 2'd0, head[25], dec && head[25], 8'd0, head[15:0]};
        out_put = decodes && header_out;
      end
      OUT_HEADER: begin
        out = {32'd0, TAG, 4'h3, 24'd16};
        out_put = out_free;
      end
      DATA, OUT: out_put = bdo_valid && out_free;
      STATUS: begin
        out = {32'd0, 3'b111, dec && !equal, 28'd0};
        out_last = 1;
        out_put = out_free;
      end
      default: out_put = 0;
    endcase
  end

  always_ff @(posedge clk) begin
    case (state)
      GET: if (pdi_valid) begin
        {head1, head0} <= pdi_data;
        state <= DECODE;
      end
      DECODE: if (decodes && !opened) begin
        dec <= kind == DEC;
        opened <= kind == ENC || kind == DEC;
        state <= GET;
      end else if (decodes) begin
        left <= full;
        final_word <= full == 0 || (full == 1 && exact);
        case (head[1:0])
          0: tail <= {4{!none}};
          1: tail <= 4'b1000;
          2: tail <= 4'b1100;
          3: tail <= 4'b1110;
        endcase
        empty <= none;
        {eot, last} <= head[25:24];
        bdi_nonce <= kind == NPUB;
        bdi_ad <= kind == AD;
        bdi_text <= header_out;
        bdi_tag <= kind == TAG;
        state <= !none || head[25] ? DATA : GET;
      end
      DATA: if (moves) begin
        left <= left - 1;
        final_word <= left == (tail[0] ? 2 : 1);
        if (final_word) state <= !last ? GET : bdi_tag ? CHECK : OUT_HEADER;
      end
      OUT_HEADER: begin
        left <= 4;
        if (out_free) state <= OUT;
      end
      OUT: if (bdo_valid && out_free) begin
        left <= left - 1;
        if (left[2:0] == 1) state <= STATUS;
      end
      CHECK: if (checked) state <= STATUS;
      default: if (out_free) begin
        state <= GET;
        opened <= 0;
      end
    endcase
    if (rst) begin
      state <= GET;
      opened <= 0;
    end
  end
  wire unused = &{1'b0, head[27:26], head[23:16], sdi_ready1, key_valid1, out_free1, do_valid1, do_last1};
endmodule
