"""What the commands do and print, once their arguments are read."""
