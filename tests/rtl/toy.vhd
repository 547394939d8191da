-- The toy of toy.sv in VHDL: its hash is the exclusive or of the message's words, in one word.
library ieee;
use ieee.std_logic_1164.all;
use ieee.numeric_std.all;

entity toy is
  port (
    clk, rst  : in  std_logic;
    pdi_data  : in  std_logic_vector(31 downto 0);
    pdi_valid : in  std_logic;
    pdi_ready : out std_logic;
    sdi_data  : in  std_logic_vector(31 downto 0);
    sdi_valid : in  std_logic;
    sdi_ready : out std_logic;
    do_data   : out std_logic_vector(31 downto 0);
    do_valid  : out std_logic;
    do_ready  : in  std_logic;
    do_last   : out std_logic
  );
end entity;

architecture rtl of toy is
  type state_t is (INSTRUCTION, HEADER, DATA, OUT_HEADER, DIGEST, STATUS);
  signal state : state_t;
  signal sum   : std_logic_vector(31 downto 0);
  signal left  : unsigned(15 downto 0);
  signal last  : std_logic;
begin
  sdi_ready <= '0';
  pdi_ready <= '1' when state = INSTRUCTION or state = HEADER or state = DATA else '0';
  do_valid  <= '1' when state = OUT_HEADER or state = DIGEST or state = STATUS else '0';
  do_last   <= '1' when state = STATUS else '0';
  with state select
    do_data <= x"93000004" when OUT_HEADER,
               sum         when DIGEST,
               x"e0000000" when others;

  process (clk)
  begin
    if rising_edge(clk) then
      if rst = '1' then
        state <= INSTRUCTION;
      else
        case state is
          when INSTRUCTION =>
            if pdi_valid = '1' then
              sum   <= (others => '0');
              state <= HEADER;
            end if;
          when HEADER =>
            if pdi_valid = '1' then
              last <= pdi_data(24);
              left <= unsigned(pdi_data(15 downto 0));
              if unsigned(pdi_data(15 downto 0)) /= 0 then
                state <= DATA;
              elsif pdi_data(24) = '1' then
                state <= OUT_HEADER;
              end if;
            end if;
          when DATA =>
            if pdi_valid = '1' then
              sum  <= sum xor pdi_data;
              left <= left - 4;
              if left <= 4 then
                if last = '1' then
                  state <= OUT_HEADER;
                else
                  state <= HEADER;
                end if;
              end if;
            end if;
          when OUT_HEADER =>
            if do_ready = '1' then
              state <= DIGEST;
            end if;
          when DIGEST =>
            if do_ready = '1' then
              state <= STATUS;
            end if;
          when STATUS =>
            if do_ready = '1' then
              state <= INSTRUCTION;
            end if;
        end case;
      end if;
    end if;
  end process;
end architecture;
