"""Games: a case to be solved with a small budget, scored, explained, and answered for in the learner's own words.

What every game shares, and what a game of its own adds. Nothing here imports torch or ipywidgets on import.

====================  ================================================================================================
``cases``             a case as data: client, ticket, quotation, evidence, hints, cause, debrief, letter; read from
                      ``cases.yaml`` of a lesson's folder; ``play`` holds what only its own game understands
``moves``             what a learner did, as lines of the answer log (event ``move``): append only, the one store. A case is
                      rebuilt from them, so it survives a dead kernel
``score``             pure functions: parts of a score, points of bets, ranks, the mean of first attempts
``play``              ``Attempt``: one attempt read from its moves; ``Play``: the moves that all games share: hints, cause, letter,
                      a new attempt
``view``              HTML and text of ticket, hints, debrief, letter
``parts``             widgets: a row of choices, buttons, hints, the cause, the letter; mouse, keyboard, live region
``board``             all cases of a lesson with their state, the rank; ``board_view`` its HTML and text,
                      ``board_page`` its widgets, ``board.css`` its look
``returning``         lost cases, which come back after a week as their twin
``closed_view``       the closed cases, at the end of a lesson and as a page to keep
``sharing``           one closed attempt as text, for a friend
``desk``              what the desks of all games share: shown, typed, pressed; every open page of a case follows; ``desk.css``
====================  ================================================================================================

The games are in the folders of lessons 10 and 11. Another one needs, in the folder of its lesson:

1. ``cases.yaml``: the fields of ``cases.Case``; its own data under ``play``.
2. ``game.py``, which takes no widgets to import:
   ``player(case, log)`` gives what ``case("typo")`` shows: a ``desk.CaseDesk`` over a ``play.Play``, which writes its own moves with
   ``moves.write(log, case, "line", choice=("7",), confidence=2, evidence={...})``.
   ``reader(case)`` gives how the moves of an attempt are read: a ``play.Attempt``, which knows whether it is closed, its points, its
   bets. ``words(attempts)``: the state of a case; ``marks(case)``: what the board says of it; ``shared(attempt)``: what is sent to a
   friend.
   It may bring ``RANKS`` of its own (see ``score``).
3. Nothing else: ``case``, ``board`` and the tests find the folder by its ``cases.yaml``.

Where a result comes from is part of the case (``evidence``: live, recording, report or rule) and of every move (its
``evidence`` mapping), and is said wherever the result is.
"""
