"""The examples, documents and CI files of this repository."""
