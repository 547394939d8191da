-- The test bench of designs in VHDL: the same words as bench.cpp, in a simulator that reads VHDL itself.
--
-- steelyard_dut, which src/steelyard/rtl/ghdl.py writes, has the design. The file that VECTORS names has one thing in
-- each line:
--
--     s BITS, p BITS   a word for sdi or pdi
--     d BITS           a word that do must give, '-' for a bit that may be anything
--     r N              the words since the last end are given for at most N cycles, then the design is reset
--     e                end: the words since the last end are given, until all have moved
--
-- ANSWERS gets a line for each end: "ok", and the difference of the numbers of the cycles in which the first word of
-- pdi is offered and the last one of do is taken; or "wrong", the number of the word, and the bits that came; or
-- "hang" and the number of the word; "early" where all is out, though not all is in; "extra" where words follow.
-- After anything but "ok" no more is tried.
--
-- MODE is "full", "stall" or "withdraw", as in bench.cpp. Nothing has more than MOST words up to an end.
library ieee;
use ieee.std_logic_1164.all;
use ieee.math_real.all;
use std.textio.all;

entity steelyard_bench is
  generic (
    W       : positive := 32;
    VECTORS : string   := "vectors.txt";
    ANSWERS : string   := "answers.txt";
    MODE    : string   := "full";
    IDLE    : positive := 100000;
    MOST    : positive := 65536
  );
end entity;

architecture test of steelyard_bench is
  signal clk, rst                         : std_logic := '0';
  signal pdi_data, sdi_data, do_data      : std_logic_vector(W - 1 downto 0) := (others => '0');
  signal pdi_valid, sdi_valid, do_ready   : std_logic := '0';
  signal pdi_ready, sdi_ready, do_valid   : std_logic;
begin
  dut : entity work.steelyard_dut
    generic map (W => W)
    port map (
      clk => clk, rst => rst,
      pdi_data => pdi_data, pdi_valid => pdi_valid, pdi_ready => pdi_ready,
      sdi_data => sdi_data, sdi_valid => sdi_valid, sdi_ready => sdi_ready,
      do_data => do_data, do_valid => do_valid, do_ready => do_ready
    );

  process
    type words_t is array (0 to MOST - 1) of std_logic_vector(W - 1 downto 0);
    variable s, p, d                     : words_t;
    variable s_end, p_end, d_end         : natural := 0;
    variable s_at, p_at, d_at            : natural := 0;
    variable s_now, p_now, takes, moved  : boolean := false;
    variable s_was, p_was, came, good    : boolean := false;
    variable do_was                      : boolean := false;
    variable quiet, cycles, limit        : natural := 0;
    variable one, two                    : positive := 1;
    variable pace                        : natural := 4;
    variable got                         : std_logic_vector(W - 1 downto 0);
    file given                           : text open read_mode is VECTORS;
    file told                            : text open write_mode is ANSWERS;
    variable row, said                   : line;
    variable kind, space                 : character;

    impure function below(n : positive) return natural is
      variable r : real;
    begin
      uniform(one, two, r);
      return natural(floor(r * real(n)));
    end function;

    impure function offers(at, last : natural; now, was_ready : boolean) return boolean is
    begin
      if at = last then
        return false;
      elsif now or MODE = "full" then
        return true;
      elsif MODE = "stall" then
        return below(8) < pace;
      end if;
      return not was_ready or below(4) = 0;
    end function;

    impure function word return std_logic_vector is
      variable made  : std_logic_vector(W - 1 downto 0);
      variable digit : character;
    begin
      for k in made'range loop
        read(row, digit);
        case digit is
          when '0'    => made(k) := '0';
          when '1'    => made(k) := '1';
          when others => made(k) := '-';
        end case;
      end loop;
      return made;
    end function;

    -- whether the word is the one that is expected
    impure function right(got, expected : std_logic_vector(W - 1 downto 0)) return boolean is
    begin
      for k in got'range loop
        if expected(k) /= '-' and got(k) /= expected(k) then
          return false;
        end if;
      end loop;
      return true;
    end function;

    procedure tell(what : string; number : integer; bits : boolean) is
      variable text : string(1 to W);
    begin
      write(said, what & " " & integer'image(number));
      if bits then
        for k in 0 to W - 1 loop
          case got(W - 1 - k) is
            when '0'    => text(k + 1) := '0';
            when '1'    => text(k + 1) := '1';
            when others => text(k + 1) := 'x';
          end case;
        end loop;
        write(said, " " & text);
      end if;
      writeline(told, said);
    end procedure;

    -- Inputs change after the rising edge: processes that wait for any edge see them at the falling one.
    procedure settle is
    begin
      wait for 4 ns;
      clk <= '0';
      wait for 5 ns;
    end procedure;

    procedure edge is
    begin
      clk <= '1';
      wait for 1 ns;
    end procedure;

    procedure restart is
    begin
      rst <= '1';
      pdi_valid <= '0';
      sdi_valid <= '0';
      do_ready <= '0';
      for k in 1 to 3 loop
        settle;
        edge;
      end loop;
      rst <= '0';
      do_was := false;
      s_now := false;
      p_now := false;
      takes := false;
    end procedure;

    -- one cycle
    procedure step is
    begin
      p_now := offers(p_at, p_end, p_now, p_was);
      s_now := offers(s_at, s_end, s_now, s_was);
      if MODE = "full" then
        takes := true;
      elsif MODE = "stall" then
        takes := takes or below(8) < pace;
      elsif do_was then
        takes := below(4) = 0;
      else
        takes := below(8) /= 0;
      end if;
      pdi_valid <= '0';
      sdi_valid <= '0';
      do_ready <= '0';
      if p_now then
        pdi_valid <= '1';
        pdi_data <= p(p_at);
      end if;
      if s_now then
        sdi_valid <= '1';
        sdi_data <= s(s_at);
      end if;
      if takes then
        do_ready <= '1';
      end if;
      settle;
      p_was := pdi_ready = '1';
      s_was := sdi_ready = '1';
      do_was := do_valid = '1';
      came := do_was and takes;
      got := do_data;
      moved := came;
      if p_now and p_was then
        p_at := p_at + 1;
        p_now := false;
        moved := true;
      end if;
      if s_now and s_was then
        s_at := s_at + 1;
        s_now := false;
        moved := true;
      end if;
      if came then
        takes := false;
      end if;
      edge;
    end procedure;

    -- the words that are there, for at most limit cycles where that is not 0
    procedure give is
    begin
      s_at := 0;
      p_at := 0;
      d_at := 0;
      quiet := 0;
      cycles := 0;
      pace := 1 + below(7);
      while d_at < d_end loop
        if limit > 0 and cycles = limit then
          return;
        end if;
        step;
        cycles := cycles + 1;
        quiet := quiet + 1;
        if moved then
          quiet := 0;
        end if;
        if came then
          if not right(got, d(d_at)) then
            tell("wrong", d_at, true);
            good := false;
            return;
          end if;
          d_at := d_at + 1;
        end if;
        if quiet > IDLE then
          tell("hang", d_at, false);
          good := false;
          return;
        end if;
      end loop;
      if p_at < p_end or s_at < s_end then
        tell("early", d_at, false);
        good := false;
        return;
      end if;
      if limit > 0 then
        return;
      end if;
      for k in 1 to 64 loop -- nothing may come when nothing is asked
        step;
        if came then
          tell("extra", d_at, true);
          good := false;
          return;
        end if;
      end loop;
      tell("ok", cycles - 1, false);
    end procedure;
  begin
    good := true;
    restart;
    while good and not endfile(given) loop
      readline(given, row);
      read(row, kind);
      case kind is
        when 's' =>
          read(row, space);
          s(s_end) := word;
          s_end := s_end + 1;
        when 'p' =>
          read(row, space);
          p(p_end) := word;
          p_end := p_end + 1;
        when 'd' =>
          read(row, space);
          d(d_end) := word;
          d_end := d_end + 1;
        when 'r' =>
          read(row, limit);
          give;
          limit := 0;
          restart;
        when others =>
          give;
          s_end := 0;
          p_end := 0;
          d_end := 0;
      end case;
    end loop;
    file_close(told);
    wait;
  end process;
end architecture;
