"""JSON-RPC 2.0 with one peer over two byte streams; knows nothing of ACP, processes or editors."""
