"""`recast convert --target`, and the runtimes themselves."""
