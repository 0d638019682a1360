"""What everything else stands on: languages, files, tables, the machine, records."""
