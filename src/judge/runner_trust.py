def serve_trust(*a): pass
