// One round of Subterranean 2.0: pi(theta(iota(chi(s)))) (the specification, 2.1).
module subterranean_round (
    input  logic [256:0] s,
    output logic [256:0] out
);
  wire [256:0] c = s ^ (~{s[0], s[256:1]} & {s[1:0], s[256:2]}) ^ 257'd1;
  wire [256:0] t = c ^ {c[2:0], c[256:3]} ^ {c[7:0], c[256:8]};
  generate
    for (genvar i = 0; i < 257; i++) begin : pi
      assign out[i] = t[12*i%257];
    end
  endgenerate
endmodule
