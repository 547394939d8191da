// N rounds of Ascon-p (SP 800-232, 3), of which the first has index i.
module ascon_rounds #(
    parameter int N = 1
) (
    input  logic [3:0]   i,
    input  logic [319:0] in,    // S_4 .. S_0
    output logic [319:0] out
);
  // S ^ (S >>> a) ^ (S >>> b)
  function automatic logic [63:0] diffuse(input logic [63:0] s, input int a, input int b);
    diffuse = s ^ (s >> a | s << (64 - a)) ^ (s >> b | s << (64 - b));
  endfunction

  generate
    for (genvar n = 0; n < N; n++) begin : round
      wire [319:0] s;
      wire [3:0] j = i + 4'(n);
      wire [63:0] x0 = s[63:0] ^ s[319:256];
      wire [63:0] x1 = s[127:64];
      wire [63:0] x2 = s[191:128] ^ s[127:64] ^ {56'd0, ~j, j};
      wire [63:0] x3 = s[255:192];
      wire [63:0] x4 = s[319:256] ^ s[255:192];
      wire [63:0] y0 = x0 ^ (~x1 & x2);
      wire [63:0] y1 = x1 ^ (~x2 & x3);
      wire [63:0] y2 = x2 ^ (~x3 & x4);
      wire [63:0] y3 = x3 ^ (~x4 & x0);
      wire [63:0] y4 = x4 ^ (~x0 & x1);
      wire [319:0] t = {diffuse(y4, 7, 41), diffuse(y3 ^ y2, 10, 17), diffuse(~y2, 1, 6),
                        diffuse(y1 ^ y0, 61, 39), diffuse(y0 ^ y4, 19, 28)};
      if (n == 0) assign s = in;
      else assign s = round[n-1].t;
    end
  endgenerate
  assign out = round[N-1].t;
endmodule
