// AES-128 (FIPS 197) with four S-boxes: a round is five cycles, four for the columns and one for the key. Byte 0 is the
// highest. The key of a round is added when its columns enter the S-boxes, the last one to the result.
module aes128 (
    input  logic         clk,
    input  logic         rst,
    input  logic         start,
    input  logic [127:0] block,
    input  logic [127:0] key,
    output logic         busy,
    input  logic         turn,        // the result by a word to the left
    output logic [127:0] result
);
  logic [127:0] s, k;
  logic [7:0] rcon;
  logic [2:0] column;
  logic [3:0] round;

  wire [31:0] rotated = {k[23:0], k[31:24]};
  wire [31:0] in = column == 4 ? rotated : s[127:96] ^ k[127:96];
  wire [31:0] sub;
  generate
    for (genvar i = 0; i < 4; i++) begin : boxes
      aes_sbox sbox (.in(in[8*i+:8]), .out(sub[8*i+:8]));
    end
  endgenerate

  function automatic logic [7:0] twice(input logic [7:0] x);
    twice = {x[6:0], 1'b0} ^ (x[7] ? 8'h1B : 8'h0);
  endfunction

  wire [31:0] k0 = k[127:96] ^ sub ^ {rcon, 24'd0};
  wire [31:0] k1 = k[95:64] ^ k0;
  wire [31:0] k2 = k[63:32] ^ k1;
  wire [127:0] shifted, mixed;
  generate
    for (genvar c = 0; c < 4; c++) begin : columns
      // ShiftRows: row r of column c comes from column c + r
      for (genvar r = 0; r < 4; r++) begin : row
        assign shifted[120-32*c-8*r+:8] = s[120-32*((c+r)%4)-8*r+:8];
      end
      for (genvar r = 0; r < 4; r++) begin : mix
        wire [7:0] a = shifted[120-32*c-8*r+:8], b = shifted[120-32*c-8*((r+1)%4)+:8];
        assign mixed[120-32*c-8*r+:8] = twice(a ^ b) ^ b ^ shifted[120-32*c-8*((r+2)%4)+:8]
            ^ shifted[120-32*c-8*((r+3)%4)+:8];
      end
    end
  endgenerate
  assign result = s ^ k;

  always_ff @(posedge clk) begin
    if (start) begin
      s <= block;
      k <= key;
      rcon <= 1;
      column <= 0;
      round <= 0;
      busy <= 1;
    end else if (busy) begin
      column <= column == 4 ? 0 : column + 1;
      if (column == 4) begin
        s <= round == 9 ? shifted : mixed;
        k <= {k0, k1, k2, k[31:0] ^ k2};
        rcon <= twice(rcon);
        round <= round + 1;
        if (round == 9) busy <= 0;
      end else begin
        s <= {s[95:0], sub};
        k <= {k[95:0], k[127:96]};
      end
    end else if (turn) begin
      s <= {s[95:0], s[127:96]};
      k <= {k[95:0], k[127:96]};
    end
    if (rst) busy <= 0;
  end
endmodule
