"""What each capability of the service brings, one file for each."""
