"""The sub-commands of ``rt-gym``, one module each."""
