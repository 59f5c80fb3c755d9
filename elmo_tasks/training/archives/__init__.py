"""Archives (`model.tar.gz`): opened, described, scored, trained further."""
