// Encrypts nothing: the text as it is, a tag and a hash of zeros. What it costs is what the API costs.
module crypto_core #(
    parameter int UNROLL = 1
) (
    input  logic         clk,
    input  logic         rst,
    input  logic         dec,
    input  logic         hash,
    input  logic [127:0] key,
    input  logic         key_valid,
    output logic         key_turn,
    input  logic [31:0]  bdi_data,
    input  logic         bdi_valid,
    output logic         bdi_ready,
    input  logic [3:0]   bdi_bytes,
    input  logic         bdi_last,
    input  logic         bdi_eoi,
    input  logic         bdi_nonce,
    input  logic         bdi_ad,
    input  logic         bdi_text,
    input  logic [15:0]  bdi_length,
    output logic [31:0]  bdo_data,
    output logic         bdo_valid,
    input  logic         bdo_ready
);
  logic tag;
  logic [2:0] left;
  assign key_turn = 0;
  assign bdi_ready = key_valid && !tag;
  assign bdo_valid = tag || (bdi_valid && bdi_ready && bdi_text && !hash && bdi_bytes != 0);
  assign bdo_data = tag ? 0 : bdi_data;
  always_ff @(posedge clk) begin
    if (bdi_valid && bdi_ready && bdi_text && bdi_last) begin
      tag <= 1;
      left <= hash ? 7 : 3;
    end else if (tag && bdo_ready) begin
      left <= left - 1;
      if (left == 0) tag <= 0;
    end
    if (rst) tag <= 0;
  end
  wire unused = &{1'b0, UNROLL[0], dec, key, bdi_eoi, bdi_nonce, bdi_ad, bdi_length};
endmodule
