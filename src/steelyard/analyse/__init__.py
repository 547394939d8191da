"""Analyse: answers from records and profiles."""
