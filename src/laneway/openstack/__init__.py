"""What is OpenStack's: its services as clients, nova's records and nova's formats."""
