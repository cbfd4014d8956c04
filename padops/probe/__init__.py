"""``padops probe``: measures how an execution provider of this machine handles Pads, and writes a file of rules."""
