// A step of SPARKLE384 (the SPARKLE specification, 2.1). Word n is at 32n: x_0, y_0, x_1, y_1, ...
module sparkle384_step (
    input  logic [3:0]   step,
    input  logic [383:0] s,
    output logic [383:0] out
);
  // c_0 first
  localparam logic [255:0] C = 256'hC2B3293D_CFBFA1C8_4F7C7B57_BB1185EB_324E7738_38B4DA56_BF715880_B7E15162;

  function automatic logic [31:0] right(input logic [31:0] x, input int n);
    right = x >> n | x << (32 - n);
  endfunction
  function automatic logic [31:0] ell(input logic [31:0] x);
    ell = {x[15:0], x[31:16] ^ x[15:0]};
  endfunction

  wire [383:0] a;
  wire [31:0] c = C[32*step[2:0]+:32];
  generate
    for (genvar i = 0; i < 6; i++) begin : branch
      // Alzette
      localparam logic [31:0] CI = C[32*i+:32];
      wire [31:0] x0 = s[64*i+:32];
      wire [31:0] y0 = s[64*i+32+:32] ^ (i == 0 ? c : i == 1 ? {28'd0, step} : 32'd0);
      wire [31:0] x1 = x0 + right(y0, 31);
      wire [31:0] y1 = y0 ^ right(x1, 24);
      wire [31:0] x2 = (x1 ^ CI) + right(y1, 17);
      wire [31:0] y2 = y1 ^ right(x2, 17);
      wire [31:0] x3 = (x2 ^ CI) + y2;
      wire [31:0] y3 = y2 ^ right(x3, 31);
      wire [31:0] x4 = (x3 ^ CI) + right(y3, 24);
      wire [31:0] y4 = y3 ^ right(x4, 16);
      assign a[64*i+:64] = {y4, x4 ^ CI};
    end
  endgenerate
  // the linear layer: the sums of the left branches, then the halves change places and the new left one turns
  wire [31:0] tx = ell(a[31:0] ^ a[95:64] ^ a[159:128]);
  wire [31:0] ty = ell(a[63:32] ^ a[127:96] ^ a[191:160]);
  wire [191:0] left = a[383:192] ^ a[191:0] ^ {3{tx, ty}};
  assign out = {a[191:0], left[63:0], left[191:64]};
endmodule
