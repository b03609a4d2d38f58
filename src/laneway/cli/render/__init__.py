"""What people see: values in, lines of text out. Nothing here prints, reads or decides."""
