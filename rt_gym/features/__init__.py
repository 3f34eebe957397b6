"""What a learner sees: features, the cells around the agent, and several observations as one.

The features of each kind are the fields of one NamedTuple, in the order of an observation.

- ``history``: the four features of the depth-control paper, which all others begin with.
- ``decision``: a larger set for controllers of the lookahead, and what is known of its layers.
- ``subgoal``: what a controller of the goal sees of the next subgoal.
- ``thinking``: the state of a search that goes on in slices.
- ``dealing``: the units of a squad, over which an allowance is dealt.
- ``scaling``: how features are scaled where networks read them.

Beside them stand

- ``window``: what is blocked, and in fog what is unknown, in the square around the agent.
- ``image``: where an episode has been, and that square as an image.
- ``frames``: the last few observations, stacked.
"""
