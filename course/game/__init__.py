"""Games: a case to be solved with a small budget, scored and explained. Nothing here imports torch or ipywidgets on import.

==========  ==========================================================================================================
``cases``   a case as data: client, ticket, quotation, evidence, hints, cause, debrief; read from ``cases.yaml`` of a
            lesson's folder; ``play`` holds what only its own game understands
``moves``   what a learner did, as lines of the answer log (event ``move``): append only, the one store. A case is rebuilt
            from them, so it survives a dead kernel
``play``    points; ``Attempt``: one attempt read from its moves; ``Play``: the moves that all games share: hints, cause, a
            new attempt
``view``    HTML of ticket, question about the cause, closed case; text is made from it; ``game.css`` the look
``parts``   widgets: a row of choices, buttons, the cause; mouse, keyboard, live region
``desk``    what the desks of all games share: shown, typed, pressed; every open page of a case follows
``board``   all cases of a lesson with their state
==========  ==========================================================================================================

The games are in the folders of lessons 10 and 11. Another one needs, in the folder of its lesson:

1. ``cases.yaml``: the fields of ``cases.Case``; its own data under ``play``.
2. ``game.py``, which takes no widgets to import:
   ``player(case, log)`` gives what ``case("typo")`` shows: a ``desk.CaseDesk`` over a ``play.Play``, which writes its own moves with
   ``moves.write(log, case, "line", choice=("7",), confidence=2, evidence={...})``.
   ``reader(case)`` gives how the moves of an attempt are read: a ``play.Attempt``, which knows whether it is closed, its points, its
   bets. ``words(attempts)``: the state of a case; ``hook(attempt)``: what makes a friend want to bet.
3. Nothing else: ``case``, ``board`` and the tests find the folder by its ``cases.yaml``.

Where a result comes from is part of the case (``evidence``: live, recording, report or rule) and of every move (its
``evidence`` mapping), and is said wherever the result is.
"""
