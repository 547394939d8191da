"""One module for each way to read a meter: ``Driver`` in it has the interface of :class:`..meter.Driver`."""
