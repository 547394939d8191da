"""Other people's simulators as judges: the measured code, run by them and by us, and compared.

They are run as programs, never linked. Their serial ports are not ours, so the image replays its
requests from flash; everything else, harness and implementation, is the measured image's objects.
"""
