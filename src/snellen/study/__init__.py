"""How do people sit the same exams? As pages in a browser, one flow at a time.

    design      what is asked of whom, put down in a file beforehand
    words       what people read, in their language
    walk        where one person is: the pages of a whole session, as a generator
    tables      what is stored, and migrations/ between versions of it
    store       one writer and many readers of a database
    entries     what is written down about a participant, and read of it
    hall        who is in the house, and where each of them is
    guards      secrets, what a request may hold, and how many there may be
    server      the pages over HTTP
    simulate    a subject that takes the study through the same pages
    quality     flags, and the rules by which sessions are left out
    people      what comes of it: records as those of machines, and tables

An exam is open to people when it needs no more than choice and study. It may say more of
how it wants to be shown: by `people`, a mapping of the tables of a study file, and by a
folder `words` beside its module with a file for each language.
"""
