// N rounds of Xoodoo (the Xoodyak specification, 2.1), of which the first is round i of 12.
module xoodoo_rounds #(
    parameter int N = 1
) (
    input  logic [3:0]   i,
    input  logic [383:0] in,    // lane (x, y) at 32(x + 4y)
    output logic [383:0] out
);
  function automatic logic [9:0] constant(input logic [3:0] n);
    case (n)
      0: constant = 10'h058;
      1: constant = 10'h038;
      2: constant = 10'h3C0;
      3: constant = 10'h0D0;
      4: constant = 10'h120;
      5: constant = 10'h014;
      6: constant = 10'h060;
      7: constant = 10'h02C;
      8: constant = 10'h380;
      9: constant = 10'h0F0;
      10: constant = 10'h1A0;
      default: constant = 10'h012;
    endcase
  endfunction

  generate
    for (genvar n = 0; n < N; n++) begin : round
      wire [383:0] s, t;
      if (n == 0) assign s = in;
      else assign s = round[n-1].t;
      wire [127:0] p = s[127:0] ^ s[255:128] ^ s[383:256];
      for (genvar x = 0; x < 4; x++) begin : column
        localparam int W = (x + 3) % 4, W2 = (x + 2) % 4;
        // theta: the parity of the column to the west
        wire [31:0] q = p[32*W+:32];
        wire [31:0] e = {q[26:0], q[31:27]} ^ {q[17:0], q[31:18]};
        // rho west
        wire [31:0] a0 = s[32*x+:32] ^ e ^ (x == 0 ? {22'd0, constant(i + 4'(n))} : 32'd0);
        wire [31:0] a1 = s[128+32*W+:32] ^ column[W].e;
        wire [31:0] b2 = s[256+32*x+:32] ^ e;
        wire [31:0] a2 = {b2[20:0], b2[31:21]};
        // chi, rho east
        wire [31:0] c1 = a1 ^ (~a2 & a0);
        wire [31:0] c2 = a2 ^ (~a0 & a1);
        assign t[32*x+:32] = a0 ^ (~a1 & a2);
        assign t[128+32*x+:32] = {c1[30:0], c1[31]};
        assign t[256+32*W2+:32] = {c2[23:0], c2[31:24]};
      end
    end
  endgenerate
  assign out = round[N-1].t;
endmodule
