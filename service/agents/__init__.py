"""Agents, their managers and readers."""
