"""The commands, one thin module each. None imports numpy or torch before it has work to do."""
