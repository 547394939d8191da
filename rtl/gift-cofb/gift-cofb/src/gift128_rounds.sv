// N rounds of GIFT-128 on the bit slices S_0 .. S_3, with the key state W_0 .. W_7 (the GIFT-COFB specification, 2.3).
module gift128_rounds #(
    parameter int N = 1
) (
    input  logic [127:0] in,
    input  logic [127:0] key_in,
    input  logic [5:0]   constant_in,  // of the round before
    output logic [127:0] out,
    output logic [127:0] key_out,
    output logic [5:0]   constant_out
);
  // PermBits of slice i: bit 4b + c moves to bit b of byte i - c modulo 4
  function automatic logic [31:0] permute(input logic [31:0] s, input int i);
    for (int b = 0; b < 8; b++)
      for (int c = 0; c < 4; c++) permute[8*((i+4-c)%4)+b] = s[4*b+c];
  endfunction

  generate
    for (genvar n = 0; n < N; n++) begin : round
      wire [127:0] s, k, t, l;
      wire [5:0] c, d;
      if (n == 0) assign {s, k, c} = {in, key_in, constant_in};
      else assign {s, k, c} = {round[n-1].t, round[n-1].l, round[n-1].d};
      wire [31:0] s0 = s[127:96], s1 = s[95:64], s2 = s[63:32], s3 = s[31:0];
      wire [31:0] a1 = s1 ^ (s0 & s2);
      wire [31:0] a0 = s0 ^ (a1 & s3);
      wire [31:0] a2 = s2 ^ (a0 | a1);
      wire [31:0] a3 = s3 ^ a2;
      wire [31:0] b1 = a1 ^ a3;
      wire [31:0] b2 = a2 ^ (a0 & b1);
      assign d = {c[4:0], c[5] ~^ c[4]};
      assign t = {permute(~a3, 0), permute(b1, 1) ^ k[31:0], permute(b2, 2) ^ k[95:64],
                  permute(a0, 3) ^ {1'b1, 25'd0, d}};
      assign l = {k[17:16], k[31:18], k[11:0], k[15:12], k[127:32]};
    end
  endgenerate
  assign out = round[N-1].t;
  assign key_out = round[N-1].l;
  assign constant_out = round[N-1].d;
endmodule
