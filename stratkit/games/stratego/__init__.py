"""What Stratego adds to what all games share."""
