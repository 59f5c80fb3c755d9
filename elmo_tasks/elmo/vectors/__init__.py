"""Files of vectors: HDF5, one vector per word."""
