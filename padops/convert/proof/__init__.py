"""What can be proved of two models without running them."""
