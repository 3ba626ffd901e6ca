"""How results look: tables, progress, shades and charts."""
