"""Set-up and checks of the repository itself, and their tests."""
