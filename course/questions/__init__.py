"""Questions: the bank that reads them, variants, formulas, and the rules that check them. No torch, no widgets."""
