"""Calls of methods, by what the object is that they are called on."""
