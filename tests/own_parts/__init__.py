"""One part of each kind as users write them, a file for each, and what the library gives to them."""
