// N rounds of Spongent-pi[160] (the Elephant specification, 3.3). Bit 0 is the lowest.
module spongent160_rounds #(
    parameter int N = 1
) (
    input  logic [159:0] in,
    input  logic [6:0]   counter_in,
    output logic [159:0] out,
    output logic [6:0]   counter_out
);
  function automatic logic [3:0] sbox(input logic [3:0] x);
    case (x)
      4'h0: sbox = 4'hE;
      4'h1: sbox = 4'hD;
      4'h2: sbox = 4'hB;
      4'h3: sbox = 4'h0;
      4'h4: sbox = 4'h2;
      4'h5: sbox = 4'h1;
      4'h6: sbox = 4'h4;
      4'h7: sbox = 4'hF;
      4'h8: sbox = 4'h7;
      4'h9: sbox = 4'hA;
      4'hA: sbox = 4'h8;
      4'hB: sbox = 4'h5;
      4'hC: sbox = 4'h9;
      4'hD: sbox = 4'hC;
      4'hE: sbox = 4'h3;
      default: sbox = 4'h6;
    endcase
  endfunction

  generate
    for (genvar n = 0; n < N; n++) begin : round
      wire [159:0] s, x, t;
      wire [6:0] c, d;
      if (n == 0) assign {s, c} = {in, counter_in};
      else assign {s, c} = {round[n-1].t, round[n-1].d};
      assign d = {c[5:0], c[6] ^ c[5]};
      assign x = s ^ {c[0], c[1], c[2], c[3], c[4], c[5], c[6], 146'd0, c};
      for (genvar k = 0; k < 40; k++) begin : cell_
        // pLayer: bit b of cell k to 40b + k
        assign {t[120+k], t[80+k], t[40+k], t[k]} = sbox(x[4*k+:4]);
      end
    end
  endgenerate
  assign out = round[N-1].t;
  assign counter_out = round[N-1].d;
endmodule
