"""Environments of squads, many units on one map.

In RTSquad-v0 the agent deals what may be computed in a tick: ``env``, ``dealer``, ``episode``, ``batch``. In
RTSquadParallel every unit is moved by an action of its own: ``parallel``, ``settings``, ``crew``, ``moves``.
"""
