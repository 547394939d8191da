// What the cells of shape.lib do.
module NAND2 (input A, input B, output Y); assign Y = ~(A & B); endmodule
module NOR2 (input A, input B, output Y); assign Y = ~(A | B); endmodule
module INV (input A, output Y); assign Y = ~A; endmodule
module AND2 (input A, input B, output Y); assign Y = A & B; endmodule
module OR2 (input A, input B, output Y); assign Y = A | B; endmodule
module AOI21 (input A, input B, input C, output Y); assign Y = ~((A & B) | C); endmodule
module OAI21 (input A, input B, input C, output Y); assign Y = ~((A | B) & C); endmodule
module XOR2 (input A, input B, output Y); assign Y = A ^ B; endmodule
module XNOR2 (input A, input B, output Y); assign Y = ~(A ^ B); endmodule
module MUX2 (input A, input B, input S, output Y); assign Y = S ? B : A; endmodule
module DFF (input C, input D, output reg Q); always @(posedge C) Q <= D; endmodule
