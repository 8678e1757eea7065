"""What nets read besides nets: databases, pictures, lists of files, mean files."""
