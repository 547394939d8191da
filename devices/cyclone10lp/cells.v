// Cells of Cyclone 10 LP as Intel documents them ("Cyclone 10 LP Device Handbook", logic elements): what yosys' own
// models leave out is the flip-flop's enable and the carry.
module cyclone10lp_lcell_comb (output combout, output cout, input dataa, input datab, input datac, input datad, input cin);
  parameter [15:0] lut_mask = 16'hffff;
  parameter dont_touch = "off";
  parameter lpm_type = "cyclone10lp_lcell_comb";
  parameter sum_lutc_input = "datac";
  wire third = sum_lutc_input == "cin" ? cin : datac;
  assign combout = lut_mask[{datad, third, datab, dataa}];
  assign cout = lut_mask[{1'b0, third, datab, dataa}];
endmodule

module dffeas (
    output reg q,
    input d, input clk, input clrn, input prn, input ena, input asdata, input aload, input sclr, input sload
);
  parameter power_up = "dontcare";
  parameter is_wysiwyg = "false";
  always @(posedge clk or negedge clrn or negedge prn)
    if (!clrn) q <= 0;
    else if (!prn) q <= 1;
    else if (ena) q <= sclr ? 1'b0 : sload ? asdata : d;
endmodule

module cyclone10lp_io_ibuf (output o, input i, input ibar);
  assign o = i;
endmodule

module cyclone10lp_io_obuf (output o, input i, input oe);
  assign o = i;
endmodule

module VCC (output V);
  assign V = 1;
endmodule

module GND (output G);
  assign G = 0;
endmodule
