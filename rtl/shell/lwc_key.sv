// The key. The words of SDI are shifted in, LDKEY and header before them and out again.
module lwc_key #(
    parameter int W = 32
) (
    input  logic         clk,
    input  logic         rst,
    input  logic         load,        // ACTKEY has come
    input  logic         turn,        // by 32 bits to the left
    input  logic [W-1:0] data,
    input  logic         valid,
    output logic         ready,
    output logic [127:0] key,
    output logic         key_valid
);
  localparam logic [4:0] WORDS = 5'(1 + 160 / W);
  logic [4:0] left;
  assign ready = left != 0;
  assign key_valid = left == 0;
  always_ff @(posedge clk) begin
    if (turn) key <= {key[95:0], key[127:96]};
    else if (ready && valid) key <= {key[127-W:0], data};
    if (load) left <= WORDS;
    else if (ready && valid) left <= left - 1;
    if (rst) left <= 0;
  end
endmodule
