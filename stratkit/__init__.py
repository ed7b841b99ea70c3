"""Tools that train, play and measure agents for Stratego and other games of hidden information."""

__version__ = "0.1.0"
