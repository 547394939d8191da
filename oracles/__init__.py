"""Other simulators as oracles: they and we run the measured code, and the results are compared.

They are run as programs, never linked. Their serial ports are not ours, so the image replays its
requests from flash; everything else, harness and implementation, is the measured image's objects.
"""
