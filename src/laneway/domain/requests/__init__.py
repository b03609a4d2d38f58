"""What a consumer asks for, and which devices would do."""
