"""The one name of a model -> its kind and files; what is saved and shared."""
