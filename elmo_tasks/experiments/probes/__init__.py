"""
Probes of the frozen layers: word senses, parts of speech, nearest neighbors (paper,
section 5.3).
"""
