// A register for a word of 32 bits, which leaves in words of W bits: as many as hold the bytes that are valid.
module lwc_narrow #(
    parameter int W = 32
) (
    input  logic         clk,
    input  logic         rst,
    input  logic [31:0]  word,
    input  logic         put,
    output logic         free,
    input  logic [2:0]   bytes,       // 1 to 4
    input  logic         last,
    output logic [W-1:0] data,
    output logic         valid,
    input  logic         ready,
    output logic         data_last
);
  logic [31:0] held;
  logic held_last;
  assign data = held[31-:W];
  generate
    if (W == 32) begin : same
      wire unused = &{1'b0, bytes};
      assign free = !valid || ready;
      assign data_last = held_last;
      always_ff @(posedge clk) begin
        if (put) {held, held_last} <= {word, last};
        if (put) valid <= 1;
        else if (ready) valid <= 0;
        if (rst) valid <= 0;
      end
    end else begin : cut
      logic [2:0] left;               // parts that follow this one
      assign free = !valid || (ready && left == 0);
      assign data_last = held_last && left == 0;
      always_ff @(posedge clk) begin
        if (put) begin
          {held, held_last} <= {word, last};
          left <= 3'((32'(bytes) + W / 8 - 1) / (W / 8) - 1);
          valid <= 1;
        end else if (valid && ready) begin
          held <= held << W;
          left <= left - 1;
          if (left == 0) valid <= 0;
        end
        if (rst) valid <= 0;
      end
    end
  endgenerate
endmodule
