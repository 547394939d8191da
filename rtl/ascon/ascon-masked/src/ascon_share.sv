// One share of Ascon-AEAD128's state (SP 800-232, 3 and 4), and all that it meets of the other share.
//
// S-boxes take two cycles. In the first (multiply), products of this share with the other one are registered behind
// fresh random bits; in the second (round), they meet what is of this share alone (DOM: Gross, Mangard, Korak,
// "Domain-oriented masking", 2016). No signal may depend on both shares of one bit, so the linear layer before an S-box
// is over before its inputs are registered: it belongs to the round before, for the first one to a cycle of its own
// (enter).
module ascon_share #(
    parameter bit FIRST = 1          // constants are added to this share
) (
    input  logic         clk,
    input  logic         nonce,      // the word is of the nonce, which starts the initialization
    input  logic         turn,       // the rate turns: a word enters
    input  logic         flip,       // padding in the first byte of a block that nothing has entered
    input  logic         pad,        // the same, while the block turns
    input  logic         pads,       // the word is not data
    input  logic         replace,    // valid bytes of the word replace those of the rate
    input  logic         post,       // key after the initialization
    input  logic         finalize,   // key before the finalization
    input  logic         separate,   // the bit between associated data and text
    input  logic         tag,        // a word of the tag passes
    input  logic         enter,
    input  logic         multiply,
    input  logic         round,
    input  logic         last,       // no S-box follows this round
    input  logic [3:0]   i,          // index of the round
    input  logic [31:0]  word,       // first byte highest, as are those below
    input  logic [3:0]   bytes,      // valid ones
    input  logic [127:0] key,
    input  logic [319:0] random,
    input  logic [319:0] other,      // the other share's operands
    output logic [319:0] operands,   // of the S-boxes
    output logic [31:0]  text,
    output logic [31:0]  tag_word
);
  localparam logic [63:0] IV = FIRST ? 64'h0000_1000_808c_0001 : 64'd0;

  function automatic logic [31:0] swap(input logic [31:0] x);
    swap = {x[7:0], x[15:8], x[23:16], x[31:24]};
  endfunction
  // S ^ (S >>> a) ^ (S >>> b)
  function automatic logic [63:0] diffuse(input logic [63:0] s, input int a, input int b);
    diffuse = s ^ (s >> a | s << (64 - a)) ^ (s >> b | s << (64 - b));
  endfunction
  // by columns of words, S_4 .. S_0: the factors of a product are the next word, complemented, and the one after it
  function automatic logic [319:0] next(input logic [319:0] s, input int words);
    next = s >> (64 * words) | s << (320 - 64 * words);
  endfunction

  // names that the netlist keeps: tests/rtl/test_masked.py looks for both shares of a bit
  (* keep *) logic [319:0] s, products;

  // ---- S-boxes
  wire [319:0] constant = FIRST ? {128'd0, 56'd0, ~i, i, 128'd0} : 320'd0;
  wire [319:0] x = s ^ constant;
  wire [319:0] a = FIRST ? ~next(x, 1) : next(x, 1);
  wire [319:0] y = x ^ (a & next(x, 2)) ^ products;
  assign operands = x;
  always_ff @(posedge clk) if (multiply) products <= (a & next(other, 2)) ^ random;

  wire [63:0] y0 = y[63:0], y1 = y[127:64], y2 = y[191:128], y3 = y[255:192], y4 = y[319:256];
  wire [319:0] t = enter ? s : {
      diffuse(y4, 7, 41), diffuse(y3 ^ y2, 10, 17), diffuse(FIRST ? ~y2 : y2, 1, 6), diffuse(y1 ^ y0, 61, 39),
      diffuse(y0 ^ y4, 19, 28)};
  wire [319:0] linear = last ? 320'd0 : {t[255:192], 64'd0, t[127:64], 64'd0, t[319:256]};

  // ---- words: the halves of the key change places as in rtl/ascon/ascon
  wire [63:0] low = {swap(key[95:64]), swap(key[127:96])}, high = {swap(key[31:0]), swap(key[63:32])};
  wire [31:0] mask = {{8{bytes[0]}}, {8{bytes[1]}}, {8{bytes[2]}}, {8{bytes[3]}}};
  wire [31:0] padding = !FIRST ? 32'd0 : {
      7'd0, bytes[1] && !bytes[0], 7'd0, bytes[2] && !bytes[1], 7'd0, bytes[3] && !bytes[2], 8'd0};
  wire [31:0] in = swap(word);
  wire [31:0] sum = s[31:0] ^ in;
  wire [31:0] kept = pads ? s[31:0] ^ {31'd0, pad && FIRST} : (replace ? s[31:0] & ~mask ^ in : sum) ^ padding;
  assign text = swap(sum & mask);
  assign tag_word = swap(s[223:192] ^ low[31:0]);

  always_ff @(posedge clk) begin
    if (enter || round) s <= t ^ linear;
    else begin
      if (nonce) s[63:0] <= IV;
      else if (flip) s[0] <= s[0] ^ FIRST;
      else if (turn) s[63:0] <= s[95:32];
      if (nonce) s[127:64] <= low;
      else if (turn) s[127:64] <= {kept, s[127:96]};
      if (nonce || finalize) s[191:128] <= (nonce ? 64'd0 : s[191:128]) ^ high;
      if (nonce || tag) s[319:192] <= {in, s[319:224]};
      else begin
        if (post || finalize) s[255:192] <= s[255:192] ^ low;
        if (post) s[319:256] <= s[319:256] ^ high;
        if (separate) s[319] <= s[319] ^ FIRST;
      end
    end
  end
endmodule
