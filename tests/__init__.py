"""Everything that shows that acp_nvim keeps its promise."""
