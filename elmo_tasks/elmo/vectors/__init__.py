"""Files of vectors: HDF5, Parquet, one vector per word."""
