"""Operators as layers and vertices of Deeplearning4j: one function for an operator, a file for a family."""
