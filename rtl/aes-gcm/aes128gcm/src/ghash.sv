// GHASH (NIST SP 800-38D, 6.3 and 6.4): Y, to which words are added, and its product with H, D bits in a cycle. Bit 0 of a
// block is the highest.
module ghash #(
    parameter int D = 4
) (
    input  logic         clk,
    input  logic         rst,
    input  logic         clear,
    input  logic         add,
    input  logic [127:0] block,       // what is added
    input  logic         start,
    input  logic [127:0] h,
    output logic         busy,
    output logic [127:0] y
);
  logic [127:0] x;                   // the factor; its last bits go first
  logic [7:0] left;
  function automatic logic [127:0] step(input logic [127:0] z, input logic [D-1:0] bits, input logic [127:0] factor);
    step = z;
    for (int i = 0; i < D; i++)
      step = {1'b0, step[127:1]} ^ (step[0] ? {8'hE1, 120'd0} : 128'd0) ^ (bits[i] ? factor : 128'd0);
  endfunction
  assign busy = left != 0;
  always_ff @(posedge clk) begin
    if (clear || start) y <= 0;
    else if (busy) y <= step(y, x[D-1:0], h);
    else if (add) y <= y ^ block;
    x <= start ? y : x >> D;
    if (rst) left <= 0;
    else if (start) left <= 8'(128 / D);
    else if (busy) left <= left - 1;
  end
endmodule
