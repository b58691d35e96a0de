"""What goes over the wires, written down: recordings of agent connections, without their secrets."""
