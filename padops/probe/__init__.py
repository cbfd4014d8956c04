"""``padops probe``: what an execution provider of this machine does with Pads, measured, as a file of rules."""
