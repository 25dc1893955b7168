"""Language: workflows as documents, with choices, maps and parallel branches (ALAS appendix A). Pure."""
