// Collects words of W bits into one of 32: as many as make up bytes, the first of them highest, the rest 0.
module lwc_widen #(
    parameter int W = 32
) (
    input  logic         clk,
    input  logic         rst,
    input  logic [W-1:0] data,
    input  logic         valid,
    output logic         ready,
    input  logic [2:0]   bytes,       // 1 to 4, of the word that is awaited; 0 where none is
    output logic [31:0]  word,
    output logic         word_valid,
    input  logic         word_take    // the word is taken, if it is valid
);
  generate
    if (W == 32) begin : same
      wire unused = &{1'b0, clk, rst, bytes};
      assign word = data;
      assign word_valid = valid;
      assign ready = word_take;
    end else begin : collect
      localparam int PARTS = 32 / W;
      logic [31-W:0] held;            // what came before, 0 elsewhere; the last part is never held
      logic [$clog2(PARTS)-1:0] part;
      wire complete = int'({29'd0, bytes}) <= (int'(32'(part)) + 1) * (W / 8);
      assign ready = !complete || word_take;
      assign word_valid = valid && complete;
      always_comb begin
        word = {held, W'(0)};
        for (int i = 0; i < PARTS; i++) if (32'(part) == i) word[31-i*W-:W] = data;
      end
      always_ff @(posedge clk) begin
        if (valid && ready) begin
          if (complete) begin
            held <= 0;
            part <= 0;
          end else begin
            held <= word[31:W];
            part <= part + 1;
          end
        end
        if (rst) begin
          held <= 0;
          part <= 0;
        end
      end
    end
  endgenerate
endmodule
