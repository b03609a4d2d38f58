"""How ``laneway.domain.assignment.solver`` finds the best choice.

From the problem to numbers: ``model`` reduces it to classes of requests and one number for the
cost; ``build`` makes the ``component`` types, cohorts that affect each other; ``local`` numbers the
states of components and knows the moves between them. Lower bounds: ``transport`` solves the
transportation problem, ``prices`` takes prices from it, ``addition`` is what one component adds,
``bound`` puts them together. ``universe`` has the states of all components together, and ``search``
goes through them.
"""
