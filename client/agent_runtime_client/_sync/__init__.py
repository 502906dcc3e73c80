# Made by "make contract"; do not edit.
