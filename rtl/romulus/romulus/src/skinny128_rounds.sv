// N rounds of SKINNY-128-384+ and of its tweakey schedule (the Romulus specification, 2.3). Byte 0 is the highest.
module skinny128_rounds #(
    parameter int N = 1
) (
    input  logic [127:0] in,
    input  logic [383:0] tweakey_in,   // TK1, TK2, TK3
    input  logic [5:0]   constant_in,  // of the round before
    output logic [127:0] out,
    output logic [383:0] tweakey_out,
    output logic [5:0]   constant_out
);
  function automatic logic [7:0] sbox(input logic [7:0] x);
    sbox = x;
    for (int n = 0; n < 4; n++) begin
      sbox[4] = sbox[4] ^ ~(sbox[7] | sbox[6]);
      sbox[0] = sbox[0] ^ ~(sbox[3] | sbox[2]);
      if (n < 3) sbox = {sbox[2], sbox[1], sbox[7], sbox[6], sbox[4], sbox[0], sbox[3], sbox[5]};
      else sbox = {sbox[7:3], sbox[1], sbox[2], sbox[0]};
    end
  endfunction

  // P_T: cell i of the next round is cell P_T[i], 4 bits each, cell 0 lowest
  localparam logic [63:0] P_T = 64'h7654_3210_BCEA_D8F9;

  generate
    for (genvar n = 0; n < N; n++) begin : round
      wire [127:0] s, t, u, v;
      wire [383:0] k, l;
      wire [5:0] c, d;
      if (n == 0) assign {s, k, c} = {in, tweakey_in, constant_in};
      else assign {s, k, c} = {round[n-1].v, round[n-1].l, round[n-1].d};
      assign d = {c[4:0], c[5] ~^ c[4]};

      // SubCells, AddConstants, AddRoundTweakey
      wire [127:0] constants = {4'd0, d[3:0], 24'd0, 6'd0, d[5:4], 24'd0, 8'h02, 56'd0};
      for (genvar i = 0; i < 16; i++) begin : cell_
        assign t[120-8*i+:8] = sbox(s[120-8*i+:8]);
      end
      assign u = t ^ constants ^ {k[383:320] ^ k[255:192] ^ k[127:64], 64'd0};

      // ShiftRows, MixColumns
      wire [31:0] r0 = u[127:96];
      wire [31:0] r1 = {u[71:64], u[95:72]};
      wire [31:0] r2 = {u[47:32], u[63:48]};
      wire [31:0] r3 = {u[23:0], u[31:24]};
      assign v = {r0 ^ r2 ^ r3, r0, r1 ^ r2, r0 ^ r2};

      // the tweakey: P_T, and the LFSRs of TK2 and TK3 in the two upper rows
      for (genvar z = 0; z < 3; z++) begin : array
        for (genvar i = 0; i < 16; i++) begin : cells
          localparam int FROM = 256 - 128 * z + 120 - 8 * int'(32'(P_T[4*i+:4]));
          localparam int TO = 256 - 128 * z + 120 - 8 * i;
          wire [7:0] x = k[FROM+:8];
          if (z == 1 && i < 8) assign l[TO+:8] = {x[6:0], x[7] ^ x[5]};
          else if (z == 2 && i < 8) assign l[TO+:8] = {x[0] ^ x[6], x[7:1]};
          else assign l[TO+:8] = x;
        end
      end
    end
  endgenerate
  assign out = round[N-1].v;
  assign tweakey_out = round[N-1].l;
  assign constant_out = round[N-1].d;
endmodule
