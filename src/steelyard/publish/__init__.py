"""Publish: figures and tables for readers."""
