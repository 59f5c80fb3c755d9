"""Files of vectors: HDF5, folders of shards, one vector per word."""
