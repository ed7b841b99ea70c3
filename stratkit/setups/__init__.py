"""Where setups come from: uniform, numbered, from files, from a network, from a model of a file."""
