"""
`elmo-tasks serve`: a page and a JSON interface for trained archives.
"""
