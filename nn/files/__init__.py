"""Files of networks: JSON of all releases, zips, checkpoints, arrays in other formats."""
