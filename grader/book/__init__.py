"""The course as a site of static pages in both languages, made from the notebooks and the files of the lessons."""
