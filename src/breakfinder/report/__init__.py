"""The report: its document (`model`), its formats (`render`) and how it gets onto disk (`write`)."""
