def serve_pair(*a): pass
