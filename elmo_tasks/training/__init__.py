"""
A training: from a config to the folder of a run and its archive, exactly resumable.
"""
