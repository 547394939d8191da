// A toy with the LWC hardware API: its hash is the exclusive or of the message's words, in one word.
module toy (
    input  logic        clk,
    input  logic        rst,
    input  logic [31:0] pdi_data,
    input  logic        pdi_valid,
    output logic        pdi_ready,
    input  logic [31:0] sdi_data,
    input  logic        sdi_valid,
    output logic        sdi_ready,
    output logic [31:0] do_data,
    output logic        do_valid,
    input  logic        do_ready,
    output logic        do_last
);
  typedef enum logic [2:0] {INSTRUCTION, HEADER, DATA, OUT_HEADER, DIGEST, STATUS} state_t;
  state_t state;
  logic [31:0] sum;
  logic [15:0] left;
  logic last;
  wire in = pdi_valid && pdi_ready;
  wire out = do_valid && do_ready;
  assign sdi_ready = 1'b0;
  assign pdi_ready = state == INSTRUCTION || state == HEADER || state == DATA; // READY
  assign do_valid = state == OUT_HEADER || state == DIGEST || state == STATUS;
  assign do_last = state == STATUS;
  always_comb begin
    case (state)
      OUT_HEADER: do_data = 32'h93000004;
      DIGEST: do_data = sum;
      default: do_data = 32'he0000000; // DEFAULT
    endcase
  end
  always_ff @(posedge clk) begin
    if (rst) begin
      state <= INSTRUCTION;
    end else begin
      if (in && state == INSTRUCTION) begin
        sum <= 0;
        state <= HEADER;
      end
      if (in && state == HEADER) begin
        last <= pdi_data[24];
        left <= pdi_data[15:0];
        state <= pdi_data[15:0] != 0 ? DATA : pdi_data[24] ? OUT_HEADER : HEADER;
      end
      if (in && state == DATA) begin
        sum <= sum ^ pdi_data;
        left <= left - 16'd4;
        if (left <= 16'd4) state <= last ? OUT_HEADER : HEADER;
      end
      if (out) begin
        if (state == OUT_HEADER) state <= DIGEST;
        if (state == DIGEST) state <= STATUS;
        if (state == STATUS) state <= INSTRUCTION;
      end
    end
  end
endmodule
