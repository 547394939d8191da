// Round k of PHOTON-256 (the PHOTON-Beetle specification, 2.2). Cell (i, j) of row i is at 4(8i + j).
module photon256_round (
    input  logic [3:0]   k,
    input  logic [255:0] s,
    output logic [255:0] out
);
  localparam logic [47:0] RC = 48'hA52_9C6_BDE_731;  // of rounds 11 .. 0
  localparam logic [31:0] IC = 32'h8CEF_7310;        // of rows 7 .. 0

  function automatic logic [3:0] sbox(input logic [3:0] x);
    case (x)
      4'h0: sbox = 4'hC;
      4'h1: sbox = 4'h5;
      4'h2: sbox = 4'h6;
      4'h3: sbox = 4'hB;
      4'h4: sbox = 4'h9;
      4'h5: sbox = 4'h0;
      4'h6: sbox = 4'hA;
      4'h7: sbox = 4'hD;
      4'h8: sbox = 4'h3;
      4'h9: sbox = 4'hE;
      4'hA: sbox = 4'hF;
      4'hB: sbox = 4'h8;
      4'hC: sbox = 4'h4;
      4'hD: sbox = 4'h7;
      4'hE: sbox = 4'h1;
      default: sbox = 4'h2;
    endcase
  endfunction

  function automatic logic [3:0] twice(input logic [3:0] x);
    twice = {x[2:0], 1'b0} ^ {2'b00, x[3], x[3]};
  endfunction

  // MixColumnSerial: eight times, the cells of a column move up, and the last becomes the product with (2, 4, 2, 11, 2,
  // 8, 5, 6) in GF(2^4) modulo x^4 + x + 1
  function automatic logic [31:0] mix(input logic [31:0] column);
    logic [3:0] w;
    mix = column;
    for (int n = 0; n < 8; n++) begin
      w = mix[15:12] ^ mix[23:20];
      w = twice(w) ^ mix[7:4] ^ mix[27:24] ^ mix[31:28];
      w = twice(w) ^ mix[3:0] ^ mix[11:8] ^ mix[15:12] ^ mix[19:16] ^ mix[31:28];
      w = twice(w) ^ mix[15:12] ^ mix[27:24];
      mix = {w, mix[31:4]};
    end
  endfunction

  wire [3:0] rc = RC[4*k+:4];
  wire [255:0] x;
  generate
    for (genvar i = 0; i < 8; i++) begin : row
      for (genvar j = 0; j < 8; j++) begin : cell_
        // AddConstant, SubCells, ShiftRows
        localparam int FROM = 4 * (8 * i + (i + j) % 8);
        wire [3:0] c = (i + j) % 8 == 0 ? rc ^ IC[4*i+:4] : 4'd0;
        assign x[4*(8*i+j)+:4] = sbox(s[FROM+:4] ^ c);
      end
    end
    for (genvar j = 0; j < 8; j++) begin : column
      wire [31:0] in = {x[4*(56+j)+:4], x[4*(48+j)+:4], x[4*(40+j)+:4], x[4*(32+j)+:4],
                        x[4*(24+j)+:4], x[4*(16+j)+:4], x[4*(8+j)+:4], x[4*j+:4]};
      // as one matrix: the sum of what each bit gives
      logic [31:0] mixed;
      always_comb begin
        mixed = 0;
        for (int b = 0; b < 32; b++) mixed = mixed ^ (mix(32'd1 << b) & {32{in[b]}});
      end
      for (genvar i = 0; i < 8; i++) begin : cells
        assign out[4*(8*i+j)+:4] = mixed[4*i+:4];
      end
    end
  endgenerate
endmodule
