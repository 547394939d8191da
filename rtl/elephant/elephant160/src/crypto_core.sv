// Elephant-160, Dumbo (version 2 of the specification, Algorithms 1 and 2), UNROLL (1, 2, 4, 5, 8, ...) rounds in a cycle.
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
  typedef enum logic [2:0] {WORDS, LOAD, ROUNDS, UNLOAD, OUT} state_t;
  typedef enum logic [2:0] {KEY, AD, STREAM, TEXT, FINAL} call_t;
  state_t state;
  call_t call;                       // what the permutation is for
  logic [2:0] n;                     // the word of the block
  logic [6:0] i, counter;            // rounds that are done; lCounter
  logic [159:0] s, t;
  logic [159:0] expanded, m;         // mask of a = 0, and of the block
  logic [95:0] nonce;
  logic first;                       // the block has the nonce
  logic stream;                      // s is the stream of the block
  logic pad;                         // the block is of padding alone
  logic extra;                       // such a block is still to come
  logic ends;                        // the block is the last of its string

  function automatic logic [31:0] swap(input logic [31:0] x);
    swap = {x[7:0], x[15:8], x[23:16], x[31:24]};
  endfunction

  wire some = bdi_bytes[3];
  wire [31:0] mask = {{8{bdi_bytes[0]}}, {8{bdi_bytes[1]}}, {8{bdi_bytes[2]}}, {8{bdi_bytes[3]}}};
  wire [31:0] in = swap(bdi_data);
  wire [31:0] padding = {7'd0, bdi_bytes[1] && !bdi_bytes[0], 7'd0, bdi_bytes[2] && !bdi_bytes[1],
                         7'd0, bdi_bytes[3] && !bdi_bytes[2], 7'd0, !bdi_bytes[3]};

  // mask_K^{a,b} is the mask with its b-th power of phi_1 added, which moves it by bytes
  wire [7:0] phi = {m[4:0], m[7:5]} ^ {m[24], 7'd0} ^ {7'd0, m[111]};
  wire [7:0] phi_next = {m[12:8], m[15:13]} ^ {m[32], 7'd0} ^ {7'd0, m[119]};
  wire [159:0] m_next = {phi, m[159:8]};
  wire [159:0] m_after = {phi_next, phi, m[159:16]};
  logic [159:0] mask_b;
  always_comb begin
    case (call)
      AD: mask_b = m;
      STREAM: mask_b = m ^ m_next;
      TEXT: mask_b = m ^ m_after;
      default: mask_b = expanded;
    endcase
  end

  logic [31:0] word;
  always_comb begin
    word = s[31:0];
    for (int j = 1; j < 5; j++) if (n == 3'(j)) word = s[32*j+:32];
  end
  wire [31:0] sum = (in ^ word) & mask;
  wire [31:0] entering = (bdi_text && !dec ? sum : in) ^ padding;
  wire take = bdi_valid && bdi_ready;
  wire to_t = bdi_nonce || (bdi_ad && first);
  wire block_ends = take && !bdi_nonce && (n == 4 || bdi_last);
  wire full = n == 4 && bdi_bytes[0];
  wire wants_stream = state == WORDS && bdi_valid && bdi_text && some && !stream;
  wire out_ends = state == OUT && bdo_ready && n == 1;

  assign bdi_ready = state == WORDS && (!bdi_text || !some || stream);
  assign bdo_valid = state == OUT || (take && bdi_text && some);
  assign bdo_data = swap(state == OUT ? word : sum);
  assign key_turn = 0;

  wire [159:0] rounds;
  wire [6:0] counter_next;
  spongent160_rounds #(.N(UNROLL)) permutation (.in(s), .counter_in(counter), .out(rounds), .counter_out(counter_next));

  always_ff @(posedge clk) begin
    case (state)
      WORDS: if (take) begin
        for (int j = 0; j < 5; j++) begin
          // what follows the last word: the padding, where it is the first, and zeros
          if (to_t && (n == 3'(j) || (bdi_last && n < 3'(j))))
            t[32*j+:32] <= n == 3'(j) ? entering : {31'd0, j > 0 && n == 3'(j - 1) && bdi_bytes[0] && !bdi_nonce};
          if (!to_t && (n == 3'(j) || (bdi_last && n < 3'(j))))
            s[32*j+:32] <= n == 3'(j) ? entering : {31'd0, j > 0 && n == 3'(j - 1) && bdi_bytes[0]};
        end
        if (bdi_nonce) nonce <= {in, nonce[95:32]};
        if (block_ends && to_t && (full || !bdi_last)) m <= m_next;
      end
      LOAD: begin
        case (call)
          KEY: s <= {32'd0, swap(key[31:0]), swap(key[63:32]), swap(key[95:64]), swap(key[127:96])};
          STREAM: s <= {64'd0, nonce} ^ mask_b;
          FINAL: s <= t ^ mask_b;
          default: s <= (pad ? 1 : s) ^ mask_b;
        endcase
        counter <= 7'h75;
      end
      ROUNDS: begin
        s <= rounds;
        counter <= counter_next;
      end
      UNLOAD: begin
        case (call)
          KEY: begin
            expanded <= s;
            m <= s;
          end
          AD, TEXT: begin
            t <= t ^ s ^ mask_b;
            m <= call == AD && ends && !extra ? expanded : m_next;
          end
          default: s <= s ^ mask_b;
        endcase
      end
      default: ;
    endcase
  end

  always_ff @(posedge clk) begin
    case (state)
      WORDS: begin
        i <= 0;
        if (take) begin
          n <= block_ends ? 0 : n + 1;
          ends <= bdi_last;
          if (bdi_nonce) begin
            first <= 1;
            stream <= 0;
            pad <= 0;
            call <= KEY;
            if (bdi_last) state <= LOAD;
          end else begin
            call <= bdi_ad ? AD : TEXT;
            if (block_ends) begin
              first <= 0;
              stream <= 0;
              pad <= to_t;
              extra <= bdi_last && full && !to_t;
              if (!to_t || (bdi_last && full)) state <= LOAD;
            end
          end
        end else if (wants_stream) begin
          call <= STREAM;
          state <= LOAD;
        end
      end
      LOAD: if (key_valid) state <= ROUNDS;
      ROUNDS: begin
        i <= i + 7'(UNROLL);
        if (i == 7'(80 - UNROLL)) state <= UNLOAD;
      end
      UNLOAD: begin
        i <= 0;
        pad <= extra;
        extra <= 0;
        if (call == STREAM) stream <= 1;
        if (call == FINAL) state <= OUT;
        else if ((call == AD || call == TEXT) && extra) state <= LOAD;
        else if (call == TEXT && ends) begin
          call <= FINAL;
          state <= LOAD;
        end else state <= WORDS;
      end
      default: if (bdo_ready) begin
        n <= out_ends ? 0 : n + 1;
        if (out_ends) state <= WORDS;
      end
    endcase
    if (rst) begin
      state <= WORDS;
      n <= 0;
      extra <= 0;
    end
  end
  wire unused = &{1'b0, hash, bdi_eoi, bdi_length};
endmodule
