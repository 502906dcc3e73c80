# Made by "make generated"; do not edit.
