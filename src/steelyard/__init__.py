"""Steelyard measures lightweight cryptography on microcontrollers."""

__version__ = "0.1.0"
