def serve_analyse(*a): pass
